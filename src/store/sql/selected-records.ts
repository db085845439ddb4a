// Reads the records of a view's entries: positions of a listing, and former states of records.

import type { Resource } from '../../resources/resource.ts'
import { greatestLimit } from '../page-size.ts'
import type { Selection } from '../selection.ts'
import type { View } from '../views.ts'
import type { Row } from './database.ts'
import type { Dialect } from './dialect.ts'
import { cutterOf } from './cut-pieces.ts'
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
  const lineageOf = lineageSql(resource, '$company')
  const lineage = `(${lineageOf}) as lineage`
  const former = `
    ${d.jsonMembers('$past', 'u')} cross join ${d.jsonElements('u.value', 'e')}
    ${d.orderedJoin} ${name}_past p on p.company_id = $company
      and p.until = cast(u.key as bigint) and p.id = ${d.jsonInteger('e.value')}`
  const listed = (table: string) => `
    ${d.jsonElements('$positions', 'e')}
    ${d.orderedJoin} ${table} r
      on r.company_id = $company and r.position = ${d.jsonInteger('e.value')}`
  return {
    pieces: `
      select case when p.position <= $first then (${lineageOf}) end as lineage,
        p.position as first, p.last, p.texts
      from ${pieces} p
      where p.company_id = $company and p.position <= $last and p.position >= (
        select max(position) from ${pieces} where company_id = $company and position <= $first
      )`,
    records: `select ${lineage}, r.position as entry, r.record from ${listed(recordsOf(name))}`,
    past: `select p.until, p.id, p.record from ${former}`,
    bytes: `
      select coalesce((select sum(r.bytes + 1) from ${listed(name)}), 0)
        + coalesce((select sum(octet_length(p.record) + 1) from ${former}), 0) as bytes`,
  }
}

export type EntryQueries = ReturnType<typeof entryQueries>

/**
 * The records of entries, in their order, several in a text; undefined if the listing has changed
 * meanwhile.
 */
export async function readEntries(
  store: SelectedFrom,
  { resource, companyId: company }: Selection,
  queries: EntryQueries,
  { view, entries }: { readonly view: View; readonly entries: Int32Array },
): Promise<string[] | undefined> {
  const { numbers, positions, past, entryOf } = split(view, entries)
  const found = new Map<number, string>()
  let pieces: readonly Row[] = []
  if (numbers.length > 0) {
    const [first, last] = rangeOf(numbers)
    const isDense = last - first < numbers.length * densityMin
    const rows = isDense
      ? await store.rows(resource, queries.pieces, { company, first, last })
      : await store.rows(resource, queries.records, { company, positions: positions() })
    if (rows.find((row) => row['lineage'] !== null)?.['lineage'] !== view.lineage) return undefined
    if (isDense) pieces = rows
    else for (const row of rows) found.set(Number(row['entry']), String(row['record']))
  }
  if (entryOf.size > 0) {
    for (const row of await store.rows(resource, queries.past, { company, past: past() })) {
      const entry = entryOf.get(`${Number(row['until'])} ${Number(row['id'])}`) ?? 0
      found.set(entry, String(row['record']))
    }
  }
  const texts: string[] = []
  const cut = cutterOf(resource, pieces)
  for (let at = 0; at < entries.length;) {
    const text = found.get(entries[at] ?? 0)
    const next = text === undefined ? cut(entries, at, texts) : at + 1
    // A former state was pruned meanwhile.
    if (next === at) return undefined
    if (text !== undefined) texts.push(text)
    at = next
  }
  return texts
}

function rangeOf(numbers: readonly number[]): [first: number, last: number] {
  let [first = 0] = numbers
  let last = first
  for (const number of numbers) {
    if (number < first) first = number
    else if (number > last) last = number
  }
  return [first, last]
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
  const values = { company, positions: positions(), past: past() }
  const [row] = await store.rows(resource, bytes, values)
  return Number(row?.['bytes']) > room ? greatestLimit(widest, room, limit) : undefined
}

/** Entries as queries take them: positions, and former states by the version that ended them. */
function split({ past }: View, entries: Int32Array) {
  const numbers: number[] = []
  const former = new Map<number, number[]>()
  const entryOf = new Map<string, number>()
  for (const entry of entries) {
    const state = entry < 0 ? past[-entry - 1] : undefined
    if (state === undefined) {
      numbers.push(entry)
      continue
    }
    const [until, id] = state
    const ids = former.get(until)
    if (ids === undefined) former.set(until, [id])
    else ids.push(id)
    entryOf.set(`${until} ${id}`, entry)
  }
  return {
    numbers,
    positions: () => `[${numbers.join(',')}]`,
    past: () => JSON.stringify(Object.fromEntries(former)),
    /** The entries of former states, by version and id. */
    entryOf,
  }
}
