// Counts the values of a listing's filters, in one state of the registry.
//
// The values of a short listing are read as lists and counted here, in half the time that the
// database would take; a long one is counted by the database, beside the event loop.

import { filterColumns } from '../../resources/filters.ts'
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
function countedFields(resource: Resource) {
  return filterColumns(resource).filter(({ field }) => resource.fields[field]?.filter === 'value')
}

/** Listings up to this length are counted here, which takes some 0.6 us for each record. */
export const shortListingMax = 1_000

/** Counts a short listing. */
export async function countShort(snapshot: Snapshot, state: CountedState): Promise<ListingCounts> {
  return countsOf(state.resource, await countHere(snapshot, state))
}

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
  return columns.map((_, n) => {
    const counter = createCounter()
    for (const value of JSON.parse(row?.[n] ?? '[]') as (string | null)[]) {
      counter.add(value)
      if (counter.isOver()) break
    }
    return counter
  })
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
