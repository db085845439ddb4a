// Collects a page of changes, until one does not fit: then there is another page.

import type { Change, ChangesPlace } from '../changes.ts'
import type { ListingLookups, TextRange } from '../listing/tables.ts'
import { pageBytesMax } from '../page-size.ts'
import { firstOf, type RecordChange } from './cut-change.ts'

/** Changes, and the last change of their listing. */
interface FoundChange extends RecordChange, Pick<Change, 'listing' | 'companyId' | 'version'> {
  readonly listingVersion: number
}

/** What a change takes besides its record, roughly. */
const envelopeBytes = 200
const bytesMax = pageBytesMax / 2

export function createPage(limit: number) {
  const changes: FoundChange[] = []
  let count = 0
  let bytesLeft = bytesMax
  let next: ChangesPlace | undefined
  return {
    /** Adds a change, or the records of it that fit: at least one on a page. */
    add(change: FoundChange): void {
      if (next !== undefined) return
      const { length } = change.ids
      const fitting = countFitting(change, limit - count, bytesLeft, count === 0)
      if (fitting > 0) changes.push(firstOf(change, fitting))
      count += fitting
      bytesLeft -= (change.texts?.length ?? 0) + length * envelopeBytes
      const last = changes.at(-1)
      if (fitting < length && last !== undefined) next = placeOf(last)
    },
    /** Ends the page after a place, although it is not full. */
    cut(place: ChangesPlace): void {
      next ??= place
    },
    isFull: () => next !== undefined,
    /** How many more changes fit, and the next one, and how many bytes; at least one. */
    left: () => ({ limit: limit + 1 - count, bytesMax: Math.max(1, bytesLeft) }),
    /** Reads the texts of the changes on the page. */
    finish: async (tables: Pick<ListingLookups, 'textRanges'>) => ({
      changes: await withTexts(tables, changes),
      next,
    }),
  }
}

/** How many of the first records of a change fit; at least one if it is the first of the page. */
function countFitting(
  { ids, lengths, texts }: FoundChange,
  limit: number,
  bytesLeft: number,
  isFirst: boolean,
): number {
  const whole = (texts?.length ?? 0) + ids.length * envelopeBytes
  if (ids.length <= limit && whole <= bytesLeft) return ids.length
  let [count, bytes] = [0, 0]
  for (const length of lengths) {
    bytes += length + 1 + envelopeBytes
    if (count === limit || (bytes > bytesLeft && !(isFirst && count === 0))) break
    count += 1
  }
  return count
}

function placeOf({ listing, listingVersion, companyId, ids, sorts }: FoundChange): ChangesPlace {
  const last = ids.length - 1
  const record = { sort: sorts[last] ?? 0, id: ids[last] ?? 0 }
  return companyId === undefined
    ? { listing, version: listingVersion, companyId: record.id, record: undefined }
    : { listing, version: listingVersion, companyId, record }
}

/** Texts that are next to each other in a segment are read together. */
async function withTexts(
  tables: Pick<ListingLookups, 'textRanges'>,
  changes: readonly FoundChange[],
): Promise<readonly Change[]> {
  const ranges: { -readonly [key in keyof TextRange]: TextRange[key] }[] = []
  for (const { texts } of changes) {
    if (texts === undefined || texts instanceof Uint8Array) continue
    const last = ranges.at(-1)
    // There is a comma between them.
    if (last?.segment === texts.segment && last.from + last.length + 1 === texts.from) {
      last.length += 1 + texts.length
    } else ranges.push({ ...texts })
  }
  const read = await tables.textRanges(ranges)
  let n = 0
  return changes.map((change): Change => {
    const { texts } = change
    if (texts === undefined || texts instanceof Uint8Array) return { ...change, texts }
    const range = ranges[n]
    if (range?.segment !== texts.segment || range.from + range.length < texts.from) n += 1
    const from = texts.from - (ranges[n]?.from ?? 0)
    return { ...change, texts: read[n]?.subarray(from, from + texts.length) }
  })
}
