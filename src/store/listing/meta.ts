// `meta` of a listing: how many of its records have each type (contract 3.7).

import type { SegmentIndex } from './segment.ts'
import type { ListingShape } from './shape.ts'

/** How many records of a segment have each type; empty for a shape without `meta`. */
export function countTypes({ metaColumn }: ListingShape, index: SegmentIndex): Map<string, number> {
  const counts = new Map<string, number>()
  const column = metaColumn === undefined ? undefined : index.columns[metaColumn]
  if (column?.type !== 'text') return counts
  const byCode = new Uint32Array(column.values.length + 1)
  for (const code of column.codes) byCode[code] = (byCode[code] ?? 0) + 1
  for (const [n, type] of column.values.entries()) {
    const count = byCode[n + 1] ?? 0
    if (count > 0) counts.set(type, count)
  }
  return counts
}

/** The JSON text of `meta`: by count descending, then by the bytes of the type. */
export function metaText(counts: ReadonlyMap<string, number>): string {
  const sorted = [...counts].sort(
    ([a, countOfA], [b, countOfB]) =>
      countOfB - countOfA || Buffer.compare(Buffer.from(a), Buffer.from(b)),
  )
  const entries = sorted.map(([type, count]) => {
    return `{"type":${JSON.stringify(type)},"count":${count}}`
  })
  return `[${entries.join(',')}]`
}

export function parseMeta(text: string): Map<string, number> {
  const entries = JSON.parse(text) as readonly { readonly type: string; readonly count: number }[]
  return new Map(entries.map(({ type, count }) => [type, count]))
}

/** Adds to the count of a type, which goes at 0; null is no type. */
export function addToCount(counts: Map<string, number>, type: unknown, by: number): void {
  if (typeof type !== 'string') return
  const now = (counts.get(type) ?? 0) + by
  if (now > 0) counts.set(type, now)
  else counts.delete(type)
}
