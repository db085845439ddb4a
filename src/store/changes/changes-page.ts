// Collects a page of changes: one more than fits, to know whether there is another page.

import type { Change, ChangesPage, ChangesPlace } from '../changes.ts'
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
  let cutAt: ChangesPlace | undefined
  const isOver = () => count > limit || (bytesLeft < 0 && count > 1)
  return {
    add(change: FoundChange): void {
      const { length } = change.ids
      bytesLeft -= (change.texts?.length ?? 0) + length * envelopeBytes
      count += length
      changes.push(change)
    },
    /** Ends the page after a place, although it is not full. */
    cut(place: ChangesPlace): void {
      cutAt = place
    },
    isFull: () => isOver() || cutAt !== undefined,
    /** How many more changes fit, and how many bytes; at least one. */
    left: () => ({ limit: limit + 1 - count, bytesMax: Math.max(1, bytesLeft) }),
    /** Reads the texts of the changes on the page. */
    async finish(
      tables: Pick<ListingLookups, 'textRanges'>,
    ): Promise<Pick<ChangesPage, 'changes' | 'next'>> {
      const most = bytesLeft < 0 ? Math.min(limit, countFitting(changes)) : limit
      const fitting = isOver() ? firstChanges(changes, most) : changes
      const last = fitting.at(-1)
      return {
        changes: await withTexts(tables, fitting),
        next: isOver() && last !== undefined ? placeOf(last) : cutAt,
      }
    },
  }
}

/** How many records fit into a page's bytes; at least one. */
function countFitting(changes: readonly FoundChange[]): number {
  let [count, bytes] = [0, 0]
  for (const { lengths } of changes) {
    for (const length of lengths) {
      bytes += length + 1 + envelopeBytes
      if (bytes > bytesMax && count > 0) return count
      count += 1
    }
  }
  return count
}

function firstChanges(changes: readonly FoundChange[], count: number): readonly FoundChange[] {
  const first: FoundChange[] = []
  let left = count
  for (const change of changes) {
    if (left === 0) break
    const part = firstOf(change, left)
    first.push(part)
    left -= part.ids.length
  }
  return first
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
