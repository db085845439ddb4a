// Counts the requests of keys: in this process, or where several processes or servers share them.

import type { Awaitable } from '../store/awaitable.ts'
import type { Rate } from '../rate.ts'
import { createWindows } from './windows.ts'

/** How many keys are counted at a time; beyond it, some key's window begins anew. */
const limitedKeysMax = 1_000_000

/** How often was counted in a window, this time included, and how long the window still lasts. */
export interface Counted {
  readonly count: number
  readonly leftMs: number
}

/** Counts a request of a key in its window; the window begins where there is none. */
export type Counter = (keyId: number, rate: Rate) => Awaitable<Counted>

/** Counts for several; undefined, at once or in the end, where nobody answers. */
export type SharedCounter = (keyId: number, rate: Rate) => Promise<Counted | undefined> | undefined

/**
 * @param clock gives milliseconds that are never set back.
 * @param shared counts for several; where it does not answer, this process counts on its own.
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
