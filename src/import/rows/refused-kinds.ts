// Groups refusals that differ only in place and value.

import { formatCount } from '../../text/format-count.ts'
import { describeProblem, type Problem } from '../../files/refusal.ts'

/** Rows refused for the same reason in the same field. */
export interface RefusedKind {
  readonly first: Problem
  /** How many rows, including the first. */
  readonly rows: number
  /** Some of their other values as JSON, truncated. */
  readonly otherValues: readonly string[]
}

const kindsMax = 20
const otherValuesMax = 3

/** Collects refusals by kind; only the first 20 kinds, so that memory is bounded. */
export function collectKinds() {
  const kinds = new Map<string, { first: Problem; rows: number; otherValues: string[] }>()
  let unlistedRows = 0
  return {
    /** Adds a row, to the kind of each of its faults. */
    add(problem: Problem): void {
      const { also = [], ...first } = problem
      const { file, unit, number } = first
      const others = also.map((fault) => ({ file, unit, number, ...fault }))
      const isListed = [first, ...others].map(addFault)
      if (!isListed.includes(true)) unlistedRows += 1
    },
    /** The kinds, and the number of rows that have no fault of a listed kind. */
    list: () => ({ kinds: [...kinds.values()], unlistedRows }),
  }

  /** Whether the fault is of a listed kind. */
  function addFault(problem: Problem): boolean {
    const { field, reason, value } = problem
    const name = JSON.stringify([field, reason])
    const kind = kinds.get(name)
    if (kind === undefined) {
      if (kinds.size >= kindsMax) return false
      kinds.set(name, { first: problem, rows: 1, otherValues: [] })
      return true
    }
    kind.rows += 1
    const isOther = value !== undefined && value !== kind.first.value
    if (isOther && kind.otherValues.length < otherValuesMax && !kind.otherValues.includes(value))
      kind.otherValues.push(value)
    return true
  }
}

/** One line: the first row, the number of further rows, and some of their values. */
export function describeKind({ first, rows, otherValues }: RefusedKind): string {
  const more = rows === 2 ? '1 more row' : `${formatCount(rows - 1)} more rows`
  const values = otherValues.length > 0 ? `, also ${otherValues.join(', ')}` : ''
  return describeProblem(first, rows === 1 ? '' : ` (and ${more}${values})`)
}
