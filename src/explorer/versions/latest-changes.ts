// When the values of sources last changed, according to the newest recorded changes of a company.

import { type Company, type ListingAnswer, rowsOf } from '../answers.ts'
import { listingPath } from '../listing/listing-query.ts'
import { changesResource, type Row } from '../resources.ts'
import { type Loaded, useAnswer } from '../use-answer.ts'

/** How many changes are examined: one request of some kilobytes. */
const lookedAt = 250

/** The newest changes of a company's attributes, newest first. */
export interface LatestChange {
  readonly attribute: string
  /** In wire form. */
  readonly date: string
  readonly before: string | null
  readonly after: string | null
}

interface LoadedChanges {
  /** Undefined until they are known. */
  readonly changes: readonly LatestChange[] | undefined
  /** The request for them. */
  readonly loaded: Loaded<unknown>
}

/**
 * The newest changes, as far as the key may read them.
 *
 * @param version undefined for the present.
 */
export function useLatestChanges(
  id: string,
  company: Company | undefined,
  version: number | undefined,
): LoadedChanges {
  const listing =
    changesResource === undefined ? undefined : company?.listings[changesResource.name]
  const query = new URLSearchParams({ limit: String(lookedAt) })
  if (version !== undefined) query.set('version', String(version))
  const path =
    changesResource === undefined || listing === undefined || listing.total === 0
      ? undefined
      : listingPath(id, changesResource, query)
  const loaded = useAnswer<ListingAnswer>(path)
  const isNone = loaded.failure !== undefined || (path === undefined && company !== undefined)
  return { changes: isNone ? [] : changesIn(loaded.value?.body), loaded }
}

function changesIn(answer: ListingAnswer | undefined): readonly LatestChange[] | undefined {
  const fields = changesResource?.changeFields
  if (answer === undefined || changesResource === undefined || fields === undefined)
    return undefined
  return rowsOf(changesResource, answer).map((row) => ({
    attribute: String(row[fields.attr]),
    date: String(row[fields.date]),
    before: textIn(row, fields.before),
    after: textIn(row, fields.after),
  }))
}

function textIn(row: Row, field: string): string | null {
  const value = row[field]
  return typeof value === 'string' ? value : null
}

/** The day since which an attribute has had a value, if a change records it. */
export function sinceOf(
  changes: readonly LatestChange[],
  attribute: string,
  value: unknown,
): string | undefined {
  const text = attributeText(value)
  const found = changes.find(
    (one) => one.attribute === attribute && (one.after === text || one.before === text),
  )
  return found?.after === text ? found.date : undefined
}

/** An attribute's value as changes record it. */
function attributeText(value: unknown): string | null {
  if (value === null || value === undefined || value === '') return null
  if (typeof value === 'string') return value
  if (!Array.isArray(value)) return JSON.stringify(value)
  return [...new Set(value.map((one) => attributeText(one) ?? ''))].sort().join('; ')
}

/** A value, and since which day it has been valid, in wire form; undefined if that is not known. */
interface Dated {
  readonly value: string
  readonly since: string | undefined
}

/** The latest value of an attribute, from a source that still lists the company, or a change. */
export function latestOf(
  attribute: string,
  { sources }: Company,
  changes: readonly LatestChange[],
): Dated | undefined {
  const said = sources
    .filter(({ present, attributes }) => present && typeof attributes[attribute] === 'string')
    .map(({ attributes, as_of: asOf }) => {
      const value = String(attributes[attribute])
      const since = sinceOf(changes, attribute, value)
      // Since this day, the source says what it says, but another attribute may have changed then.
      return { value, since, day: since ?? asOf }
    })
  const change = changes.find((one) => one.attribute === attribute)
  const recorded =
    change === undefined || change.after === null
      ? []
      : [{ value: change.after, since: change.date, day: change.date }]
  return [...said, ...recorded].toSorted((a, b) => timeOf(b) - timeOf(a))[0]
}

const timeOf = ({ day }: { readonly day: string | null }) =>
  day === null ? -Infinity : Date.parse(day)
