// Counts the values of a listing's filters, in one state of the registry.
//
// The values of a short listing are read as lists and counted here, in half the time that the
// database would take; a long one is counted by the database, beside the event loop.

import { type FilterColumn, filterColumns } from '../../resources/filters.ts'
import type { Resource } from '../../resources/resource.ts'
import {
  countedLengthMax,
  countedValuesMax,
  createCounter,
  type ListingCounts,
} from '../value-counts.ts'
import type { Dialect } from './dialect.ts'
import { filterOf } from './pieces.ts'
import type { Parameter, Snapshot } from './snapshot.ts'

/** A query, with values for `$1`, `$2` …; its rows are arrays of their columns. */
export interface CountQuery {
  readonly sql: string
  readonly values: readonly Parameter[]
}

/** A state of a listing: that of the present, or of an earlier version. */
export interface CountedState {
  readonly resource: Resource
  readonly companyId: number
  /** Undefined if no record has changed since. */
  readonly version: number | undefined
}

/** The fields whose values are counted: those that are filtered by single values. */
function countedFields(resource: Resource): readonly FilterColumn[] {
  let fields = counted.get(resource)
  if (fields === undefined) {
    fields = filterColumns(resource).filter(
      ({ field }) => resource.fields[field]?.filter === 'value',
    )
    counted.set(resource, fields)
  }
  return fields
}

const counted = new WeakMap<Resource, readonly FilterColumn[]>()

/** Listings up to this length are counted here, which takes some 0.6 us for each record. */
export const shortListingMax = 1_000

/** Counts a short listing. */
export async function countShort(snapshot: Snapshot, state: CountedState): Promise<ListingCounts> {
  return countsOf(state.resource, await countHere(snapshot, state))
}

/** Counts several short listings of a company as they are, by one statement; in their order. */
export async function countAllShort(
  snapshot: Snapshot,
  companyId: number,
  resources: readonly Resource[],
): Promise<readonly ListingCounts[]> {
  if (resources.length === 0) return []
  const rows = await snapshot.rows<ListsRow>(listsSql(snapshot.dialect, resources), companyId)
  const found = new Map(rows.map(([n, ...lists]) => [n, lists]))
  return resources.map((resource, n) => {
    const lists = found.get(n) ?? []
    return countsOf(
      resource,
      countedFields(resource).map((_, at) => countList(lists[at])),
    )
  })
}

type ListsRow = readonly [listing: number, ...lists: (string | null)[]]

/** The values of each listing's fields as lists in JSON, a row for each listing. */
function listsSql(d: Dialect, resources: readonly Resource[]): string {
  const key = resources.map(({ name }) => name).join(' ')
  const known = listsTexts.get(d)?.get(key)
  if (known !== undefined) return known
  const width = Math.max(...resources.map((one) => countedFields(one).length))
  const selects = resources.map((resource, n) => {
    const fields = countedFields(resource)
    const lists = Array.from({ length: width }, (_, at) =>
      at < fields.length ? d.jsonArray(`v${at}`) : 'null',
    )
    const { sql } = valuesQuery(d, { resource, companyId: 0, version: undefined })
    return `select ${[n, ...lists].join(', ')} from (${sql}) listed${n}`
  })
  const text = selects.join(' union all ')
  const texts = listsTexts.get(d) ?? new Map<string, string>()
  listsTexts.set(d, texts.set(key, text))
  return text
}

/** The texts of `listsSql`: of each subset of the resources, so 31 for five of them. */
const listsTexts = new WeakMap<Dialect, Map<string, string>>()

/**
 * Counts a long listing. Filters that have many values in its first records are not counted.
 *
 * @param readLong returns the rows of a query that takes long, from the state of the snapshot.
 */
export async function countLong(
  snapshot: Snapshot,
  state: CountedState,
  readLong: (query: CountQuery) => Promise<readonly CountRow[]>,
): Promise<ListingCounts> {
  const counters = await countHere(snapshot, state, shortListingMax)
  for (const [n, sample] of counters.entries()) {
    if (sample.isOver()) continue
    const counter = createCounter()
    for (const [value, count] of await readLong(groupQuery(snapshot.dialect, state, n))) {
      counter.add(value, count)
    }
    counters[n] = counter
  }
  return countsOf(state.resource, counters)
}

/** The counts of a listing without records. */
export function noCounts(resource: Resource): ListingCounts {
  return countsOf(resource, countedFields(resource).map(createCounter))
}

type Counter = ReturnType<typeof createCounter>

/** Counts the values of each field here; with `rowsMax`, those of so many records. */
async function countHere(
  snapshot: Snapshot,
  state: CountedState,
  rowsMax?: number,
): Promise<Counter[]> {
  const columns = countedFields(state.resource)
  if (columns.length === 0) return []
  const lists = columns.map((_, n) => snapshot.dialect.jsonArray(`v${n}`)).join(', ')
  const { sql, values } = valuesQuery(snapshot.dialect, state)
  const limit = rowsMax === undefined ? '' : `limit ${rowsMax}`
  const query = `select ${lists} from (${sql} ${limit}) listed`
  const [row] = await snapshot.rows<readonly (string | null)[]>(query, ...values)
  return columns.map((_, n) => countList(row?.[n]))
}

function countList(list: string | null | undefined): Counter {
  const counter = createCounter()
  for (const value of JSON.parse(list ?? '[]') as (string | null)[]) {
    counter.add(value)
    if (counter.isOver()) break
  }
  return counter
}

/** A row of `groupQuery`. */
export type CountRow = readonly [value: string | null, count: number]

/** Counts the values of the nth field, of which it returns one more than are counted. */
function groupQuery(d: Dialect, state: CountedState, n: number): CountQuery {
  const { sql, values } = valuesQuery(d, state)
  return {
    sql: `
      select v${n}, count(*) from (${sql}) listed
      group by v${n} limit ${countedValuesMax + 1}`,
    values,
  }
}

function countsOf(resource: Resource, counters: readonly Counter[]): ListingCounts {
  const entries = countedFields(resource).map(({ field }, n) => [field, counters[n]?.counts()])
  return Object.fromEntries(entries.filter(([, counts]) => counts !== undefined)) as ListingCounts
}

/** The values of the fields as `v0`, `v1` …, a row for each record; cut if they are too long. */
function valuesQuery(d: Dialect, { resource, companyId, version }: CountedState): CountQuery {
  const { name } = resource
  const columns = countedFields(resource)
  const cut = (value: string) => `substr(${value}, 1, ${countedLengthMax + 1})`
  const present = columns.map(({ column }, n) => `${cut(`r.${column}`)} as v${n}`).join(', ')
  const listed = `select ${present} from ${name} r where r.company_id = $1`
  if (version === undefined) return { sql: listed, values: [companyId] }
  const past = columns.map(({ field }, n) => {
    return `${cut(filterOf(d, resource, field, 'p.record'))} as v${n}`
  })
  return {
    sql: `
      ${listed} and r.version <= $2
      union all select ${past.join(', ')} from ${name}_past p
      where p.company_id = $1 and p.until > $2 and p.version <= $2`,
    values: [companyId, version],
  }
}
