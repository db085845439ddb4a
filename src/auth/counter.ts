// Counts the requests of keys, in this process or shared between processes or servers.

import type { Awaitable } from '../store/awaitable.ts'
import type { Rate } from '../config/rate.ts'
import { createWindows } from './windows.ts'

/** How many keys are counted at a time; beyond this, the window of some key restarts. */
const limitedKeysMax = 1_000_000

/** The count of a window, including the current request, and how much of the window is left. */
export interface Counted {
  readonly count: number
  readonly leftMs: number
}

/** Counts a request of a key in its window, and starts a window if there is none. */
export type Counter = (keyId: number, rate: Rate) => Awaitable<Counted>

/** Counts for several processes; undefined, immediately or later, if there is no answer. */
export type SharedCounter = (keyId: number, rate: Rate) => Promise<Counted | undefined> | undefined

/**
 * @param clock returns milliseconds and never goes backwards.
 * @param shared counts for several processes; without its answer, this one counts on its own.
 */
export function createCounter(clock: () => number, shared?: SharedCounter): Counter {
  const windows = createWindows<number>(limitedKeysMax)

  function countHere(keyId: number, { seconds }: Rate): Counted {
    const now = clock()
    const { count, endsAt } = windows.count(keyId, seconds * 1_000, now)
    return { count, leftMs: endsAt - now }
  }

  if (shared === undefined) return countHere
  return (keyId, rate) => {
    const counted = shared(keyId, rate)
    if (counted === undefined) return countHere(keyId, rate)
    return counted.then((found) => found ?? countHere(keyId, rate))
  }
}
