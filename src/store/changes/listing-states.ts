// The two states of a listing between which it has changed, and the segments that show how.

import { type DifferingLeaves, type DirectoryEntry, markOf } from '../listing/directory.ts'
import { compareOrder, elementOf, keyAt } from '../listing/merge.ts'
import { compareHeads, leavesOf } from '../listing/open-listings.ts'
import type { RecordPlace } from '../listing/segment.ts'
import type {
  ChangedListing,
  HeadRow,
  ListingLookups,
  TraceRow,
  VersionSpan,
} from '../listing/tables.ts'
import type { IndexSource, Leaves } from './index-source.ts'

/** A listing that has changed. */
export interface ListingStates extends ChangedListing {
  readonly present: HeadRow | undefined
  /** The last head up to the beginning; undefined if there is none. */
  readonly former: HeadRow | undefined
  /**
   * False if the state at the beginning was pruned: then any record may have changed, and any that
   * the segments and traces name may have existed.
   */
  readonly isFormerKnown: boolean
  /** Changes that segments do not show, by id: the last one of each record. */
  readonly traces: ReadonlyMap<number, TraceRow>
  /** The segments of both states that may differ. */
  readonly leaves: DifferingLeaves
}

/** The span of versions, and the earliest one whose state is completely known. */
export interface KnownSpan extends VersionSpan {
  readonly earliest: number
}

/** What states are opened with. */
export interface Comparing {
  readonly tables: ListingLookups
  readonly source: IndexSource
  readonly span: KnownSpan
}

/** Opens the states of changed listings, in the order given. */
export async function openStates(
  comparing: Comparing,
  changed: readonly ChangedListing[],
): Promise<readonly ListingStates[]> {
  const { tables, source, span } = comparing
  const { listing } = source.shape
  const { since, until, earliest } = span
  const ids = changed.map(({ companyId }) => companyId)
  const present = byCompany(await tables.heads(listing, ids, until))
  const former = byCompany(since === 0 ? [] : await tables.heads(listing, ids, since))
  const all =
    since === 0
      ? await maskedIn(comparing, changed, present)
      : await tables.traces(listing, ids, span)
  const traces = Map.groupBy(all, ({ companyId }) => companyId)
  const opened: ListingStates[] = []
  for (const one of changed) {
    const { companyId } = one
    const states = {
      ...one,
      present: present.get(companyId),
      former: former.get(companyId),
      traces: new Map(traces.get(companyId)?.map((trace) => [trace.id, trace])),
    }
    const isFormerKnown = since === 0 || since >= earliest || states.former !== undefined
    const leaves = await openLeaves(comparing, { ...states, isFormerKnown })
    opened.push({ ...states, isFormerKnown, leaves })
  }
  return opened
}

/**
 * The traces that count for a client that has nothing yet: it gets only what exists at the end. The
 * only head of a listing tells whether a withholding has rewritten it.
 */
async function maskedIn(
  { tables, source, span }: Comparing,
  changed: readonly ChangedListing[],
  present: ReadonlyMap<number, HeadRow>,
): Promise<readonly TraceRow[]> {
  const some = changed.filter(
    ({ companyId, isOnly }) => !isOnly || markOf(present.get(companyId)?.directory ?? '') !== '',
  )
  if (some.length === 0) return []
  const ids = some.map(({ companyId }) => companyId)
  const all = await tables.traces(source.shape.listing, ids, span)
  return all.filter(({ kind }) => kind === 'put')
}

function byCompany(heads: readonly HeadRow[]): Map<number, HeadRow> {
  return new Map(heads.map((head) => [head.companyId, head]))
}

async function openLeaves(
  comparing: Comparing,
  { companyId, present, former, traces, isFormerKnown }: Omit<ListingStates, 'leaves'>,
): Promise<DifferingLeaves> {
  const { tables, source, span } = comparing
  if (!isFormerKnown) {
    // What the first kept head has may have been there before.
    const [first] = await tables.headsOf(source.shape.listing, [companyId], span)
    const open = (head: HeadRow | undefined) => (head === undefined ? [] : leavesOf(tables, head))
    return { former: await open(first), present: await open(present) }
  }
  const leaves = await compareHeads(tables, companyId, former, present)
  const put = [...traces.values()].filter(({ kind }) => kind === 'put')
  if (put.length === 0 || former === undefined || present === undefined) return leaves
  return withPlaces(comparing, { former, present }, leaves, put)
}

const isUpTo = ({ shape }: IndexSource, place: RecordPlace, end: RecordPlace) =>
  compareOrder(shape, place, end) <= 0

/** How many segments are searched together for records that traces name. */
const leavesAtOnce = 64

/** Adds the segments with records that traces name, as if they differed. */
async function withPlaces(
  { tables, source }: Comparing,
  heads: { readonly former: HeadRow; readonly present: HeadRow },
  differing: DifferingLeaves,
  places: readonly RecordPlace[],
): Promise<DifferingLeaves> {
  const { companyId } = heads.present
  const leaves = await leavesOf(tables, heads.present)
  const segments = new Set(
    [...differing.former, ...differing.present].map(({ segment }) => segment),
  )
  const sorted = places.toSorted((a, b) => compareOrder(source.shape, a, b))
  for (let n = 0; n < sorted.length;) {
    const at = await findLeaf(source, { companyId, leaves }, elementOf(sorted, n), true)
    // Many may be in consecutive segments.
    const next = leaves.slice(at, at + Math.min(leavesAtOnce, sorted.length - n))
    if (next.length === 0) break
    for (const [m, index] of (await source.read({ companyId, leaves: next })).entries()) {
      const first = n
      while (n < sorted.length && isUpTo(source, elementOf(sorted, n), keyAt(index, -1))) n += 1
      if (n > first) segments.add(elementOf(next, m).segment)
    }
  }
  const chosen = (all: readonly DirectoryEntry[]) =>
    all.filter(({ segment }) => segments.has(segment))
  const former = await leavesOf(tables, heads.former)
  return { former: chosen(former), present: chosen(leaves) }
}

/**
 * The first segment with a record after a place, by bisection.
 *
 * @param isIncluded whether a record at the place counts, too.
 */
export async function findLeaf(
  source: IndexSource,
  { companyId, leaves }: Leaves,
  place: RecordPlace,
  isIncluded = false,
): Promise<number> {
  let [low, high] = [0, leaves.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const one = leaves.slice(middle, middle + 1)
    const index = elementOf(await source.read({ companyId, leaves: one }), 0)
    const order = compareOrder(source.shape, keyAt(index, -1), place)
    if (order > 0 || (isIncluded && order === 0)) high = middle
    else low = middle + 1
  }
  return low
}
