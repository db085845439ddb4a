// Answers that are made while they are sent, piece by piece (contract 11.3).
//
// A piece is made when the connection has taken the one before it, so a slow client holds one piece
// in our memory. Where making one fails, or the key is refused by now, the connection is reset: no
// client takes what has arrived for the whole.

import { pipeline, Readable } from 'node:stream'
import type { HttpReply, HttpRequest } from './exchange.ts'
import { asApiError, overloaded } from '../errors.ts'
import { createPlaces } from '../places.ts'
import { type Coding, createEncoder } from './coding.ts'

/**
 * How much longer than others a stream may stand still: the system says that there is room again
 * only once it has sent some of what it holds, which may be megabytes.
 */
const patience = 4

/** How many streams may be under way, of which each key has a share; any further one is a 503. */
export const streamsMax = 32

/**
 * Takes a place for an answer that is sent next, before any of its headers is set.
 *
 * @returns what sends pieces as they are made; for HEAD, none is made.
 * @throws ApiError 503 if there are too many streams, or the key has its share.
 */
export type BeginStream = (
  request: HttpRequest,
) => (pieces: AsyncIterable<Buffer>, coding: Coding) => HttpReply

/** What streams need of the application. */
interface StreamOptions {
  /** Receives what made a stream fail. */
  readonly noteFault: (request: HttpRequest, cause: unknown) => void
  /** Throws an ApiError: a 403 if the key is refused by now; else the store cannot say. */
  readonly checkKeyAgain: (request: HttpRequest) => Promise<void>
  /** How long another answer may stand still. */
  readonly standstillMs: number
}

export function createBeginStream(options: StreamOptions): BeginStream {
  const { noteFault, checkKeyAgain, standstillMs } = options
  const nextTurn = createTurns()
  const places = createPlaces(streamsMax)

  async function* inTurns(
    request: HttpRequest,
    pieces: AsyncIterable<Buffer>,
  ): AsyncGenerator<Buffer> {
    try {
      for await (const piece of pieces) {
        await checkKeyAgain(request).catch(throwRefusal)
        request.reply.streamedBytes = (request.reply.streamedBytes ?? 0) + piece.length
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

  return (request) => {
    const { reply } = request
    if (request.method === 'HEAD') return () => reply.send()
    const giveBack = places.take(request.key?.id)
    if (giveBack === undefined) throw overloaded('streams')
    return (pieces, coding) => {
      const source = Readable.from(inTurns(request, pieces), { objectMode: false })
      const encoder = createEncoder(coding)
      const body = encoder === undefined ? source : pipeline(source, encoder, () => undefined)
      body.once('close', giveBack)
      const { socket } = request
      // Node sets it back when the connection rests; an injected request, as in tests, has none.
      if (socket.timeout !== undefined) socket.setTimeout(patience * standstillMs)
      return reply.sendStream(body)
    }
  }
}

/** A store that cannot say whether a key is good ends no stream. */
function throwRefusal(error: unknown): void {
  if (asApiError(error).code === 403) throw error
}

/** Lets one caller continue per turn of the event loop, so that other requests run in between. */
function createTurns(): () => Promise<void> {
  let last: Promise<void> = Promise.resolve()
  return () => (last = last.then(() => new Promise((resolve) => setImmediate(resolve))))
}
