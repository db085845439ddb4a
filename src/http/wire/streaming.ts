// Answers that are made while they are sent, piece by piece (contract 11.3).
//
// A piece is made when the connection has taken the one before it, so a slow client holds one piece
// in our memory. If making one fails, or the key has become invalid, the connection is reset: no
// client takes a part for the whole.

import { pipeline } from 'node:stream'
import type { HttpReply, HttpRequest } from './exchange.ts'
import { asApiError, unavailable } from '../errors.ts'
import { createPace } from '../../store/serving/pace.ts'
import { createPlaces } from '../places.ts'
import { giveBack } from './body-memory.ts'
import { type Coding, createEncoder } from './coding.ts'
import type { WireLimits } from './server.ts'

/**
 * How many times longer than another answer a stream may stall: the system accepts more only once
 * it has sent some of what it holds, which may be megabytes.
 */
const patience = 4

/** How many streams may be under way, of which each key has a share; any further one is a 503. */
export const streamsMax = 32

/** What streams need of the application. */
export interface StreamHooks {
  /** Receives what made a stream fail. */
  readonly noteFault: (request: HttpRequest, cause: unknown) => void
  /** Throws an ApiError: a 403 if the key has become invalid, a 503 without the store. */
  readonly checkKeyAgain: (request: HttpRequest) => Promise<void>
}

/** @param limits say how long another answer may stall. */
export function createBeginStream(
  { noteFault, checkKeyAgain }: StreamHooks,
  { standstillMs }: Pick<WireLimits, 'standstillMs'>,
) {
  const places = createPlaces('streams', streamsMax)

  async function sendPieces(
    request: HttpRequest,
    pieces: AsyncIterable<Buffer>,
    write: (piece: Buffer) => Promise<boolean>,
  ): Promise<boolean> {
    const pace = createPace()
    try {
      for await (const piece of pieces) {
        await checkKeyAgain(request).catch(throwRefusal)
        request.reply.streamedBytes = (request.reply.streamedBytes ?? 0) + piece.length
        if (!(await write(piece))) return false
        await pace()
      }
      return true
    } catch (error) {
      noteFault(request, error)
      // Not closed: without a length or chunks, as in HTTP/1.0, that would look like the end.
      request.raw.socket.resetAndDestroy()
      return false
    }
  }

  /**
   * Takes a place for a stream, before any of its headers is set.
   *
   * @returns a function that sends pieces as they are made; for HEAD, none is made.
   * @throws ApiError 503 if there are too many streams, the key has its share, or the client left.
   */
  return (request: HttpRequest): ((pieces: AsyncIterable<Buffer>, coding: Coding) => HttpReply) => {
    const { reply, socket } = request
    if (request.method === 'HEAD') return () => reply.send()
    // The client has left; an encoder cannot be joined to its reply.
    if (reply.raw.destroyed) throw unavailable()
    const leave = places.take(request.key?.id)
    return (pieces, coding) => {
      const body = openBody(request, coding)
      // Node sets it back when the connection rests; an injected request, as in tests, has none.
      if (socket.timeout !== undefined) socket.setTimeout(patience * standstillMs)
      void sendPieces(request, pieces, body.write).then((isWhole) => {
        leave()
        if (isWhole) body.end()
      })
      return reply
    }
  }
}

/** Losing the store does not end a stream. */
function throwRefusal(error: unknown): void {
  if (asApiError(error).code === 403) throw error
}

/** Begins the body of a reply, which takes pieces as its connection does. */
function openBody({ reply, socket }: HttpRequest, coding: Coding) {
  const body = reply.beginBody()
  const encoder = createEncoder(coding)
  const sink = encoder ?? body
  if (encoder !== undefined) pipeline(encoder, body, () => undefined)
  let proceed: () => void = () => undefined
  sink.on('drain', () => proceed())
  reply.onClosed(() => proceed())

  return {
    /** Resolves when another piece may be written: true, or false if the client has left. */
    write: async (piece: Buffer): Promise<boolean> => {
      if (sink.destroyed) return false
      const isTaken = sink.write(piece, () => {
        // A destroyed socket reports its writes as finished, too, although they may be under way.
        if (!socket.destroyed) giveBack(piece)
      })
      if (!isTaken) await new Promise<void>((resolve) => (proceed = resolve))
      return !sink.destroyed
    },
    end: () => sink.end(),
  }
}
