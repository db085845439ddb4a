// Records that name the import that they come from, which exposes responses that mix two imports.

import { writeRows } from '../test/support/import-rows.ts'
import type { Ground } from './outcome.ts'

/** The two listings that imports change alternately. */
export const readTargets = ['rights', 'events'] as const
export type ReadTarget = (typeof readTargets)[number]

/** The companies, by their ids; a short form has two of them. */
export function companiesOf({ isShort }: Ground): readonly number[] {
  return isShort ? [1, 2] : [1, 2, 3, 4, 5, 6, 7, 8]
}

/** The state of a listing at a version of the registry. */
export interface ListingState {
  /** The generation of its records. */
  readonly generation: number
  /** The version that made this state. */
  readonly since: number
}

/** Listings shrink and grow from one generation to the next. */
export function totalOf(generation: number): number {
  return 1_000 + (generation % 7) * 10
}

const kinds = ['address', 'name', 'status'] as const

/** The kind of event `n`; the number of each kind differs between generations. */
function kindOf(n: number, generation: number): string {
  return n < 100 + (generation % 5) ? kinds[0] : n < 300 ? kinds[1] : kinds[2]
}

/** The `meta` of contract 3.7: the most frequent first. */
export function metaOf(generation: number): { type: string; count: number }[] {
  const counts = new Map<string, number>()
  for (let n = 0; n < totalOf(generation); n++) {
    const kind = kindOf(n, generation)
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
  }
  return [...counts]
    .map(([type, count]) => ({ type, count }))
    .sort((a, b) => b.count - a.count || (a.type < b.type ? -1 : 1))
}

/** Writes the file for the import of a version: the complete listing of every company. */
export function writeGeneration(
  path: string,
  version: number,
  companies: readonly number[],
  target: ReadTarget,
): void {
  const all = companies.flatMap((company) =>
    Array.from({ length: totalOf(version) }, (_, n) => ({ company_id: company, n })),
  )
  const rows = all.map(({ company_id, n }) => {
    const own = { id: company_id * 10_000 + n + 1, company_id }
    const text = `generation ${version}`
    if (target === 'rights') return { ...own, name: text }
    const date = `${new Date(Date.UTC(2000, 0, 1 + n)).toISOString().slice(0, 19)}Z`
    return { ...own, date, attr: kindOf(n, version), after: text }
  })
  writeRows(path, rows)
}
