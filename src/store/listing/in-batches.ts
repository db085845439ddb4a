// Values in batches.

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
