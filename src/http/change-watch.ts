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

/** How long after a check of the store the next one is, while requests wait. */
const lookMs = 900

export type ChangeWatch = ReturnType<typeof createChangeWatch>

interface Waiting {
  readonly state: string
  readonly end: () => void
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
  let looking: NodeJS.Timeout | undefined

  function lookLater(): void {
    if (waiting.size > 0) looking ??= setTimeout(() => void look(), lookMs).unref()
  }

  async function look(): Promise<void> {
    try {
      // All may have left.
      const present = waiting.size > 0 && stateOf(await fromStore(() => store.readRegistry()))
      for (const { state, end } of waiting) if (state !== present) end()
    } catch {
      // Waiting requests report the fault when they read.
    }
    looking = undefined
    lookLater()
  }

  draining.addEventListener('abort', () => waiting.forEach(({ end }) => end()))

  return {
    /**
     * Waits until the registry has another state than the one given, the time has passed, the
     * client has left, or the service stops.
     *
     * @throws ApiError 503 if too many wait.
     */
    wait({ key, socket, reply }: HttpRequest, state: string, ms: number): Promise<void> {
      if (draining.aborted) return Promise.resolve()
      const giveBack = places.take(key?.id)
      if (giveBack === undefined) throw overloaded('waits')
      count(1)
      const standstillMs = extendTimeout(socket, ms)
      return new Promise((resolve) => {
        const end = () => {
          clearTimeout(timer)
          reply.raw.off('close', end)
          waiting.delete(one)
          if (standstillMs > 0) socket.setTimeout(standstillMs)
          count(-1)
          giveBack()
          resolve()
        }
        const one = { state, end }
        const timer = setTimeout(end, ms)
        waiting.add(one)
        reply.onClosed(end)
        lookLater()
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
