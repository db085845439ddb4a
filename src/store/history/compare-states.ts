// Compares two states of listings: what one source has in each, and whether the others differ.

import { statementAt } from '../companies/attributes.ts'
import { type DirectoryEntry, without } from '../listing/directory.ts'
import { keysOf, openInGroups, type OpenListing, readIndexes } from '../listing/open-listings.ts'
import { hasDigest, type SegmentIndex } from '../listing/segment.ts'
import { attributesShape, comparedParts, type ListingShape } from '../listing/shape.ts'
import type { HeadRow, ListingTables } from '../listing/tables.ts'

/** The numbers of records, or of companies, by what a revert does to them. */
export interface Changes {
  restored: number
  updated: number
  removed: number
}

/** How a listing would change if a source's records were again as they were in a former state. */
export interface StateDifference {
  readonly changes: Changes
  /** The ids of the former records that the listing gets back. */
  readonly back: ReadonlySet<number>
  /** The ids of the present records that it loses or replaces. */
  readonly gone: ReadonlySet<number>
  /** The ids in `back` of records that the source does not have now. */
  readonly made: readonly number[]
  /** Whether the records of other sources differ, too. */
  readonly hasOthers: boolean
}

/** A record, by its place in a segment. */
interface Place {
  readonly index: SegmentIndex
  readonly n: number
}

/**
 * Makes a comparison of segments that only one of two states has: first all of the former state,
 * then all of the present one.
 */
function compareStates(shape: ListingShape, source: number) {
  /** The former records, except those that are the same now. */
  const former = new Map<number, Place>()
  const gone = new Set<number>()
  const replaced = new Set<number>()
  const changes: Changes = { restored: 0, updated: 0, removed: 0 }
  let hasOthers = false
  const isOwn = ({ index, n }: Place) => index.sources[n] === source

  function count(before: Place | undefined, now: Place | undefined): void {
    if (isListed(shape, before)) changes[isListed(shape, now) ? 'updated' : 'restored'] += 1
    else if (isListed(shape, now)) changes.removed += 1
  }

  function notePresent(id: number, now: Place): void {
    const before = former.get(id)
    const wasOwn = before !== undefined && isOwn(before)
    const isUnchanged = before !== undefined && isSame(shape, before, now)
    if (!isOwn(now) && (wasOwn || !isUnchanged)) hasOthers = true
    if (isUnchanged && (wasOwn || !isOwn(now))) former.delete(id)
    else if (wasOwn || isOwn(now)) {
      gone.add(id)
      if (wasOwn && isOwn(now)) replaced.add(id)
      count(wasOwn ? before : undefined, now)
    }
  }

  return {
    addFormer(index: SegmentIndex): void {
      for (const [n, id] of index.ids.entries()) former.set(id, { index, n })
    },
    addPresent(index: SegmentIndex): void {
      for (const [n, id] of index.ids.entries()) notePresent(id, { index, n })
    },
    finish(): StateDifference {
      const own = [...former].filter(([, place]) => isOwn(place))
      for (const [id, before] of own) if (!gone.has(id)) count(before, undefined)
      const back = new Set(own.map(([id]) => id))
      return {
        changes,
        back,
        gone,
        made: [...back.difference(replaced)],
        hasOthers: hasOthers || back.size < former.size,
      }
    },
  }
}

const statementIn = ({ index, n }: Place) => statementAt(index, n)

/** If a source lacks a company, what the source said about it last is kept, but not listed. */
function isListed(shape: ListingShape, place: Place | undefined): boolean {
  return place !== undefined && (shape !== attributesShape || statementIn(place).isPresent)
}

function isSame(shape: ListingShape, a: Place, b: Place): boolean {
  if (!hasDigest(a.index, a.n, b.index.digests, b.n)) return false
  return shape !== attributesShape || statementIn(a).version === statementIn(b).version
}

/** The present state of a listing and the former one, if the listing existed then. */
export interface Pair {
  readonly companyId: number
  readonly present: OpenListing
  readonly former: HeadRow | undefined
  /** The segments that only one of the two states has. */
  readonly presentOnly: readonly DirectoryEntry[]
  readonly formerOnly: readonly DirectoryEntry[]
}

function pairOf(present: OpenListing, former: OpenListing | undefined): Pair {
  const { head, leaves = [] } = former ?? {}
  return {
    companyId: present.head.companyId,
    present,
    former: head,
    presentOnly: without(present.leaves, leaves),
    formerOnly: without(leaves, present.leaves),
  }
}

/** By listing, the ids of restored records that others had then, until their own revert. */
export type SharedIds = Map<string, number[]>

/** Which states are compared: the present ones, and those before a version. */
export interface ComparedStates {
  readonly source: number
  readonly first: number
  /** Undefined if the other sources keep what they have now. */
  readonly shared: SharedIds | undefined
}

/** Compares states of companies' listings, in their order; reads many segments at once. */
export async function* findDifferences(
  tables: ListingTables,
  shape: ListingShape,
  companies: readonly number[],
  { source, first }: ComparedStates,
): AsyncGenerator<Pair & StateDifference> {
  for await (const { open, former } of openInGroups(tables, shape.listing, companies, first)) {
    const pairs = [...open].map(([companyId, present]) => pairOf(present, former.get(companyId)))
    const keys = pairs.flatMap(({ companyId, formerOnly, presentOnly }) => [
      ...keysOf(companyId, formerOnly),
      ...keysOf(companyId, presentOnly),
    ])
    const read = readIndexes(tables, shape, keys, comparedParts(shape))
    for (const pair of pairs) {
      const states = compareStates(shape, source)
      await read(pair.formerOnly.length, (index) => states.addFormer(index))
      await read(pair.presentOnly.length, (index) => states.addPresent(index))
      yield { ...pair, ...states.finish() }
    }
  }
}
