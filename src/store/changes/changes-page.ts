// Collects a page of changes: one more than fits, to know whether there is another page.

import type { Change, ChangesPage, ChangesPlace, Numbers } from '../changes.ts'
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
  let isOver = false
  let cutAt: ChangesPlace | undefined

  /** Counts the records that fit, up to the first that does not; one fits in any case. */
  function countFitting(lengths: Numbers): number {
    let fitting = 0
    for (const length of lengths) {
      const bytes = length + 1 + envelopeBytes
      if (count === limit || (bytes > bytesLeft && count > 0)) return fitting
      bytesLeft -= bytes
      count += 1
      fitting += 1
    }
    return fitting
  }

  return {
    /** Adds as many of the records as fit. */
    add(change: FoundChange): void {
      const fitting = countFitting(change.lengths)
      if (fitting > 0) changes.push(firstOf(change, fitting))
      isOver ||= fitting < change.ids.length
    },
    /** Ends the page after a place, although it is not full. */
    cut(place: ChangesPlace): void {
      cutAt = place
    },
    isFull: () => isOver || cutAt !== undefined,
    /** How many changes to find, one more than fit, and how many bytes; at least one. */
    left: () => ({ limit: limit + 1 - count, bytesMax: Math.max(1, bytesLeft) }),
    finish(): Pick<ChangesPage, 'changes' | 'next'> {
      const last = changes.at(-1)
      return { changes, next: isOver && last !== undefined ? placeOf(last) : cutAt }
    },
  }
}

function placeOf({ listing, listingVersion, companyId, ids, sorts }: FoundChange): ChangesPlace {
  const last = ids.length - 1
  const record = { sort: sorts[last] ?? 0, id: ids[last] ?? 0 }
  return companyId === undefined
    ? { listing, version: listingVersion, companyId: record.id, record: undefined }
    : { listing, version: listingVersion, companyId, record }
}
