// Answers that are made while they are sent, piece by piece (contract 11.3).
//
// A piece is made when the connection has taken the one before it, so a slow client holds one piece
// in our memory. Where making one fails, the connection is reset: no client takes what has arrived
// for the whole.

import { pipeline, Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { unavailable } from '../errors.ts'
import { type Coding, createEncoder } from './coding.ts'
import { createTurns } from './turns.ts'

declare module 'fastify' {
  interface FastifyReply {
    /** The bytes of a streamed body that have been sent so far; undefined for other bodies. */
    streamedBytes: number | undefined
  }
}

/** How many streams may be under way; any further one is a 503. */
export const streamsMax = 32

/** Sends answers as streams. */
export interface Streamer {
  /**
   * Sends pieces as they are made; for HEAD, none is made.
   *
   * @throws ApiError 503 if there are too many streams.
   */
  send(
    request: FastifyRequest,
    reply: FastifyReply,
    pieces: AsyncIterable<Buffer>,
    coding: Coding,
  ): FastifyReply
  /** The number of streams under way. */
  count(): number
}

/** @param noteFault receives what made a stream fail. */
export function createStreamer(
  noteFault: (request: FastifyRequest, cause: unknown) => void,
): Streamer {
  const nextTurn = createTurns()
  let underWay = 0

  async function* inTurns(
    request: FastifyRequest,
    reply: FastifyReply,
    pieces: AsyncIterable<Buffer>,
  ): AsyncGenerator<Buffer> {
    try {
      for await (const piece of pieces) {
        reply.streamedBytes = (reply.streamedBytes ?? 0) + piece.length
        yield piece
        await nextTurn()
      }
    } catch (error) {
      noteFault(request, error)
      // Not closed: without a length or chunks, as in HTTP/1.0, that would look like the end.
      request.raw.socket.resetAndDestroy()
      throw error
    }
  }

  return {
    send(request, reply, pieces, coding) {
      if (request.method === 'HEAD') return reply.send()
      if (underWay >= streamsMax) throw unavailable()
      underWay += 1
      const source = Readable.from(inTurns(request, reply, pieces), { objectMode: false })
      const encoder = createEncoder(coding)
      const body = encoder === undefined ? source : pipeline(source, encoder, () => undefined)
      body.once('close', () => (underWay -= 1))
      return reply.send(body)
    },
    count: () => underWay,
  }
}
