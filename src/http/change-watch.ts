// Requests that wait for the next version of the registry: one check of the store serves them all
// (contract 12.4).

import type { Socket } from 'node:net'
import type { HttpRequest } from './wire/exchange.ts'
import type { StoreReader } from '../store/reading.ts'
import { overloaded } from './errors.ts'
import { fromStore } from './store-errors.ts'
import { createPlaces } from './places.ts'
import { stateOf } from './answers/state-answer.ts'
import { excludeFromLoad } from './wire/server.ts'

/** How many requests may wait; a key alone gets half of that. */
const waitingMax = 4_000

/** How often the store is checked while requests wait, and how often for requests to end. */
const lookMs = 900
const tickMs = 100

export type ChangeWatch = ReturnType<typeof createChangeWatch>

/** A waiting request; there may be thousands, so it is small. */
interface Waiting {
  readonly request: HttpRequest
  readonly state: string
  /** By `performance.now()`. */
  readonly endsAt: number
  /** The usual idle timeout of its connection, in milliseconds; 0 for none. */
  readonly standstillMs: number
  readonly giveBack: () => void
  readonly resolve: () => void
}

/**
 * @param draining is aborted when the service stops: no request waits any longer.
 * @param count counts clients that begin to wait and, below zero, those that have waited.
 */
export function createChangeWatch(
  store: Pick<StoreReader, 'readRegistry'>,
  draining: AbortSignal,
  count: (clients: number) => void = () => undefined,
) {
  const places = createPlaces(waitingMax)
  const waiting = new Set<Waiting>()
  let timer: NodeJS.Timeout | undefined
  let lookAt = 0

  async function tick(): Promise<void> {
    const now = performance.now()
    endWhere(({ endsAt, request }) => endsAt <= now || request.socket.destroyed)
    if (now < lookAt) return
    lookAt = Infinity
    await look()
    lookAt = performance.now() + lookMs
  }

  async function look(): Promise<void> {
    try {
      const present = stateOf(await fromStore(() => store.readRegistry()))
      endWhere(({ state }) => state !== present)
    } catch {
      // Waiting requests report the fault when they read.
    }
  }

  function endWhere(isOver: (one: Waiting) => boolean): void {
    for (const one of waiting) {
      if (!isOver(one)) continue
      waiting.delete(one)
      if (one.standstillMs > 0) one.request.socket.setTimeout(one.standstillMs)
      count(-1)
      one.giveBack()
      one.resolve()
    }
    if (waiting.size === 0) clearInterval(timer)
  }

  draining.addEventListener('abort', () => endWhere(() => true))

  return {
    /**
     * Waits until the registry has another state than the one given, the time has passed, the
     * client has left, or the service stops.
     *
     * @throws ApiError 503 if too many wait.
     */
    wait(request: HttpRequest, state: string, ms: number): Promise<void> {
      if (draining.aborted) return Promise.resolve()
      const giveBack = places.take(request.key?.id)
      if (giveBack === undefined) throw overloaded('waits')
      count(1)
      const standstillMs = extendTimeout(request.socket, ms)
      const endsAt = performance.now() + ms
      return new Promise((resolve) => {
        waiting.add({ request, state, endsAt, standstillMs, giveBack, resolve })
        if (waiting.size > 1) return
        lookAt = performance.now() + lookMs
        timer = setInterval(() => void tick(), tickMs)
      })
    },
  }
}

/**
 * Lets a connection be idle for longer, since nothing is sent on it.
 *
 * @returns its usual idle timeout, in milliseconds; 0 for none.
 */
function extendTimeout(socket: Socket, ms: number): number {
  excludeFromLoad(socket)
  // An injected request, as in tests, has no connection.
  const { timeout = 0 } = socket
  if (timeout > 0) socket.setTimeout(timeout + ms)
  return timeout
}
