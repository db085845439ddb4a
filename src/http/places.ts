// Places for long work, shared among keys without any setting: no key gets so many that none are
// left for others.

import { overloaded } from './errors.ts'

/**
 * A key may take a place as long as it has fewer than are free. So one key alone gets half of them,
 * and the next one still half of what is left (dynamic thresholds, Choudhury and Hahne 1998).
 *
 * @param what names the work, for the log.
 */
export function createPlaces(what: string, most: number) {
  const held = new Map<number | undefined, number>()
  let taken = 0
  return {
    /**
     * Takes places for a key.
     *
     * @returns a function that gives them back; further calls do nothing.
     * @throws ApiError 503 if the key has its share.
     */
    take(key: number | undefined, places = 1): () => void {
      const own = held.get(key) ?? 0
      if (own + places > most - taken) throw overloaded(what)
      held.set(key, own + places)
      taken += places
      let isHeld = true
      return () => {
        if (!isHeld) return
        isHeld = false
        taken -= places
        const left = (held.get(key) ?? places) - places
        if (left === 0) held.delete(key)
        else held.set(key, left)
      }
    },
  }
}
