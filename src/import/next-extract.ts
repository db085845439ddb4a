// When the next extract of a source is due: after the usual interval, if there is one.

import type { SourceImport } from '../store/inspecting.ts'

const dayMs = 86_400_000
/** How many intervals must agree, and how many of the last ones are considered. */
const intervalsMin = 2
const intervalsMax = 6
/** How far an interval may be from the usual one. */
const tolerance = 1 / 4

/**
 * @param imports in the order of their versions.
 * @returns milliseconds since 1970; undefined if the intervals were not regular.
 */
export function nextExtract(imports: readonly SourceImport[]): number | undefined {
  const isDated = imports.every(({ asOf }) => asOf !== undefined)
  const moments = imports.map(({ asOf, committedAt }) =>
    isDated ? Date.parse(String(asOf)) : committedAt,
  )
  const intervals = moments
    .map((moment, n) => moment - (moments[n - 1] ?? moment))
    // A part of an extract, or the same one again.
    .filter((interval) => interval >= dayMs / 24)
    .slice(-intervalsMax)
  const usual = intervals.toSorted((a, b) => a - b)[Math.floor(intervals.length / 2)]
  const last = moments.at(-1)
  if (usual === undefined || last === undefined || intervals.length < intervalsMin) return undefined
  const isRegular = intervals.every((interval) => Math.abs(interval - usual) <= usual * tolerance)
  return isRegular ? last + usual : undefined
}
