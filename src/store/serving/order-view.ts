// Orders the records that have passed a scan by a value, then by id; null is last in both orders.

import type { Pace } from './pace.ts'
import { byCodePoint } from '../record-texts.ts'
import type { Scanned } from '../listing/scan.ts'
import { reorder, type View } from '../listing/view.ts'

/** How many records are sorted in one step; longer runs are merged from shorter ones. */
const runLength = 1_024

export async function orderScanned(
  { view, ids, keys, texts }: Scanned,
  direction: 'ascending' | 'descending',
  pace: Pace,
): Promise<View> {
  const ranks = await rankTexts(texts, pace)
  const sign = direction === 'ascending' ? 1 : -1
  const values = keys.map((key) => {
    if (Number.isNaN(key)) return Infinity
    return sign * (ranks === undefined ? key : (ranks[key] ?? 0))
  })
  const order = await sortInSteps(
    keys.length,
    (a, b) => {
      const [one = 0, other = 0] = [values[a], values[b]]
      if (one !== other) return one < other ? -1 : 1
      return sign * ((ids[a] ?? 0) - (ids[b] ?? 0))
    },
    pace,
  )
  return reorder(view, (n) => order[n] ?? 0)
}

/** The rank of each text among all of them; undefined if there are none. */
async function rankTexts(texts: readonly string[], pace: Pace): Promise<Uint32Array | undefined> {
  if (texts.length === 0) return undefined
  const compare = (a: number, b: number) => byCodePoint(texts[a] ?? '', texts[b] ?? '')
  const order = await sortInSteps(texts.length, compare, pace)
  const ranks = new Uint32Array(texts.length)
  for (const [rank, n] of order.entries()) ranks[n] = rank
  return ranks
}

type Compare = (a: number, b: number) => number

/** The numbers below `length` in an order: runs are sorted, then merged in pairs. */
async function sortInSteps(length: number, compare: Compare, pace: Pace): Promise<Uint32Array> {
  let from = new Uint32Array(length).map((_, n) => n)
  for (let start = 0; start < length; start += runLength) {
    from.subarray(start, start + runLength).sort(compare)
    await pace()
  }
  let to = new Uint32Array(length)
  for (let width = runLength; width < length; width *= 2) {
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

async function mergeRuns(
  { from, to, start, middle, end }: Runs,
  compare: Compare,
  pace: Pace,
): Promise<void> {
  let left = start
  let right = middle
  for (let at = start; at < end;) {
    const stop = Math.min(end, at + runLength)
    for (; at < stop; at++) {
      const isLeft =
        left < middle && (right === end || compare(from[left] ?? 0, from[right] ?? 0) <= 0)
      to[at] = from[isLeft ? left++ : right++] ?? 0
    }
    await pace()
  }
}
