// Checks and stages the rows of an import, and collects those that are refused.

import type { Earlier } from '../store/importing.ts'
import type { ImportSession } from '../store/loading/session.ts'
import { OperatorError } from '../config/operator-error.ts'
import { rowChecker } from './rows/check-rows.ts'
import type { Columns } from './rows/column-facts.ts'
import type { ImportRequest } from './import-files.ts'
import type { Source } from '../files/read-source.ts'
import { describeProblem, type PlacedRow, type Problem, Refusal } from '../files/refusal.ts'
import type { Problems } from './rows/refused-kinds.ts'

/** An import under way. */
export interface Course {
  readonly request: ImportRequest
  readonly source: Source
  readonly problems: Problems
  /** The latest day that a row may have; undefined for any. */
  readonly latest: string | undefined
  /** Receives each row as it was read. */
  readonly columns: Columns
  /** The earlier imports of the log, once the import has begun to merge. */
  earlier: Earlier | undefined
}

/** Checks and stages all rows. */
export async function stageRows(
  session: ImportSession,
  { request, source, problems, latest, columns }: Course,
  onRows: (rows: number) => void,
): Promise<{ read: number; refused: number; unnamed: Problem | undefined }> {
  const check = rowChecker(request, latest)
  let read = 0
  let refused = 0
  let unnamed: Problem | undefined
  for await (const batch of source.batches) {
    request.signal.throwIfAborted()
    for (const placed of batch) {
      read += 1
      if (!(placed.row instanceof Refusal)) columns.note(placed.row, placed)
      const { row, checked } = check(placed)
      if (checked instanceof Refusal) {
        refused += 1
        const problem = problems.add(placed, checked)
        const isNamed = !request.isSnapshot || stageRefused(session, request, { ...placed, row })
        if (!isNamed) unnamed ??= problem
      } else session.stage(placed, checked)
    }
    onRows(read)
  }
  return { read, refused, unnamed }
}

/** A snapshot cannot keep the record of a row that does not identify it. */
export function unnamedRow(problem: Problem): OperatorError {
  return new OperatorError(
    `${describeProblem(problem)}. This row does not identify its record, which the ` +
      'snapshot would remove; fix such rows, leave them out with a mapping (where …), ' +
      'or import without --snapshot',
  )
}

/** Stages the identity of a refused row, so that its record is kept; false if it has none. */
function stageRefused(session: ImportSession, request: ImportRequest, placed: PlacedRow): boolean {
  if (placed.row instanceof Refusal) return false
  const identity = request.target.identify(placed.row)
  if (identity) session.stageRefused(placed, identity)
  return identity !== undefined
}
