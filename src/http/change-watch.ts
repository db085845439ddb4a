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
   * @throws ApiError 503 if too many wait.
   */
  wait(request: HttpRequest, state: string, ms: number): Promise<void>
}

/** A request that waits; thousands may, so that it is small. */
interface Waiting {
  readonly request: HttpRequest
  readonly state: string
  /** By `performance.now()`. */
  readonly endsAt: number
  /** How long its connection may otherwise transfer nothing, in milliseconds; 0 for ever. */
  readonly standstillMs: number
  readonly giveBack: () => void
  readonly resolve: () => void
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
  // One for all of them: for the next look, or for the first whose time is over.
  const alarm = createAlarm(() => void wake())
  let lookAt = 0

  async function wake(): Promise<void> {
    const now = performance.now()
    endWhere(({ endsAt, request }) => endsAt <= now || request.socket.destroyed)
    if (lookAt <= now) {
      lookAt = now + lookMs
      await look()
    }
    for (const { endsAt } of waiting) alarm.ringBy(Math.min(endsAt, lookAt))
  }

  async function look(): Promise<void> {
    try {
      const present = stateOf(await fromStore(() => store.readRegistry()))
      endWhere(({ state }) => state !== present)
    } catch {
      // Waiting requests get the fault when they read.
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
  }

  draining.addEventListener('abort', () => {
    alarm.stop()
    endWhere(() => true)
  })

  return {
    wait(request, state, ms) {
      if (draining.aborted) return Promise.resolve()
      const giveBack = places.take(request.key?.id)
      if (giveBack === undefined) throw overloaded('waits')
      count(1)
      const standstillMs = bePatient(request.socket, ms)
      flatten(request.id)
      const endsAt = performance.now() + ms
      return new Promise((resolve) => {
        waiting.add({ request, state, endsAt, standstillMs, giveBack, resolve })
        if (waiting.size === 1) lookAt = performance.now() + lookMs
        alarm.ringBy(Math.min(endsAt, lookAt))
      })
    },
  }
}

/** Rings at the earliest of the moments that are named, which are of `performance.now()`. */
function createAlarm(ring: () => void) {
  let timer: NodeJS.Timeout | undefined
  let at = Infinity
  function stop(): void {
    clearTimeout(timer)
    at = Infinity
  }
  return {
    stop,
    ringBy(moment: number): void {
      if (moment >= at) return
      stop()
      at = moment
      timer = setTimeout(() => {
        at = Infinity
        ring()
      }, moment - performance.now())
    },
  }
}

/**
 * Lets a connection transfer nothing for a while: nothing is under way on it.
 *
 * @returns how long it may otherwise, in milliseconds; 0 for ever.
 */
function bePatient(socket: Socket, ms: number): number {
  excludeFromLoad(socket)
  // An injected request, as in tests, has no connection.
  const { timeout = 0 } = socket
  if (timeout > 0) socket.setTimeout(timeout + ms)
  return timeout
}

/** Makes V8 keep a text as one piece: a random id is made of a dozen, which take 400 bytes more. */
function flatten(text: string): void {
  text.charCodeAt(0)
}
