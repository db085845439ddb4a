// Serves listings: the whole of one, or a selection of it, at any version.

import { after, type Awaitable } from '../awaitable.ts'
import { type PageTexts, type PageRange, readPageTexts } from '../listing/read-page.ts'
import type { HeadRow } from '../listing/tables.ts'
import { countOf, readViewTexts, type View } from '../listing/view.ts'
import type { Head, OutsideHistory, Page, ScanTurns, StoreReader } from '../reading.ts'
import { isWhole, type Selection } from '../selection.ts'
import { type ListingState, readState, roomIn } from './listing-state.ts'
import { makeView } from './make-view.ts'
import type { ServingReads } from './reads.ts'
import type { Views } from './views.ts'

/** The part of a `StoreReader` that reads listings. */
export type ListingReader = Pick<StoreReader, 'readHead' | 'readPage' | 'viewCounts'>

type Found = Page | OutsideHistory | undefined

function headOf(
  state: ListingState | OutsideHistory | undefined,
): Head | OutsideHistory | undefined {
  if (!isListed(state)) return state
  const { total, version, lineage, changedAt, dataVersion, latestVersion } = state
  return { total, version, lineage, changedAt, dataVersion, latestVersion }
}

/** Scanning so many records takes some milliseconds. */
const shortListingMax = 10_000

/** How often a view is made anew if its listing changes meanwhile. */
const attemptsMax = 5

export function createListingReader(reads: ServingReads, views: Views): ListingReader {
  return {
    readHead: (selection) => reads.now(() => after(readState(reads, selection), headOf)),
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
  // Most pages that are asked for are the first.
  const beside = range.offset === 0 ? 'texts' : 'nothing'
  return after(readState(reads, selection, beside), (state) => {
    if (!isListed(state)) return state
    const { row, texts: first } = state
    if (row === undefined) return pageOf(state, nothing, 0)
    return after(readPageTexts(reads, row, range, roomIn(state), first), (texts) =>
      pageOf(state, texts, state.total),
    )
  })
}

function isListed(state: ListingState | OutsideHistory | undefined): state is ListingState {
  return state !== undefined && !('outside' in state)
}

const nothing: PageTexts = { records: [], greatestLimit: undefined }

function pageOf(state: ListingState, texts: PageTexts, selected: number): Page {
  return {
    total: state.total,
    version: state.version,
    lineage: state.lineage,
    changedAt: state.changedAt,
    dataVersion: state.dataVersion,
    latestVersion: state.latestVersion,
    meta: state.meta,
    selected,
    records: texts.records,
    greatestLimit: texts.greatestLimit,
  }
}

/** A view that a request has made, which may be too large to be kept. */
interface MadeView {
  readonly key: string
  readonly view: View
}

/** What a view is read or made with. */
interface Viewing {
  readonly reads: ServingReads
  readonly views: Views
  /** Whose turn it is to scan a long listing. */
  readonly turns: ScanTurns | undefined
}

async function readSelected(
  viewing: Viewing,
  selection: Selection,
  range: PageRange,
): Promise<Found> {
  const { reads, views } = viewing
  let made: MadeView | undefined
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const known = (key: string) => (made?.key === key ? made.view : views.get(key))
    const read = await reads.now(() => readKnown(reads, known, selection, range))
    if (read === undefined || !('lacking' in read)) return read
    made = await makeKnown(viewing, selection, read.lacking)
  }
  throw new Error(`${selection.resource.name} changes faster than it can be read`)
}

/** The state of a listing that has records, but not yet the view that is asked for. */
interface Lacking {
  readonly lacking: ListingState & { readonly row: HeadRow }
}

/** Reads a page of a view, if that is known. */
function readKnown(
  reads: ServingReads,
  known: (key: string) => View | undefined,
  selection: Selection,
  range: PageRange,
): Awaitable<Found | Lacking> {
  return after<ListingState | OutsideHistory | undefined, Found | Lacking>(
    readState(reads, selection),
    (state) => {
      if (!isListed(state)) return state
      const { row } = state
      if (row === undefined || row.total === 0) return pageOf(state, nothing, 0)
      const view = known(keyOf(selection, state))
      if (view === undefined) return { lacking: { ...state, row } }
      return after(readViewTexts(reads, row.companyId, view, range, roomIn(state)), (texts) =>
        pageOf(state, texts, countOf(view)),
      )
    },
  )
}

/** Makes a view; undefined if its listing has changed meanwhile. */
async function makeKnown(
  { reads, views, turns }: Viewing,
  selection: Selection,
  state: Lacking['lacking'],
): Promise<MadeView | undefined> {
  const key = keyOf(selection, state)
  const make = async () => {
    const view = await makeView(reads, selection, state.row)
    // After a restore, the same numbers may be those of other segments.
    const { lineage } = await reads.now(() => reads.change(state.version))
    if (!state.lineage.startsWith(lineage)) throw new Error('the store has another history now')
    return view
  }
  try {
    // Others need not wait for the scan of a short listing.
    const isLong = state.row.total > shortListingMax
    return { key, view: await views.make(key, make, isLong ? turns : undefined) }
  } catch (error) {
    const now = await reads.now(() => readState(reads, selection))
    if (isListed(now) && now.lineage === state.lineage) throw error
    return undefined
  }
}

/** Names a view by the state of the listing that it is of: a lineage is that of one import. */
function keyOf({ resource, companyId, filters, sort }: Selection, { lineage }: Head): string {
  return JSON.stringify([resource.name, companyId, lineage, filters, sort])
}
