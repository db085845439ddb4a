// The course of an import: read, check, stage, merge, commit, report.

import type { Resource } from '../resources/resource.ts'
import type {
  Earlier,
  ImportCounts,
  ImportPlan,
  LoggedDifference,
  Merged,
} from '../store/importing.ts'
import type { ImportSession } from '../store/loading/session.ts'
import type { StoreWriter } from '../store/writing.ts'
import { OperatorError } from '../config/operator-error.ts'
import { missingColumn } from '../files/check-columns.ts'
import { collectColumns, type Columns } from './rows/column-facts.ts'
import { extractRails } from './earlier-imports.ts'
import {
  judge,
  latestMoment,
  type Permissions,
  refuseDay,
  rowRails,
  warnOfLikeSource,
} from './guard-rails.ts'
import type { ImportTarget } from './import-targets.ts'
import { changeRails, warningsOf } from './judge-change.ts'
import { type Progress, watchProgress } from './progress.ts'
import { openSource, type Source } from '../files/read-source.ts'
import { recordingOf } from './record-changes.ts'
import { describeProblem, type PlacedRow, type Problem, Refusal } from '../files/refusal.ts'
import { collectProblems, type Problems, type RefusedKind } from './rows/refused-kinds.ts'
import { rowChecker } from './rows/check-rows.ts'
import type { ImportedFile, SourceFile, TextRules } from '../files/source-file.ts'

export interface ImportRequest extends Pick<
  ImportPlan,
  | 'source'
  | 'isSourceAssumed'
  | 'nameAttribute'
  | 'isSnapshot'
  | 'knownCompaniesOnly'
  | 'asOf'
  | 'recipe'
  | 'onWait'
> {
  readonly target: ImportTarget
  readonly files: readonly SourceFile[]
  readonly mapping: string | undefined
  /** Folders whose files a mapping may read besides the source files. */
  readonly mappingFolders: readonly string[]
  /** Whether to refuse what would otherwise be a warning. */
  readonly isStrict?: boolean
  readonly isDryRun: boolean
  /** How the texts of the files are prepared. */
  readonly texts: TextRules
  /** What is intended, although it looks like a mistake; nothing by default. */
  readonly permissions?: Partial<Permissions>
  /** The resource that records the changes; undefined to record none. */
  readonly recordIn: Resource | undefined
  /** Whether it is the next extract, by the recipe of its source. */
  readonly isUpdate?: boolean
  /** Receives each refused row; if undefined, one refused row refuses the whole import. */
  readonly onRejected: ((rejected: RejectedRow) => void) | undefined
  /** Called before the commit, from when on the refused rows must not be lost. */
  readonly keepRejected?: (() => void) | undefined
  readonly onProgress: (progress: Progress) => void
  /** Whether the first value of an attribute is recorded as a change. */
  readonly isFirstRecorded?: boolean
  /** Receives the report of an import that is refused for what it would change, before it is. */
  readonly onRefused?: (report: ImportReport) => void
  /** Receives a warning, before anything is committed. */
  readonly onWarning?: (warning: string) => void
  /** Aborts the import, which then changes nothing. */
  readonly signal: AbortSignal
}

/** A refused row with its content: as read, or as checked if the store refused it. */
export interface RejectedRow extends Problem {
  readonly row: unknown
}

/** What an import changes. */
export interface Change {
  readonly counts: ImportCounts
  readonly difference: LoggedDifference
}

export interface ImportReport extends Change {
  /** The registry's new version; undefined if nothing was changed. */
  readonly version: number | undefined
  /** The new entry of the list of what is withheld, if rows have told more of it. */
  readonly listEntry: number | undefined
  /** The first 20 refused rows. */
  readonly problems: readonly Problem[]
  /** All refused rows, grouped by kind; a row with several faults is of several kinds. */
  readonly kinds: readonly RefusedKind[]
  /** The number of refused rows of other kinds, beyond the number of kinds that are listed. */
  readonly unlistedRows: number
  /** The number of refused rows that a mapping does not receive. */
  readonly unreadableRows: number
  readonly files: readonly ImportedFile[]
  readonly elapsedMs: number
}

