// The data of a timeline: single changes where they are few; where they are many, the moments that
// part each kind's changes into equal numbers. A page is as cheap at any depth, so the moments of
// 25 places tell how 250,000 changes are spread, and none of them is an estimate.

import { type ListingAnswer, metaOf, type MetaEntry, rowsOf } from '../answers.ts'
import { type AskOptions, ask, requestsLeft } from '../api.ts'
import { listingPath, selectionQuery, versionNames } from '../listing-query.ts'
import { loadAll } from '../load-all.ts'
import { withQuery } from '../place.ts'
import type { ResourceDescription, Row } from '../resources.ts'

/** Up to this many changes are drawn one by one. */
export const singleMax = 1_000
const lanesMax = 8
const binsUsual = 24
const binsMin = 4
/** A lane with fewer changes has no bars. */
const fewMax = 60

export interface Mark {
  /** Milliseconds since 1970. */
  readonly ms: number
  readonly row: Row
}

/** Changes between two moments, in milliseconds since 1970. */
export interface Bin {
  readonly from: number
  readonly to: number
  readonly count: number
}

/** The changes of one kind: marks or bins. */
export interface Lane {
  readonly kind: string
  readonly count: number
  readonly marks: readonly Mark[]
  readonly bins: readonly Bin[]
}

export interface Timeline {
  readonly lanes: readonly Lane[]
  /** How many kinds have no lane. */
  readonly others: number
}

/** A company's listing of changes, and what of it is selected. */
export interface TimelineRequest {
  readonly id: string
  readonly resource: ResourceDescription
  readonly query: URLSearchParams
  readonly answer: ListingAnswer
  /** The version of the answer. */
  readonly version: number | undefined
}

export async function loadTimeline(
  request: TimelineRequest,
  options: AskOptions,
): Promise<Timeline> {
  const { resource, answer } = request
  const { changeFields, metaOf: kindField = '' } = resource
  if (changeFields === undefined) return { lanes: [], others: 0 }
  const query = fixedQuery(request)
  const momentOf = (row: Row) => Date.parse(String(row[changeFields.date]))
  if (answer.pagination_total <= singleMax) {
    const { rows } = await loadAll(request.id, resource, query, options)
    return { lanes: lanesOf(rows, kindField, momentOf), others: 0 }
  }
  const chosen = query.getAll(kindField)
  const kinds = metaOf(answer).filter(({ type }) => chosen.length === 0 || chosen.includes(type))
  const drawn = kinds.slice(0, lanesMax)
  const bins = binsFor(drawn.length)
  const lanes = await Promise.all(
    drawn.map((kind) => loadLane(request, { kind, kindField, bins, momentOf }, options)),
  )
  return { lanes: lanes.filter(({ count }) => count > 0), others: kinds.length - drawn.length }
}

/** All requests are of one version and of the same selection. */
function fixedQuery({ query, version }: TimelineRequest): URLSearchParams {
  const selection = selectionQuery(query)
  const isFixed = versionNames.some((name) => selection.has(name))
  if (isFixed || version === undefined) return selection
  return withQuery(selection, { version: String(version) })
}

/** Takes at most a quarter of the requests that the key has left. */
function binsFor(lanes: number): number {
  const share = Math.floor(requestsLeft() / 4 / Math.max(1, lanes))
  return Math.max(binsMin, Math.min(binsUsual, share))
}

type MomentOf = (row: Row) => number

function lanesOf(rows: readonly Row[], kindField: string, momentOf: MomentOf): Lane[] {
  const byKind = Map.groupBy(rows, (row) => String(row[kindField]))
  return [...byKind]
    .map(([kind, some]) => {
      const marks = some.map((row) => ({ ms: momentOf(row), row })).toSorted((a, b) => a.ms - b.ms)
      return { kind, count: marks.length, marks, bins: [] }
    })
    .toSorted((a, b) => b.count - a.count)
}

interface LanePlan {
  readonly kind: MetaEntry
  readonly kindField: string
  readonly bins: number
  readonly momentOf: MomentOf
}

async function loadLane(
  request: TimelineRequest,
  { kind, kindField, bins, momentOf }: LanePlan,
  options: AskOptions,
): Promise<Lane> {
  const { id, resource } = request
  const query = withQuery(fixedQuery(request), { [kindField]: kind.type })
  const pageAt = async (page: number, limit: number) => {
    const paged = withQuery(query, { page: String(page), limit: String(limit) })
    return (await ask<ListingAnswer>(listingPath(id, resource, paged), options)).body
  }
  const newest = await pageAt(1, 1)
  const count = newest.pagination_total
  if (count <= fewMax) {
    const rows = rowsOf(resource, count <= 1 ? newest : await pageAt(1, fewMax))
    const [lane] = lanesOf(rows, kindField, momentOf)
    return lane ?? { kind: kind.type, count: 0, marks: [], bins: [] }
  }
  // Newest first: the moments at equal distances, from the newest change to the oldest.
  const places = Array.from({ length: bins + 1 }, (_, n) => Math.round(((count - 1) * n) / bins))
  const moments = await Promise.all(
    places.map(async (place) => {
      const [row] = rowsOf(resource, place === 0 ? newest : await pageAt(place + 1, 1))
      return row === undefined ? NaN : momentOf(row)
    }),
  )
  const parts = places.slice(1).map((place, n) => ({
    from: moments[n + 1] ?? NaN,
    to: moments[n] ?? NaN,
    // The oldest change belongs to the last part.
    count: place - (places[n] ?? 0) + (n === bins - 1 ? 1 : 0),
  }))
  return { kind: kind.type, count, marks: [], bins: parts.toReversed() }
}
