// The data of a timeline, in few requests however long the history is. Changes that fit into a few
// pages are drawn for each kind, one by one or counted by days. If there are more, the moments at a
// few places divide them into equal numbers: a page is as cheap at any depth, and no number is an
// estimate.

import { type ListingAnswer, metaOf, type MetaEntry, rowsOf } from '../answers.ts'
import { type AskOptions, ask } from '../api.ts'
import {
  isFiltered,
  isOfPast,
  listingPath,
  pageOf,
  selectionQuery,
} from '../listing/listing-query.ts'
import { drawnMax, loadAll } from '../listing/load-all.ts'
import { withQuery } from '../place.ts'
import type { ResourceDescription, Row } from '../resources.ts'
import { dayMs } from './scale.ts'

/** Up to this many changes are drawn one by one. */
const singleMax = 1_000
/** How many kinds have a lane at most. */
export const lanesMax = 8
/** How many bars count changes by days, at most. */
const dayBinsMax = 60
/** How many bars stand for all changes, of any kind. */
const equalBins = 6

export interface Mark {
  /** Milliseconds since 1970. */
  readonly ms: number
  readonly row: Row
}

/** Changes from one moment to another, both in milliseconds since 1970. */
export interface Bin {
  readonly from: number
  readonly to: number
  readonly count: number
}

/** Changes of one kind: marks or bins. */
export interface Lane {
  /** Undefined for changes of several kinds. */
  readonly kind: string | undefined
  readonly count: number
  readonly marks: readonly Mark[]
  readonly bins: readonly Bin[]
}

export interface Timeline {
  /** Whether changes are drawn one by one, counted by days, or divided into equal numbers. */
  readonly form: 'single' | 'days' | 'equal'
  readonly lanes: readonly Lane[]
  /** All selected kinds, with their counts; empty if only the records would show them. */
  readonly kinds: readonly MetaEntry[]
  /** How many kinds have no lane. */
  readonly others: number
}

/** A company's listing of changes, and the selection from it. */
interface TimelineRequest {
  readonly id: string
  readonly resource: ResourceDescription
  readonly query: URLSearchParams
  readonly answer: ListingAnswer
  /** The version of the answer. */
  readonly version: number | undefined
}

type MomentOf = (row: Row) => number

export async function loadTimeline(
  request: TimelineRequest,
  options: AskOptions,
): Promise<Timeline> {
  const { id, resource, answer } = request
  const { changeFields, metaOf: kindField = '' } = resource
  if (changeFields === undefined) return { form: 'single', lanes: [], kinds: [], others: 0 }
  const query = fixedQuery(request)
  const momentOf = (row: Row) => Date.parse(String(row[changeFields.date]))
  if (answer.pagination_total > drawnMax) {
    const chosen = query.getAll(kindField)
    const bins = await loadEqualBins(request, query, momentOf, options)
    const kind = chosen.length === 1 ? chosen[0] : undefined
    const lane = { kind, count: answer.pagination_total, marks: [], bins }
    const kinds = isFiltered(query) ? [] : metaOf(answer)
    return { form: 'equal', lanes: [lane], kinds, others: 0 }
  }
  const { rows } = await loadAll(id, resource, query, options, drawnMax)
  const all = lanesOf(rows, kindField, momentOf)
  const kinds = all.map(({ kind = '', count }) => ({ type: kind, count }))
  const lanes = all.slice(0, lanesMax)
  const others = all.length - lanes.length
  if (rows.length <= singleMax) return { form: 'single', lanes, kinds, others }
  return { form: 'days', lanes: withDays(lanes), kinds, others }
}

/** All requests are of one version and of the same selection. */
function fixedQuery({ query, version }: TimelineRequest): URLSearchParams {
  const selection = selectionQuery(query)
  if (isOfPast(selection) || version === undefined) return selection
  return withQuery(selection, { version: String(version) })
}

/** The changes of each kind, kinds with the most first. */
function lanesOf(rows: readonly Row[], kindField: string, momentOf: MomentOf): Lane[] {
  const byKind = Map.groupBy(rows, (row) => String(row[kindField]))
  return [...byKind]
    .map(([kind, some]) => {
      const marks = some.map((row) => ({ ms: momentOf(row), row })).toSorted((a, b) => a.ms - b.ms)
      return { kind, count: marks.length, marks, bins: [] }
    })
    .toSorted((a, b) => b.count - a.count)
}

/** Counts the marks of all lanes by the same periods of whole days. */
function withDays(lanes: readonly Lane[]): Lane[] {
  const least = Math.min(...lanes.map(({ marks }) => marks[0]?.ms ?? Infinity))
  const most = Math.max(...lanes.map(({ marks }) => marks.at(-1)?.ms ?? -Infinity))
  const begin = Math.floor(least / dayMs) * dayMs
  const days = Math.ceil((most + 1 - begin) / dayMs)
  const widthMs = Math.max(1, Math.ceil(days / dayBinsMax)) * dayMs
  return lanes.map((lane) => {
    const counted = Map.groupBy(lane.marks, ({ ms }) => Math.floor((ms - begin) / widthMs))
    const bins = [...counted]
      .toSorted(([a], [b]) => a - b)
      .map(([index, { length: count }]) => {
        const from = begin + index * widthMs
        return { from, to: from + widthMs - 1, count }
      })
    return { ...lane, marks: [], bins }
  })
}

/** Divides all changes at equal distances, from the newest to the oldest. @param query is fixed. */
async function loadEqualBins(
  { id, resource, query: shown, answer }: TimelineRequest,
  query: URLSearchParams,
  momentOf: MomentOf,
  options: AskOptions,
): Promise<Bin[]> {
  const count = answer.pagination_total
  // The first page in the usual order has the newest change.
  const [newest] = pageOf(shown) === 1 && !shown.has('sort') ? rowsOf(resource, answer) : []
  // This saves a request if another one has fetched the newest change, or the company at present.
  const spent = (newest === undefined ? 1 : 0) + (isOfPast(shown) ? 1 : 0)
  const length = equalBins - spent
  const places = Array.from({ length: length + 1 }, (_, n) =>
    Math.round(((count - 1) * n) / length),
  )
  const moments = await Promise.all(
    places.map(async (place) => {
      if (place === 0 && newest !== undefined) return momentOf(newest)
      const paged = withQuery(query, { page: String(place + 1), limit: '1' })
      const { body } = await ask<ListingAnswer>(listingPath(id, resource, paged), options)
      const [row] = rowsOf(resource, body)
      return row === undefined ? NaN : momentOf(row)
    }),
  )
  return equalBinsOf(places, moments)
}

/** Bins between places, oldest first. */
function equalBinsOf(places: readonly number[], moments: readonly number[]): Bin[] {
  const last = places.length - 2
  const bins = places.slice(1).map((place, n) => ({
    from: moments[n + 1] ?? NaN,
    to: moments[n] ?? NaN,
    // The oldest change belongs to the last bin.
    count: place - (places[n] ?? 0) + (n === last ? 1 : 0),
  }))
  return bins.toReversed()
}
