// Reads selections: a listing at an earlier version, filtered, or in another order.
//
// What a selection has is a view (../views.ts), made once for a state of the listing, from which
// every page takes its slice. A listing that has not changed since the version needs none.

import type { Resource } from '../../resources/resource.ts'
import type { Awaitable } from '../awaitable.ts'
import type { Head, Moment, OutsideHistory, Page, ScanTurns, SelectedPage } from '../reading.ts'
import { isWhole, type Selection } from '../selection.ts'
import type { View, Views } from '../views.ts'
import type { Row, Values } from './database.ts'
import type { Dialect } from './dialect.ts'
import { findVersion } from './find-version.ts'
import { type FrameRow, headOf } from './listing.ts'
import { type ListingState, presentState, stateOf, stateSql } from './listing-state.ts'
import { versionToRead } from './outside-history.ts'
import { entryQueries, findFitting, readEntries } from './selected-records.ts'
import { readsTexts, type ViewQuery, viewQuery } from './view.ts'

/** What a store contributes. */
export interface SelectedFrom {
  readonly dialect: Dialect
  readonly views: Views
  /** The rows of a query on the tables of a resource; each query is prepared once. */
  rows(resource: Resource, sql: string, values: Values): Awaitable<readonly Row[]>
  /** Makes a view, beside the event loop if it is large. */
  makeView(resource: Resource, query: ViewQuery, isLarge: boolean): Promise<View>
  readPage(
    resource: Resource,
    company: number,
    offset: number,
    limit: number,
  ): Awaitable<Page | undefined>
  /** The present state of a listing, where a store has it at hand for less than a query costs. */
  readonly present?: PresentReader
}

/** Reads present states at once, without another process's commit in between. */
export interface PresentReader {
  /** The head of a listing, and the earliest version that can be read; undefined as `readHead`. */
  head(resource: Resource, company: number): Present | undefined
  frame(resource: Resource, company: number): FrameRow | undefined
}

interface Present {
  readonly head: Head
  readonly earliest: number
}

/** Scanning that many rows of an index takes some 2 ms; of texts, ten times as long. */
const smallRowsMax = 10_000
const smallTextsMax = 1_000
/** How often a page is read anew if its listing changes meanwhile. */
const attemptsMax = 5

/** What the selections of a store share. */
interface Selector {
  readonly store: SelectedFrom
  readonly queriesOf: (resource: Resource) => ReturnType<typeof queriesFor>
}

/** The part of a `StoreReader` that reads selections. */
export function createSelector(resources: readonly Resource[], store: SelectedFrom) {
  const queries = new Map(resources.map((one) => [one, queriesFor(one, store.dialect)]))
  const selector: Selector = {
    store,
    queriesOf(resource) {
      const found = queries.get(resource)
      if (found === undefined) throw new Error(`the store was not opened for ${resource.name}`)
      return found
    },
  }
  return {
    readState: (selection: Selection) => readState(selector, selection),
    readSelection: (selection: Selection, offset: number, limit: number, turns?: ScanTurns) =>
      readSelection(selector, selection, { offset, limit, turns }),
    findVersion: (resource: Resource, moment: Moment) => {
      const rows = (sql: string, values: Values = {}) => store.rows(resource, sql, values)
      return findVersion({ rows }, resource, moment)
    },
    viewCounts: () => store.views.counts(),
  }
}

function queriesFor(resource: Resource, d: Dialect) {
  return {
    ...entryQueries(resource, d),
    state: stateSql(resource),
    countPast: `
      select count(*) as n from (
        select 1 from ${resource.name}_past
        where company_id = $company and until > $version limit $most
      ) counted`,
  }
}

async function readState(
  { store, queriesOf }: Selector,
  selection: Selection,
): Promise<ListingState | OutsideHistory | undefined> {
  const { resource, companyId: company } = selection
  const lineage = presentLineage(store, selection)
  const frame = lineage === undefined ? undefined : store.present?.frame(resource, company)
  if (frame !== undefined && headOf(frame).lineage === lineage) {
    return presentState(frame, selection)
  }
  const values = { company, version: versionToRead(selection.version) }
  const [row] = await store.rows(resource, queriesOf(resource).state, values)
  return row && stateOf(row, selection)
}

/** A range of a selection's records. */
interface Slice {
  readonly offset: number
  readonly limit: number
  readonly turns: ScanTurns | undefined
}

