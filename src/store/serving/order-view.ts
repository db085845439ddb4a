// Orders the records that have passed a scan by a value, then by id; null is last in both orders.

import type { Pace } from './pace.ts'
import type { Scanned } from '../listing/scan.ts'
import { reorder, type View } from '../listing/view.ts'
import { sortByNumber } from './radix-sort.ts'

/** How many texts are sorted in one step; longer runs are merged from shorter ones. */
const runLength = 1_024

export async function orderScanned(
  { view, ids, keys, texts }: Scanned,
  direction: 'ascending' | 'descending',
  pace: Pace,
): Promise<View> {
  const ranks = await rankTexts(texts, pace)
  const values = ranks === undefined ? keys : keys.map((key) => ranks[key] ?? NaN)
  const sign = direction === 'ascending' ? 1 : -1
  // Most listings are in the order of their ids, so that these are sorted already.
  const places = new Uint32Array(keys.length).map((_, n) => (sign === 1 ? n : keys.length - 1 - n))
  const byId = await sortByNumber(places, ids, sign, pace)
  const order = await sortByNumber(byId, values, sign, pace)
  return reorder(view, (n) => order[n] ?? 0)
}

/** The rank of each text among all of them; undefined if there are none. */
async function rankTexts(texts: readonly string[], pace: Pace): Promise<Uint32Array | undefined> {
  if (texts.length === 0) return undefined
  const keys = texts.map(inCodePointOrder)
  const compare = (a: number, b: number) => ((keys[a] ?? '') < (keys[b] ?? '') ? -1 : 1)
  const order = await sortInSteps(texts.length, compare, pace)
  const ranks = new Uint32Array(texts.length)
  for (const [rank, n] of order.entries()) ranks[n] = rank
  return ranks
}

/**
 * A text whose order by code units is that of the given one by code points: surrogates, which
 * encode the greatest code points, change places with the units above them.
 */
function inCodePointOrder(text: string): string {
  return text.replaceAll(/[\ud800-\uffff]/g, (unit) => {
    const code = unit.charCodeAt(0)
    return String.fromCharCode(code < 0xe000 ? code + 0x2000 : code - 0x800)
  })
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
