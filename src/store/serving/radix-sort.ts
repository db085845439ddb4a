// Sorts places of records by numbers: digit by digit, the lowest first (a radix sort), in steps.

import { inBlocks, type Pace } from './pace.ts'

export type Places = Uint32Array<ArrayBuffer>

/** A double is two words, the lower one first, of three digits each. */
const digits = [0, 1].flatMap((word) => [0, 11, 22].map((shift) => ({ word, shift })))
const digitMask = 0x7ff

/**
 * Sorts places by their numbers; those with equal ones stay in their order.
 *
 * @param order the numbers below its length, which is not used again.
 * @param numbers by place; NaN is last in both directions.
 * @param sign -1 if the greatest is first.
 */
export async function sortByNumber(
  order: Places,
  numbers: Float64Array,
  sign: 1 | -1,
  pace: Pace,
): Promise<Places> {
  const values = new Float64Array(order.length)
  const words = new Uint32Array(values.buffer)
  let inversions = 0
  let last = -Infinity
  await inBlocks(order.length, pace, (start, end) => {
    let before = last
    for (let n = start; n < end; n++) {
      const place = order[n] ?? 0
      const number = numbers[place] ?? NaN
      // Adding 0 makes 0 of -0.
      const value = Number.isNaN(number) ? Infinity : sign * number + 0
      if (value < before) inversions += 1
      before = value
      values[place] = value
      makeSortable(words, 2 * place)
    }
    last = before
  })
  if (inversions === 0) return order
  let [from, to] = [order, new Uint32Array(order.length)]
  for (const { word, shift } of digits) {
    const isFilled = await sortByDigit({ from, to, words: words.subarray(word), shift }, pace)
    if (isFilled) [from, to] = [to, from]
  }
  return from
}

/** Makes a double two words that are ordered as it is. */
function makeSortable(words: Uint32Array, at: number): void {
  const upper = words[at + 1] ?? 0
  // The other bits of a negative number are the larger, the smaller it is.
  const isNegative = upper >>> 31 === 1
  words[at] = (words[at] ?? 0) ^ (isNegative ? -1 : 0)
  words[at + 1] = upper ^ (isNegative ? -1 : 0x80000000)
}

interface DigitSort {
  readonly from: Places
  readonly to: Places
  /** Every second one is that of a place. */
  readonly words: Uint32Array
  readonly shift: number
}

/** Fills `to`; false if all have the same digit, as integers often do. */
async function sortByDigit({ from, to, words, shift }: DigitSort, pace: Pace): Promise<boolean> {
  const starts = new Uint32Array(digitMask + 2)
  await inBlocks(from.length, pace, (start, end) => {
    for (let n = start; n < end; n++) {
      const next = (((words[2 * n] ?? 0) >>> shift) & digitMask) + 1
      starts[next] = (starts[next] ?? 0) + 1
    }
  })
  if (starts.includes(from.length)) return false
  for (let digit = 1; digit <= digitMask; digit++) {
    starts[digit] = (starts[digit] ?? 0) + (starts[digit - 1] ?? 0)
  }
  await inBlocks(from.length, pace, (start, end) => {
    for (let n = start; n < end; n++) {
      const place = from[n] ?? 0
      const digit = ((words[2 * place] ?? 0) >>> shift) & digitMask
      const at = starts[digit] ?? 0
      starts[digit] = at + 1
      to[at] = place
    }
  })
  return true
}
