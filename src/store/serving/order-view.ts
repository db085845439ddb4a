// Orders the records that have passed a scan by a value, then by id; null is last in both orders.

import { blockLength, inBlocks, type Pace } from './pace.ts'
import type { Scanned } from '../listing/scan.ts'
import { reorder, type View } from '../listing/view.ts'
import { asBytes } from '../record-texts.ts'

export async function orderScanned(
  { view, ids, keys, texts }: Scanned,
  direction: 'ascending' | 'descending',
  pace: Pace,
): Promise<View> {
  const values = texts.length === 0 ? keys : await rankTexts(keys, texts, pace)
  const sign = direction === 'ascending' ? 1 : -1
  const signed = new Float64Array(values.length)
  await inBlocks(values.length, pace, (start, end) => {
    for (let n = start; n < end; n++) signed[n] = sign * (values[n] ?? NaN)
  })
  const compare = (a: number, b: number) => {
    const [left, right] = [signed[a] ?? NaN, signed[b] ?? NaN]
    if (left < right) return -1
    if (left > right) return 1
    const isNull = Number.isNaN(left)
    if (isNull !== Number.isNaN(right)) return isNull ? 1 : -1
    return sign * ((ids[a] ?? 0) - (ids[b] ?? 0))
  }
  const order = await sortInSteps(values.length, compare, pace)
  return reorder(view, (n) => order[n] ?? 0)
}

/** The rank of each record's text among all texts; NaN if it has none. */
async function rankTexts(
  keys: Float64Array,
  texts: readonly string[],
  pace: Pace,
): Promise<Float64Array> {
  // The order of code points is that of the bytes.
  const compared: string[] = []
  await inBlocks(texts.length, pace, (start, end) => {
    for (const text of texts.slice(start, end)) compared.push(asBytes(text))
  })
  const compare = (a: number, b: number) => ((compared[a] ?? '') < (compared[b] ?? '') ? -1 : 1)
  const order = await sortInSteps(texts.length, compare, pace)
  const ranks = new Uint32Array(texts.length)
  const values = new Float64Array(keys.length)
  await inBlocks(texts.length, pace, (start, end) => {
    for (let rank = start; rank < end; rank++) ranks[order[rank] ?? 0] = rank
  })
  await inBlocks(keys.length, pace, (start, end) => {
    for (let n = start; n < end; n++) values[n] = ranks[keys[n] ?? NaN] ?? NaN
  })
  return values
}

type Compare = (a: number, b: number) => number

/** The numbers below `length` in an order: blocks are sorted, then merged in pairs. */
async function sortInSteps(length: number, compare: Compare, pace: Pace): Promise<Uint32Array> {
  let from = new Uint32Array(length).map((_, n) => n)
  await inBlocks(length, pace, (start, end) => from.subarray(start, end).sort(compare))
  let to = new Uint32Array(length)
  for (let width = blockLength; width < length; width *= 2) {
    for (let start = 0; start < length; start += 2 * width) {
      const end = Math.min(length, start + 2 * width)
      await mergeRuns({ from, to, start, middle: Math.min(end, start + width), end }, compare, pace)
    }
    ;[from, to] = [to, from]
  }
  return from
}

interface Runs {
  readonly from: Uint32Array
  readonly to: Uint32Array
  readonly start: number
  readonly middle: number
  readonly end: number
}

function mergeRuns(
  { from, to, start, middle, end }: Runs,
  compare: Compare,
  pace: Pace,
): Promise<void> {
  let left = start
  let right = middle
  return inBlocks(end - start, pace, (first, stop) => {
    for (let at = start + first; at < start + stop; at++) {
      const isLeft =
        left < middle && (right === end || compare(from[left] ?? 0, from[right] ?? 0) <= 0)
      to[at] = from[isLeft ? left++ : right++] ?? 0
    }
  })
}
