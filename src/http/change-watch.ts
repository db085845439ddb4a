// Requests that wait for the next version of the registry: one look at the store for all of them
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

/** How often the store is looked at while anybody waits. */
const lookMs = 900

export interface ChangeWatch {
  /**
   * Waits until the registry has another state than the one given, the time is over, the client has
   * gone, or the service stops.
   *
   * @returns whether it has another state.
   * @throws ApiError 503 if too many wait.
   */
  wait(request: HttpRequest, state: string, ms: number): Promise<boolean>
}

interface Waiting {
  readonly state: string
  readonly end: (isChanged: boolean) => void
}

/**
 * @param draining is aborted when the service stops: nobody waits any more.
 * @param count counts clients that begin to wait and, below zero, those that have waited.
 */
export function createChangeWatch(
  store: Pick<StoreReader, 'readRegistry'>,
  draining: AbortSignal,
  count: (clients: number) => void = () => undefined,
): ChangeWatch {
  const places = createPlaces(waitingMax)
  const waiting = new Set<Waiting>()
  let timer: NodeJS.Timeout | undefined

  async function look(): Promise<void> {
    try {
      const state = stateOf(await fromStore(() => store.readRegistry()))
      for (const one of waiting) if (one.state !== state) one.end(true)
    } catch {
      // Waiting requests get the fault when they read.
    }
    timer = waiting.size === 0 ? undefined : setTimeout(() => void look(), lookMs)
  }

  draining.addEventListener('abort', () => {
    clearTimeout(timer)
    for (const one of waiting) one.end(false)
  })

  return {
    wait(request, state, ms) {
      const giveBack = places.take(request.key?.id)
      if (giveBack === undefined) throw overloaded('waits')
      const { socket } = request.raw
      const endPatience = bePatient(socket, ms)
      count(1)
      return new Promise((resolve) => {
        const one = {
          state,
          end(isChanged: boolean) {
            if (!waiting.delete(one)) return
            clearTimeout(over)
            socket.off('close', leave)
            endPatience()
            count(-1)
            giveBack()
            resolve(isChanged)
          },
        }
        const leave = () => one.end(false)
        const over = setTimeout(leave, draining.aborted ? 0 : ms)
        socket.once('close', leave)
        waiting.add(one)
        timer ??= setTimeout(() => void look(), lookMs)
      })
    },
  }
}

/** Lets a connection transfer nothing for a while: nothing is under way on it. */
function bePatient(socket: Socket, ms: number): () => void {
  excludeFromLoad(socket)
  const { timeout } = socket
  // An injected request, as in tests, has no connection.
  if (timeout === undefined || timeout === 0) return () => undefined
  socket.setTimeout(timeout + ms)
  return () => socket.setTimeout(timeout)
}
