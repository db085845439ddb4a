// Values in batches.

import { setImmediate as nextTurn } from 'node:timers/promises'

/**
 * Cuts values into lists, as for look-ups.
 *
 * @param length the maximum number of values in a list.
 * @param weightOf a list also ends where the weights of its values add up to `weight`.
 */
export function* inBatches<T>(
  values: Iterable<T>,
  length: number,
  weightOf?: (value: T) => number,
  weight = Infinity,
): Generator<T[]> {
  let batch: T[] = []
  let sum = 0
  for (const value of values) {
    batch.push(value)
    if (weightOf !== undefined) sum += weightOf(value)
    if (batch.length < length && sum < weight) continue
    yield batch
    batch = []
    sum = 0
  }
  if (batch.length > 0) yield batch
}

/**
 * Cuts values into lists, and yields each in a turn of the event loop of its own. A look-up in
 * SQLite has its results at once, and their memory is only freed after the turn.
 */
export async function* inTurns<T>(values: Iterable<T>, length: number): AsyncGenerator<T[]> {
  for (const batch of inBatches(values, length)) {
    yield batch
    await nextTurn()
  }
}
