// Requests that wait for the next version of the registry: one check of the store serves them all
// (contract 12.4).

import type { Socket } from 'node:net'
import type { HttpRequest } from './wire/exchange.ts'
import type { StoreReader } from '../store/serving/store-reader.ts'
import { fromStore } from './store-errors.ts'
import { createPlaces } from './places.ts'
import { stateOf } from './answers/state-answer.ts'
import { excludeFromLoad } from './wire/server.ts'

/** How many requests may wait; a key alone gets half of that. */
const waitingMax = 4_000

/** How long after a check of the store the next one is, while requests wait. */
const lookMs = 900

/** A request that waits: no timer or listener of its own, since thousands may wait. */
interface Waiting {
  readonly request: HttpRequest
  readonly state: string
  /** When it has waited long enough, as `performance.now` tells. */
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
  const places = createPlaces('waits', waitingMax)
  const waiting = new Set<Waiting>()
  let timer: NodeJS.Timeout | undefined
  let timerAt = Infinity
  let lookAt = 0

  function end(one: Waiting): void {
    const { request, standstillMs, giveBack, resolve } = one
    waiting.delete(one)
    if (standstillMs > 0) request.socket.setTimeout(standstillMs)
    count(-1)
    giveBack()
    resolve()
  }

  function wakeBy(time: number): void {
    if (time >= timerAt) return
    clearTimeout(timer)
    timerAt = time
    timer = setTimeout(() => void wake(), Math.max(0, time - performance.now())).unref()
  }

  /** Ends the requests that have waited long enough, or whose clients have left. */
  async function wake(): Promise<void> {
    timerAt = Infinity
    const now = performance.now()
    for (const one of waiting) if (one.endsAt <= now || one.request.socket.destroyed) end(one)
    if (now >= lookAt && waiting.size > 0) await look()
    for (const { endsAt } of waiting) wakeBy(Math.min(endsAt, lookAt))
  }

  /** Ends the requests that wait for what has changed since. */
  async function look(): Promise<void> {
    lookAt = Infinity
    try {
      const present = stateOf(await fromStore(() => store.readRegistry()))
      for (const one of waiting) if (one.state !== present) end(one)
    } catch {
      // Waiting requests report the fault when they read.
    }
    lookAt = performance.now() + lookMs
  }

  draining.addEventListener('abort', () => waiting.forEach(end))

  return {
    /**
     * Waits until the registry has another state than the one given, the time has passed, or the
     * service stops; up to a second longer if the client has left.
     *
     * @throws ApiError 503 if too many wait.
     */
    wait(request: HttpRequest, state: string, ms: number): Promise<void> {
      if (draining.aborted) return Promise.resolve()
      const giveBack = places.take(request.key?.id)
      count(1)
      const standstillMs = extendTimeout(request.socket, ms)
      const now = performance.now()
      if (waiting.size === 0) lookAt = now + lookMs
      const endsAt = now + ms
      return new Promise((resolve) => {
        waiting.add({ request, state, endsAt, standstillMs, giveBack, resolve })
        wakeBy(Math.min(endsAt, lookAt))
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
