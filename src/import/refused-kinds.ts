// Refusals that are equal but for their place and value are told together.

import { describeProblem, type Problem } from './refusal.ts'

/** Rows that were refused for the same reason in the same field. */
export interface RefusedKind {
  readonly first: Problem
  /** How many rows, the first included. */
  readonly rows: number
  /** Some of their other values as JSON, cut short. */
  readonly otherValues: readonly string[]
}

const kindsMax = 20
const otherValuesMax = 3

/** Collects refusals by kind: the first 20 kinds, however many rows there are. */
export function collectKinds() {
  const kinds = new Map<string, { first: Problem; rows: number; otherValues: string[] }>()
  return {
    add(problem: Problem): void {
      const { field, reason, value } = problem
      const name = JSON.stringify([field, reason])
      const kind = kinds.get(name)
      if (kind === undefined) {
        if (kinds.size < kindsMax) kinds.set(name, { first: problem, rows: 1, otherValues: [] })
        return
      }
      kind.rows += 1
      const isOther = value !== undefined && value !== kind.first.value
      if (isOther && kind.otherValues.length < otherValuesMax && !kind.otherValues.includes(value))
        kind.otherValues.push(value)
    },
    list: (): readonly RefusedKind[] => [...kinds.values()],
  }
}

/** One line: that of the first row, and how many more there are, with some of their values. */
export function describeKind({ first, rows, otherValues }: RefusedKind): string {
  const more = rows === 2 ? '1 more row' : `${(rows - 1).toLocaleString('en')} more rows`
  const values = otherValues.length > 0 ? `, also ${otherValues.join(', ')}` : ''
  return describeProblem(first, rows === 1 ? '' : ` (and ${more}${values})`)
}