/** An import under way. */
interface Course {
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

type Commit = Pick<ImportReport, 'version' | 'listEntry'>

/**
 * Imports files into the store, all or nothing.
 *
 * If any row is refused, nothing is changed, unless the request has `onRejected` and there are
 * other rows. The report's `version` tells whether anything was changed.
 *
 * @throws OperatorError if the source cannot be read to its end, something looks like a mistake
 *   (`guard-rails.ts`), or a snapshot has, with `onRejected`, a refused row without an identity;
 *   nothing is changed.
 */
export async function importFiles(
  store: StoreWriter,
  request: ImportRequest,
): Promise<ImportReport> {
  const startedAt = Date.now()
  const { permissions = {} } = request
  const latest = permissions.future === true ? undefined : latestMoment(startedAt)
  refuseDay(request.asOf, latest)
  const progress = watchProgress(request)
  const source = openSource({ ...request, onBytes: progress.onBytes })
  const columns = collectColumns(request, source.unit)
  const problems = collectProblems(request, source.unit)
  const course: Course = { request, source, columns, problems, latest, earlier: undefined }
  const { files } = source.found
  const reportOf = (change: Change, commit?: Commit): ImportReport => {
    const elapsedMs = Date.now() - startedAt
    const none = { version: undefined, listEntry: undefined }
    return { ...none, ...commit, ...change, ...problems.list(), files, elapsedMs }
  }
  const session = await store.beginImport({
    ...planOf(course),
    startedAt,
    onStep: progress.onStep,
  })
  try {
    const { read, refused, unnamed } = await stageRows(session, course, progress.onRows)
    if (refused === read) refuseLacking(course)
    judgeRows(course, read)
    if (unnamed && request.onRejected) throw unnamedRow(unnamed)
    const merged = await session.prepare((problem) => problems.addStaged(problem))
    const change = changeOf(course, merged, { read, refused })
    const isWanted = !isRefused(change.counts, request.onRejected)
    if (isWanted) judgeMerged(course, change, merged, reportOf)
    request.signal.throwIfAborted()
    request.keepRejected?.()
    if (isWanted && !request.isDryRun) {
      const outcome = { ...change, files, attributes: newAttributes(course) }
      return reportOf(change, await session.commit(outcome))
    }
    await session.discard()
    return reportOf(change)
  } catch (error) {
    await session.discard()
    throw error
  }
}

/** Whether refused rows refuse an import: any does, or with `onRejected` only all rows together. */
export function isRefused(
  { read, refused }: ImportCounts,
  onRejected: ImportRequest['onRejected'],
): boolean {
  return refused > 0 && (onRejected === undefined || refused === read)
}

/** Checks and stages all rows. */
async function stageRows(
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
function unnamedRow(problem: Problem): OperatorError {
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

/** Warns of something, or refuses it if warnings are errors. */
function warn(
  { isStrict, onWarning }: ImportRequest,
  warning: string,
  advice = '; if that is intended, leave out --strict',
): void {
  if (isStrict === true) {
    const end = warning.endsWith('?') ? ' Nothing was changed' : '; nothing was changed'
    throw new OperatorError(`${warning}${end}${advice}`)
  }
  onWarning?.(warning)
}

/** @throws OperatorError if the rows together are probably a mistake. */
function judgeRows({ request, columns }: Course, read: number): void {
  judge(rowRails, { ...request, read, columns: columns.names() })
  for (const warning of columns.warnings()) warn(request, warning)
}

/** @throws OperatorError if no row has a column that each must have, as for a table without it. */
function refuseLacking({ request: { target, files, mapping }, columns }: Course): void {
  const all = columns.all()
  const lacking = target.requiredColumns.find((name) => !all.includes(name))
  if (mapping !== undefined || all.length === 0 || lacking === undefined) return
  throw missingColumn(files.map(({ name }) => name).join(', '), lacking, all)
}

function changeOf(
  { source, columns }: Course,
  merged: Merged,
  { read, refused }: Pick<ImportCounts, 'read' | 'refused'>,
): Change {
  const { difference, counts, held } = merged
  const { updated } = counts
  return {
    counts: { ...counts, read, refused: refused + counts.refused },
    difference: {
      rowsOfFiles: source.found.rows,
      known: held,
      updated,
      same: columns.same(),
      ...difference,
    },
  }
}

/** @throws OperatorError if what the import changes is probably a mistake. */
function judgeMerged(
  { request, columns, earlier }: Course,
  change: Change,
  { companiesNamed }: Merged,
  reportOf: (change: Change) => ImportReport,
): void {
  try {
    const judged = { ...request, ...change, companiesNamed, columns: columns.names() }
    if (earlier) judge(changeRails, { ...judged, earlier })
    for (const warning of warningsOf(judged)) warn(request, warning)
  } catch (error) {
    if (error instanceof OperatorError) request.onRefused?.(reportOf(change))
    throw error
  }
}

/** The attributes that the source has for the first time. */
function newAttributes({ columns, earlier }: Course): string[] {
  const known = new Set(earlier?.attributes)
  return columns.names().filter((name) => !known.has(name))
}

/** What the store records of an import. */
function planOf(course: Course) {
  const { request, source } = course
  const { target, recordIn } = request
  const { unit, found } = source
  const known = new Set<string>()
  const isFirst = (attr: string) => request.isFirstRecorded !== true && !known.has(attr)
  return {
    ...request,
    recording: recordIn && recordingOf(target, recordIn, request.source, isFirst),
    fileNames: request.files.map(({ name }) => name),
    onLikeSources(counts: ReadonlyMap<string, number>, sampled: number) {
      const warning = warnOfLikeSource(counts, sampled, request)
      const advice = request.isSourceAssumed ? '' : '; to begin a new source, leave --strict out'
      if (warning !== undefined) warn(request, warning, advice)
    },
    onEarlier(earlier: Earlier, asOf: string | null) {
      course.earlier = earlier
      for (const name of earlier.attributes) known.add(name)
      judge(extractRails, { ...request, files: found.files, asOf, earlier })
    },
    unit,
  }
}
