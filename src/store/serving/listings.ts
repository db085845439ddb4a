// Serves listings: the whole of one, or a selection of it, at any version.

import { after, type Awaitable, orElse } from '../awaitable.ts'
import { type PageTexts, type PageRange, readPageTexts } from '../listing/read-page.ts'
import type { HeadRow } from '../listing/tables.ts'
import { countOf, readViewTexts } from '../listing/view.ts'
import { budgetOf } from '../page-size.ts'
import type { Head, OutsideHistory, Page, ScanTurns } from '../reading.ts'
import { isWhole, type Selection } from '../selection.ts'
import { checkHistory, type ListingState, readState } from './listing-state.ts'
import { makeView } from './make-view.ts'
import type { ServingReads } from './reads.ts'
import { createViews, type ViewCounts, type Views } from './views.ts'

/** The part of a `StoreReader` that reads listings. */
export interface ListingReader {
  /** The state of a selection's listing; undefined if the company is or was not in the registry. */
  readHead(selection: Selection): Awaitable<Head | OutsideHistory | undefined>
  /**
   * Up to `limit` records of a selection after the first `offset`, in its order; undefined as
   * `readHead`.
   *
   * @param turns without them, a scan begins at once.
   */
  readPage(
    selection: Selection,
    offset: number,
    limit: number,
    turns?: ScanTurns,
  ): Awaitable<Page | OutsideHistory | undefined>
  /** What is cached and being made for selections, for the metrics. */
  viewCounts(): ViewCounts
}

type Found = Page | OutsideHistory | undefined

/** Scanning so many records takes some milliseconds; it does not wait for longer scans. */
const shortListingMax = 10_000

/** How many times a page is read, if its listing keeps changing meanwhile. */
const attemptsMax = 5

export function createListingReader(reads: ServingReads): ListingReader {
  const views = createViews()
  return {
    readHead: (selection) =>
      reads.now(() =>
        after(readState(reads, selection), (state) => (isListed(state) ? state.head : state)),
      ),
    readPage(selection, offset, limit, turns) {
      const range = { offset, limit }
      return isWhole(selection)
        ? reads.now(() => readWhole(reads, selection, range))
        : readSelected({ reads, views, turns }, selection, range)
    },
    viewCounts: () => views.counts(),
  }
}

function readWhole(reads: ServingReads, selection: Selection, range: PageRange): Awaitable<Found> {
  // Most requests are for the first page.
  const wanted = range.offset === 0 ? range.limit : 0
  return after(readState(reads, selection, wanted), (state) => {
    if (!isListed(state)) return state
    const { row, meta, first } = state
    if (row === undefined) return pageOf(state, nothing, 0)
    return after(readPageTexts(reads, row, range, budgetOf(row.largest, meta), first), (texts) =>
      pageOf(state, texts, state.head.total),
    )
  })
}

function isListed(state: ListingState | OutsideHistory | undefined): state is ListingState {
  return state !== undefined && !('outside' in state)
}

const nothing: PageTexts = { records: [], free: undefined, greatestLimit: undefined }

function pageOf({ head, meta }: ListingState, texts: PageTexts, selected: number): Page {
  const { records, free, greatestLimit } = texts
  return { ...head, meta, selected, records, free, greatestLimit }
}

/** What a view is read or made with. */
interface Viewing {
  readonly reads: ServingReads
  readonly views: Views
  /** Schedules the scans. */
  readonly turns: ScanTurns | undefined
}

/** Reads a page of a selection; without waiting if its view is cached, as most are. */
function readSelected(
  viewing: Viewing,
  selection: Selection,
  range: PageRange,
  attempt = 1,
): Awaitable<Found> {
  const read = () => viewing.reads.now(() => readState(viewing.reads, selection))
  return after(read(), (state) => {
    if (!isListed(state)) return state
    const { row } = state
    if (row === undefined || row.total === 0) return pageOf(state, nothing, 0)
    const page = () => readView(viewing, selection, range, { ...state, row })
    return orElse<Found>(page, async (error) => {
      const now = await read()
      const isUnchanged = isListed(now) && now.head.lineage === state.head.lineage
      if (isUnchanged || attempt === attemptsMax) throw error
      return readSelected(viewing, selection, range, attempt + 1)
    })
  })
}

/** A listing that has records. */
interface FilledState extends ListingState {
  readonly row: HeadRow
}

/** Reads a page of a view, which is made if it is not cached. */
function readView(
  { reads, views, turns }: Viewing,
  selection: Selection,
  range: PageRange,
  state: FilledState,
): Awaitable<Page> {
  const { row, meta } = state
  const budget = budgetOf(row.largest, meta)
  const key = keyOf(selection, state)
  const make = async () => {
    const view = await makeView(reads, selection, row)
    // The scan took a while, so the state of the registry is read again.
    const again = () => reads.headIn(selection.resource.name, row.companyId, row.version, 0)
    await reads.now(() =>
      after(again(), ({ registry }) => checkHistory(reads, state.head, registry)),
    )
    return view
  }
  const isLong = row.total > shortListingMax
  const found = views.get(key) ?? views.make(key, make, turns, isLong)
  return after(found, (view) =>
    reads.now(() =>
      after(checkHistory(reads, state.head), () =>
        after(readViewTexts(reads, row.companyId, view, range, budget), (texts) =>
          pageOf(state, texts, countOf(view)),
        ),
      ),
    ),
  )
}

/** Names a view by the state of its listing: each import has a lineage of its own. */
function keyOf({ resource, companyId, query }: Selection, { head }: ListingState): string {
  return `/${companyId}/${resource.name} ${head.lineage}${query}`
}
