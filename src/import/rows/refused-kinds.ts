// Collects the refused rows of an import, and groups those that differ only in place and value.

import { formatCount } from '../../text/format-count.ts'
import { describeProblem, type PlacedRow, type Problem, Refusal } from '../../files/refusal.ts'
import type { Place, StagedProblem } from '../../store/importing.ts'
import type { ImportRequest } from '../import-files.ts'
import { problemOf, type RowRequest } from './check-rows.ts'

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
const problemsMax = 20

export type Problems = ReturnType<typeof collectProblems>

/** Collects refused rows: the first 20, and all by kind; only 20 kinds, so memory is bounded. */
export function collectProblems(
  request: RowRequest & Pick<ImportRequest, 'onRejected'>,
  unit: Problem['unit'],
) {
  const problems: Problem[] = []
  const kinds = new Map<string, { first: Problem; rows: number; otherValues: string[] }>()
  let unlistedRows = 0
  let unreadableRows = 0

  function add(place: Place, refusal: Refusal, row: unknown): Problem {
    const problem = problemOf(request, place, unit, refusal)
    if (problems.length < problemsMax) problems.push(problem)
    const { also = [], ...first } = problem
    const { file, number } = first
    const others = also.map((fault) => ({ file, unit, number, ...fault }))
    const isListed = [first, ...others].map(addFault)
    if (!isListed.includes(true)) unlistedRows += 1
    request.onRejected?.({ ...problem, row })
    return problem
  }

  /** Adds a row to the kind of a fault, unless there are too many kinds. */
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

  return {
    /** The kinds, too, and the number of rows that have no fault of a listed kind. */
    list: () => ({ problems, kinds: [...kinds.values()], unlistedRows, unreadableRows }),
    add(placed: PlacedRow, refusal: Refusal): Problem {
      const isReadable = !(placed.row instanceof Refusal)
      if (!isReadable) unreadableRows += 1
      return add(placed, refusal, isReadable ? placed.row : placed.row.row)
    },
    addStaged({ field, value, reason, row, ...place }: StagedProblem): void {
      add(place, new Refusal(reason, field, value), request.target.rowOf(row))
    },
  }
}

/** One line: the first row, the number of further rows, and some of their values. */
export function describeKind({ first, rows, otherValues }: RefusedKind): string {
  const more = rows === 2 ? '1 more row' : `${formatCount(rows - 1)} more rows`
  const values = otherValues.length > 0 ? `, also ${otherValues.join(', ')}` : ''
  return describeProblem(first, rows === 1 ? '' : ` (and ${more}${values})`)
}