async function readSelection(
  selector: Selector,
  selection: Selection,
  slice: Slice,
): Promise<SelectedPage | OutsideHistory | undefined> {
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const plain = isWhole(selection)
      ? await readPresent(selector.store, selection, slice)
      : undefined
    if (plain !== undefined) return plain
    const state = await readState(selector, selection)
    if (state === undefined || 'outside' in state) return state
    const page = await (state.isPresent && isWhole(selection)
      ? readWhole(selector, selection, state, slice)
      : readView(selector, selection, state, slice))
    if (page !== undefined) return page
  }
  throw new Error(`${selection.resource.name} changes faster than it can be read`)
}

/** The listing's lineage, if it is known to be what it was at the selection's version. */
function presentLineage({ present }: SelectedFrom, selection: Selection): string | undefined {
  const { resource, companyId, version } = selection
  const found = present?.head(resource, companyId)
  if (found === undefined) return undefined
  const { head, earliest } = found
  if (version === undefined) return head.lineage
  const isSame = head.version <= version && version <= head.dataVersion
  return isSame && earliest <= version ? head.lineage : undefined
}

/** Undefined if the listing is not known to be what it was at the selection's version. */
async function readPresent(
  store: SelectedFrom,
  selection: Selection,
  { offset, limit }: Slice,
): Promise<SelectedPage | undefined> {
  const { resource, companyId, version } = selection
  const lineage = presentLineage(store, selection)
  if (lineage === undefined) return undefined
  const page = await store.readPage(resource, companyId, offset, limit)
  if (page?.lineage !== lineage) return undefined
  const { dataVersion, total } = page
  return {
    ...page,
    dataVersion: version ?? dataVersion,
    latestVersion: dataVersion,
    selected: total,
  }
}

/** Undefined if the listing has changed since the state was read. */
async function readWhole(
  { store }: Selector,
  { resource, companyId }: Selection,
  { lineage, dataVersion, latestVersion, total }: ListingState,
  { offset, limit }: Slice,
): Promise<SelectedPage | undefined> {
  const page = await store.readPage(resource, companyId, offset, limit)
  if (page?.lineage !== lineage) return undefined
  return { ...page, dataVersion, latestVersion, selected: total }
}

/** As `readWhole`. */
async function readView(
  selector: Selector,
  selection: Selection,
  state: ListingState,
  { offset, limit, turns }: Slice,
): Promise<SelectedPage | undefined> {
  const { store, queriesOf } = selector
  const view = await findView(selector, selection, state, turns)
  if (view.lineage !== state.presentLineage) return undefined
  const queries = queriesOf(selection.resource)
  const entries = view.entries.subarray(offset, offset + limit)
  const fitting = { state, view, entries, limit }
  const greatestLimit = await findFitting(store, selection, queries, fitting)
  const records =
    greatestLimit === undefined
      ? await readEntries(store, selection, queries, { view, entries })
      : []
  const { total, meta, version, lineage, changedAt, dataVersion, latestVersion } = state
  const head = { total, meta, version, lineage, changedAt, dataVersion, latestVersion }
  return records && { ...head, selected: view.entries.length, records, greatestLimit }
}

async function findView(
  selector: Selector,
  selection: Selection,
  state: ListingState,
  turns: ScanTurns | undefined,
): Promise<View> {
  const { store } = selector
  const key = keyOf(selection, state)
  const kept = store.views.get(key, state.presentLineage)
  if (kept !== undefined) return kept
  const isLarge = await isLargeScan(selector, selection, state)
  const query = viewQuery(store.dialect, selection, !state.isPresent)
  const make = () => store.makeView(selection.resource, query, isLarge)
  return store.views.make(key, state.presentLineage, make, isLarge ? turns : undefined)
}

async function isLargeScan(
  { store, queriesOf }: Selector,
  selection: Selection,
  { isPresent, presentTotal }: ListingState,
): Promise<boolean> {
  const { resource, companyId: company } = selection
  if (presentTotal > (readsTexts(selection) ? smallTextsMax : smallRowsMax)) return true
  if (isPresent) return false
  const values = { company, version: versionToRead(selection.version), most: smallTextsMax + 1 }
  const [row] = await store.rows(resource, queriesOf(resource).countPast, values)
  return Number(row?.['n']) > smallTextsMax
}

/** Names a view: of an earlier version only if the listing has changed since. */
function keyOf({ resource, companyId, filters, sort }: Selection, state: ListingState): string {
  const version = state.isPresent ? null : state.version
  return JSON.stringify([resource.name, companyId, version, filters, sort])
}
