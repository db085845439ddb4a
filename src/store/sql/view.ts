// The SQL that makes a view: a scan of a listing's index and, for an earlier version, of the states
// that were current then and are not any more.

import { filterColumns } from '../../resources/filters.ts'
import type { Resource } from '../../resources/resource.ts'
import { type Filter, type Interval, type Selection } from '../selection.ts'
import type { View } from '../views.ts'
import type { Row, Value, Values } from './database.ts'
import type { Dialect } from './dialect.ts'
import { filterOf, recordsOf } from './pieces.ts'

/** A query of one row: `lineage`, `entries` and `past` of a view. */
export interface ViewQuery {
  readonly sql: string
  readonly values: Values
}

/** Whether the scan has to read texts, which takes about ten times as long. */
export function readsTexts({ resource, sort }: Selection): boolean {
  return sort !== undefined && ownColumn(resource, sort.field) === undefined
}

/**
 * @param hasPast whether records of the version are among the past states.
 */
export function viewQuery(d: Dialect, selection: Selection, hasPast: boolean): ViewQuery {
  const { resource, companyId, version, sort } = selection
  const { name } = resource
  const parameters = createParameters()
  const company = parameters.add(companyId)
  const lastVersion = hasPast ? parameters.add(version ?? null) : undefined
  const from = readsTexts(selection) ? recordsOf(name) : name
  const isListed = [
    `r.company_id = ${company}`,
    ...(lastVersion === undefined ? [] : [`r.version <= ${lastVersion}`]),
    ...conditions(selection, (field) => presentValue(resource, field), parameters),
  ]
  const by = sort === undefined ? 'null' : sortValue(d, resource, sort.field)
  const present = `
    select r.position as entry, r.sort, r.id, ${by} as by_field from ${from} r
    where ${isListed.join(' and ')}`
  const order = orderOf(selection, hasPast)
  const lineage = `coalesce((${lineageSql(resource, company)}), '') as lineage`
  if (lastVersion === undefined) {
    const sql = `select ${lineage}, ${d.numbers(present, order)} as entries, null as past`
    return { sql, values: parameters.values }
  }
  const wasListed = [
    `p.company_id = ${company} and p.until > ${lastVersion} and p.version <= ${lastVersion}`,
    ...conditions(
      selection,
      (field) => ({
        expression: pastExpression(d, resource, field),
        convert: convertFor(resource, field),
      }),
      parameters,
    ),
  ]
  const pastBy = sort === undefined ? 'null' : pastExpression(d, resource, sort.field)
  const sql = `
    with past as (
      select - row_number() over (order by p.until, p.id) as entry, p.sort, p.id,
        ${pastBy} as by_field, p.until
      from ${name}_past p where ${wasListed.join(' and ')}
    )
    select ${lineage},
      ${d.numbers(`${present} union all select entry, sort, id, by_field from past`, order)}
        as entries,
      ${d.pairs('past', 'until', 'id', 'entry desc')} as past`
  return { sql, values: parameters.values }
}

/** The view that a query has returned. */
export function viewOf(d: Dialect, [row]: readonly Row[]): View {
  if (row === undefined) throw new Error('a view has one row')
  return {
    lineage: String(row['lineage']),
    entries: d.numbersOf(row['entries'] ?? null),
    past: JSON.parse(String(row['past'] ?? '[]')) as [number, number][],
  }
}

/** SQL for the lineage of a listing's present state. */
export function lineageSql({ name }: Resource, company: string): string {
  return `
    select i.lineage from companies c
    left join heads h on h.company_id = c.id and h.resource = '${name}'
    join imports i on i.version = coalesce(h.version, c.version)
    where c.id = ${company}`
}

/** The order of a selection, over `entry`, `sort`, `id` and `by_field`. */
function orderOf({ resource, sort }: Selection, hasPast: boolean): string {
  const direction = (sort ?? resource.order).direction === 'descending' ? 'desc' : 'asc'
  if (sort === undefined) {
    // Positions are in that order: nothing has to be sorted.
    return hasPast ? `sort ${direction}, id ${direction}` : `entry ${direction}`
  }
  return `by_field ${direction} nulls last, id ${direction}`
}

/** Collects values under names that make no part of a request part of the SQL (invariant 4). */
function createParameters() {
  const values: Record<string, Value> = {}
  return {
    values,
    add(value: Value): string {
      const name = `p${Object.keys(values).length + 1}`
      values[name] = value
      return `$${name}`
    },
  }
}

type Parameters = ReturnType<typeof createParameters>

/** How a field's value is found, and converted to that form. */
interface FieldValue {
  readonly expression: string
  convert(value: Value): Value
}

function conditions(
  { filters }: Selection,
  valueOf: (field: string) => FieldValue,
  parameters: Parameters,
): string[] {
  return filters.map((filter) => condition(filter, valueOf(filter.field), parameters))
}

function condition({ anyOf }: Filter, value: FieldValue, parameters: Parameters): string {
  const { expression } = value
  const parameter = (bound: string | number) => parameters.add(value.convert(bound))
  const single: string[] = []
  const alternatives: string[] = []
  for (const one of anyOf) {
    if (one === null) alternatives.push(`${expression} is null`)
    else if (one.from === one.to && one.from !== undefined) single.push(parameter(one.from))
    else alternatives.push(between(expression, one, parameter))
  }
  if (single.length > 0) alternatives.push(`${expression} in (${single.join(', ')})`)
  return `(${alternatives.join(' or ')})`
}

function between(
  expression: string,
  { from, to }: Interval,
  parameter: (bound: string | number) => string,
): string {
  const lower = from === undefined ? [] : [`${expression} >= ${parameter(from)}`]
  const upper = to === undefined ? [] : [`${expression} <= ${parameter(to)}`]
  return `(${[...lower, ...upper].join(' and ')})`
}

/** The column that has a field's value; undefined if only the text has it. */
function ownColumn(resource: Resource, field: string): string | undefined {
  if (field === 'id') return 'id'
  if (field === resource.order.by) return 'sort'
  return filterColumns(resource).find((one) => one.field === field)?.column
}

function presentValue(resource: Resource, field: string): FieldValue {
  const column = ownColumn(resource, field)
  if (column === undefined) throw new Error(`${resource.name} cannot be filtered by ${field}`)
  return { expression: `r.${column}`, convert: convertFor(resource, field) }
}

function sortValue(d: Dialect, resource: Resource, field: string): string {
  const column = ownColumn(resource, field)
  return column === undefined ? d.jsonValue('r.record', field) : `r.${column}`
}

/** Past states have no columns of filters: there are few of them in a listing. */
function pastExpression(d: Dialect, resource: Resource, field: string): string {
  if (field === 'id') return 'p.id'
  if (field === resource.order.by) return 'p.sort'
  return filterOf(d, resource, field, 'p.record')
}

/** The order's timestamps are kept as text, others as a number. */
function convertFor({ order }: Resource, field: string): (value: Value) => Value {
  if (field !== order.by) return (value) => value
  return (value) => `${new Date(Number(value) * 1_000).toISOString().slice(0, 19)}Z`
}
