// Collects a page of changes: one more than there may be, to know whether there is another page.

import type { Change, ChangesPage, ChangesPlace } from '../changes.ts'
import type { ListingLookups, TextRange } from '../listing/tables.ts'
import { pageBytesMax } from '../page-size.ts'

/** A change, with its text or where that is, and the last change of its listing. */
export interface FoundChange extends Omit<Change, 'text'> {
  readonly text: Uint8Array | TextRange | undefined
  readonly listingVersion: number
  /** Its place in the order of the listing; undefined for a company. */
  readonly sort: number | undefined
}

/** What a change takes besides its record, roughly. */
const envelopeBytes = 200

export function createPage(limit: number) {
  const changes: FoundChange[] = []
  let room = pageBytesMax / 2
  const isFull = () => changes.length > limit || (room < 0 && changes.length > 1)
  return {
    add(change: FoundChange): void {
      room -= (change.text?.length ?? 0) + envelopeBytes
      changes.push(change)
    },
    isFull,
    /** How many changes, and how many bytes, there is room for; at least one. */
    left: () => ({ limit: limit + 1 - changes.length, bytesMax: Math.max(1, room) }),
    /** Reads the texts of the changes on the page. */
    async finish(
      tables: Pick<ListingLookups, 'textRanges'>,
    ): Promise<Pick<ChangesPage, 'changes' | 'next'>> {
      const told = isFull() ? changes.slice(0, Math.min(limit, changes.length - 1)) : changes
      const last = told.at(-1)
      return {
        changes: await withTexts(tables, told),
        next: isFull() && last !== undefined ? placeOf(last) : undefined,
      }
    },
  }
}

function placeOf({ listing, listingVersion, companyId, sort, id }: FoundChange): ChangesPlace {
  const record = sort === undefined ? undefined : { sort, id }
  return { listing, version: listingVersion, companyId, record }
}

/** Those next to each other in a segment are read together. */
async function withTexts(
  tables: Pick<ListingLookups, 'textRanges'>,
  changes: readonly FoundChange[],
): Promise<readonly Change[]> {
  const ranges: { -readonly [key in keyof TextRange]: TextRange[key] }[] = []
  for (const { text } of changes) {
    if (text === undefined || text instanceof Uint8Array) continue
    const last = ranges.at(-1)
    // A comma is between them.
    if (last?.segment === text.segment && last.from + last.length + 1 === text.from) {
      last.length += 1 + text.length
    } else ranges.push({ ...text })
  }
  const read = await tables.textRanges(ranges)
  let n = 0
  return changes.map(({ listing, companyId, id, version, kind, text }): Change => {
    if (text === undefined || text instanceof Uint8Array) {
      return { listing, companyId, id, version, kind, text }
    }
    const range = ranges[n]
    if (range?.segment !== text.segment || range.from + range.length < text.from) n += 1
    const from = text.from - (ranges[n]?.from ?? 0)
    const bytes = read[n]?.subarray(from, from + text.length)
    return { listing, companyId, id, version, kind, text: bytes }
  })
}
