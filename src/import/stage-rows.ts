// Checks and stages the rows of an import, and collects those that are refused.

import type { Earlier, Place, StagedProblem } from '../store/importing.ts'
import type { ImportSession } from '../store/loading/session.ts'
import { OperatorError } from '../config/operator-error.ts'
import { problemOf, rowChecker, rowPreparer } from './rows/check-rows.ts'
import type { Columns } from './rows/column-facts.ts'
import type { ImportRequest } from './import-files.ts'
import type { Source } from '../files/read-source.ts'
import { describeProblem, type PlacedRow, type Problem, Refusal } from '../files/refusal.ts'
import { collectKinds } from './rows/refused-kinds.ts'

const problemsShownMax = 20

/** Collects the refused rows of an import. */
export function collectProblems(request: ImportRequest, unit: 'line' | 'row') {
  const shown: Problem[] = []
  const kinds = collectKinds()
  let unreadableRows = 0
  function add(place: Place, refusal: Refusal, row: unknown): Problem {
    const problem = problemOf(request, place, unit, refusal)
    if (shown.length < problemsShownMax) shown.push(problem)
    kinds.add(problem)
    request.onRejected?.({ ...problem, row })
    return problem
  }
  return {
    list: () => ({ problems: shown, ...kinds.list(), unreadableRows }),
    add(placed: PlacedRow, refusal: Refusal): Problem {
      const isReadable = !(placed.row instanceof Refusal)
      if (!isReadable) unreadableRows += 1
      return add(placed, refusal, isReadable ? placed.row : placed.row.row)
    },
    addStaged: ({ field, value, reason, row, ...place }: StagedProblem) => {
      add(place, new Refusal(reason, field, value), request.target.rowOf(row))
    },
  }
}

/** An import under way. */
export interface Course {
  readonly request: ImportRequest
  readonly source: Source
  readonly problems: ReturnType<typeof collectProblems>
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
  const prepare = rowPreparer(request)
  const check = rowChecker(request, latest)
  let read = 0
  let refused = 0
  let unnamed: Problem | undefined
  for await (const batch of source.batches) {
    request.signal.throwIfAborted()
    for (const placed of batch) {
      const { row: given } = placed
      read += 1
      if (!(given instanceof Refusal)) columns.note(given, placed)
      const row = given instanceof Refusal ? given : prepare(given)
      const checked =
        row instanceof Refusal ? row : check(row, row === given ? placed.text : undefined)
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
