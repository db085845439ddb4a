// Reads the records of a view's entries: positions of a listing, and former states of records.

import type { Resource } from '../../resources/resource.ts'
import { greatestLimit } from '../page-size.ts'
import type { Selection } from '../selection.ts'
import type { View } from '../views.ts'
import type { Dialect } from './dialect.ts'
import { cutPiece } from './listing.ts'
import type { ListingState } from './listing-state.ts'
import { piecesOf, recordsOf } from './pieces.ts'
import type { SelectedFrom } from './select.ts'
import { lineageSql } from './view.ts'

/** Records closer to each other than this are read with the pieces that have them. */
const densityMin = 6

/** The queries of a resource for `readEntries` and `findFitting`. */
export function entryQueries(resource: Resource, d: Dialect) {
  const { name } = resource
  const pieces = piecesOf(name)
  const lineage = `(${lineageSql(resource, '$company')}) as lineage`
  const former = `
    ${d.jsonElements('$past', 'e')}
    ${d.orderedJoin} ${name}_past p on p.company_id = $company
      and p.until = cast(e.value ->> 1 as bigint) and p.id = cast(e.value ->> 2 as bigint)`
  const listed = (table: string) => `
    ${d.jsonElements('$positions', 'e')}
    ${d.orderedJoin} ${table} r
      on r.company_id = $company and r.position = cast(e.value ->> 0 as integer)`
  return {
    pieces: `
      select ${lineage}, p.position as first, p.last, p.texts from ${pieces} p
      where p.company_id = $company and p.position <= $last and p.position >= (
        select max(position) from ${pieces} where company_id = $company and position <= $first
      )`,
    records: `select ${lineage}, r.position as entry, r.record from ${listed(recordsOf(name))}`,
    past: `select cast(e.value ->> 0 as bigint) as entry, p.record from ${former}`,
    bytes: `
      select coalesce((select sum(r.bytes + 1) from ${listed(name)}), 0)
        + coalesce((select sum(octet_length(p.record) + 1) from ${former}), 0) as bytes`,
  }
}

export type EntryQueries = ReturnType<typeof entryQueries>

/** The records of entries, in their order; undefined if the listing has changed meanwhile. */
export async function readEntries(
  store: SelectedFrom,
  { resource, companyId: company }: Selection,
  queries: EntryQueries,
  { view, entries }: { readonly view: View; readonly entries: Int32Array },
): Promise<string[] | undefined> {
  const { numbers, positions, past } = split(view, entries)
  const found = new Map<number, string>()
  if (numbers.length > 0) {
    const [first, last] = [Math.min(...numbers), Math.max(...numbers)]
    const isDense = last - first < numbers.length * densityMin
    const rows = isDense
      ? await store.rows(resource, queries.pieces, { company, first, last })
      : await store.rows(resource, queries.records, { company, positions })
    if (rows[0]?.['lineage'] !== view.lineage) return undefined
    for (const row of rows) {
      if (isDense) cutPiece(resource, row, found)
      else found.set(Number(row['entry']), String(row['record']))
    }
  }
  if (past !== '[]') {
    for (const row of await store.rows(resource, queries.past, { company, past }))
      found.set(-Number(row['entry']), String(row['record']))
  }
  const texts: string[] = []
  for (const entry of entries) {
    const text = found.get(entry)
    // A former state was pruned meanwhile.
    if (text === undefined) return undefined
    texts.push(text)
  }
  return texts
}

/** The greatest limit that fits, if the entries are too large for a page (contract 3.10). */
export async function findFitting(
  store: SelectedFrom,
  { resource, companyId: company }: Selection,
  { bytes }: EntryQueries,
  page: {
    readonly state: ListingState
    readonly view: View
    readonly entries: Int32Array
    readonly limit: number
  },
): Promise<number | undefined> {
  const { state, view, entries, limit } = page
  const { widest, room } = state
  if (entries.length * widest <= room) return undefined
  const { positions, past } = split(view, entries)
  const [row] = await store.rows(resource, bytes, { company, positions, past })
  return Number(row?.['bytes']) > room ? greatestLimit(widest, room, limit) : undefined
}

/** Entries as the queries need them: positions, and former states with their entries. */
function split({ past }: View, entries: Int32Array) {
  const numbers: number[] = []
  const former: (readonly [number, number, number])[] = []
  for (const entry of entries) {
    const state = entry < 0 ? past[-entry - 1] : undefined
    if (state === undefined) numbers.push(entry)
    else former.push([-entry, ...state])
  }
  const positions = numbers.length === 0 ? '[]' : `[[${numbers.join('],[')}]]`
  return { numbers, positions, past: JSON.stringify(former) }
}
