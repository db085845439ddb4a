// The course of an import: read, check, stage, merge, commit, report.

import type { Resource } from '../resources/resource.ts'
import type {
  Earlier,
  ImportCounts,
  ImportedFile,
  ImportSession,
  ImportStore,
  LikeSource,
  Recipe,
  StagedProblem,
} from '../store/importing.ts'
import type { LockWait } from '../store/lock-wait.ts'
import { OperatorError } from '../operator-error.ts'
import {
  latestMoment,
  type Permissions,
  refuseFuture,
  countToCompare,
  refuseLargeChange,
  refuseNoRows,
  warnOfForgottenSource,
  warnOfMisspeltSource,
} from './guard-rails.ts'
import { refuseRepeated } from './earlier-imports.ts'
import type { ImportTarget } from './import-target.ts'
import { problemOf, rowChecker } from './check-rows.ts'
import { openSource, type PlacedRow, type Source } from './read-source.ts'
import { recordingOf } from './record-changes.ts'
import { describeProblem, type Problem, Refusal } from './refusal.ts'
import { isBlank } from './normalise.ts'
import type { CheckRow } from './check-record.ts'
import { collectKinds, type RefusedKind } from './refused-kinds.ts'
import type { SourceFile } from './source-file.ts'

/** What to import, and how. */
export interface ImportRequest {
  readonly target: ImportTarget
  readonly files: readonly SourceFile[]
  readonly mapping: string | undefined
  /** Folders whose files a mapping may read besides the source files; none by default. */
  readonly mappingFolders?: readonly string[] | undefined
  readonly source: string
  /** Whether the source was not named, and may be another one. */
  readonly isSourceAssumed?: boolean
  /** Whether to refuse what is otherwise warned of. */
  readonly isStrict?: boolean
  /** The attribute with the names of companies, kept for the source; unchanged if undefined. */
  readonly nameAttribute?: string | undefined
  readonly isSnapshot: boolean
  readonly isDryRun: boolean
  /** Whether to remove the blanks around texts. */
  readonly isTrimmed?: boolean
  /** Texts of the files that mean null; none by default. */
  readonly nulls?: readonly string[] | undefined
  /** What is meant, although it looks like a mistake; nothing by default. */
  readonly permissions?: Partial<Permissions>
  readonly knownCompaniesOnly: boolean
  /** The day of the extract in its wire form; undefined if only rows may state it. */
  readonly asOf: string | undefined
  /** The resource that records the changes; undefined to record none. */
  readonly recordIn: Resource | undefined
  /** Kept in the log, for the next import. */
  readonly recipe?: Recipe | undefined
  /** Whether it is the next extract, by the recipe of its source. */
  readonly isUpdate?: boolean
  /** Receives each refused row; if undefined, one refused row refuses the whole import. */
  readonly onRejected: ((rejected: RejectedRow) => void) | undefined
  readonly onProgress: (progress: Progress) => void
  /** Receives a warning, before anything is committed. */
  readonly onWarning?: (warning: string) => void
  readonly onWait: LockWait['onWait']
  /** Aborts the import, which then changes nothing. */
  readonly signal: AbortSignal
}

/** The progress of an import. */
export interface Progress {
  /** `reading`, then the parts of the merge. */
  readonly step: string
  /** Rows so far. */
  readonly count: number
  /** The share of the import that is done, from 0 to 1; NaN while a size is unknown. */
  readonly done: number
}

/** The share of an import's time that reading takes: as in a first load of records. */
const readingShare = 0.45

/** A refused row with its content: as read, or as checked if the store refused it. */
export interface RejectedRow extends Problem {
  readonly row: unknown
}

/** The outcome of an import. */
export interface ImportReport {
  /** The registry's new version; undefined if nothing was changed. */
  readonly version: number | undefined
  readonly counts: ImportCounts
  /** The first 20 refused rows. */
  readonly problems: readonly Problem[]
  /** All refused rows, grouped by kind; a row with several faults is of several kinds. */
  readonly kinds: readonly RefusedKind[]
  /** The number of refused rows that are of none of them, as there are too many kinds. */
  readonly unlistedRows: number
  readonly files: readonly ImportedFile[]
  readonly elapsedMs: number
}

const problemsShownMax = 20

/**
 * Imports files into the store, all or nothing.
 *
 * If any row is refused, nothing is changed, unless the request has `onRejected`. The report's
 * `version` says whether anything was changed.
 *
 * @throws OperatorError if the source cannot be read to its end, something looks like a mistake
 *   (`guard-rails.ts`), or a snapshot has, with `onRejected`, a refused row without an identity;
 *   nothing is changed.
 */
export async function importFiles(
  store: ImportStore,
  request: ImportRequest,
): Promise<ImportReport> {
  const startedAt = Date.now()
  const { permissions = {} } = request
  const latest = permissions.future === true ? undefined : latestMoment(startedAt)
  if (latest !== undefined) refuseFuture(request.asOf, latest)
  const progress = watchProgress(request)
  const source = openFiles(request, progress.onBytes)
  const session = await store.beginImport({
    ...planOf(request, source),
    startedAt,
    onStep: progress.onStep,
  })
  const problems = collectProblems(request, source.unit)
  try {
    const hasNames = request.nameAttribute === undefined
    const staging = { session, source, request, problems, latest, hasNames }
    const { read, refused, unnamed } = await stageRows(staging, progress.onRows)
    if (read > 0 && !staging.hasNames) throw noNames(request.nameAttribute)
    refuseNoRows(read, request.isSnapshot, permissions)
    if (unnamed && request.onRejected) throw unnamedRow(unnamed)
    const merged = await session.prepare((problem) => problems.addStaged(problem))
    const counts = { ...merged, read, refused: refused + merged.refused }
    const isWanted = counts.refused === 0 || request.onRejected !== undefined
    if (isWanted && permissions.accepted !== true) await judgeChange(session, request, counts)
    request.signal.throwIfAborted()
    const version =
      isWanted && !request.isDryRun ? await session.commit(counts, source.files) : undefined
    if (version === undefined) await session.discard()
    const elapsedMs = Date.now() - startedAt
    const { shown, kinds, unlistedRows } = problems
    const lists = { problems: shown, kinds: kinds(), unlistedRows: unlistedRows() }
    return { version, counts, ...lists, files: source.files, elapsedMs }
  } catch (error) {
    await session.discard()
    throw error
  }
}

function openFiles(request: ImportRequest, onBytes: (bytes: number) => void): Source {
  const { target, isTrimmed = false, nulls = [] } = request
  return openSource({
    files: request.files,
    mapping: request.mapping,
    texts: { isTrimmed, nulls },
    mappingFolders: request.mappingFolders ?? [],
    columns: target.sourceColumns,
    requiredColumns: target.requiredColumns,
    onBytes,
    signal: request.signal,
  })
}

/** What the store is told of an import. */
function planOf(request: ImportRequest, { unit, files }: Source) {
  const { target, recordIn, recipe, isUpdate = false, permissions = {} } = request
  return {
    ...request,
    nameAttribute: request.nameAttribute,
    recording: recordIn && recordingOf(target, recordIn, request.source),
    onLikeSources: likeSourceWarner(request),
    onEarlier(earlier: Earlier, asOf: string | null) {
      if (permissions.accepted === true) return
      refuseRepeated(earlier, { ...request, target: target.name, files, asOf, recipe, isUpdate })
    },
    unit,
    isDayNeeded: target.history !== undefined && permissions.noDay !== true,
  }
}

/** @throws OperatorError if the import changes so much that it is probably a mistake. */
async function judgeChange(
  session: ImportSession,
  { isSnapshot }: ImportRequest,
  counts: ImportCounts,
): Promise<void> {
  const most = isSnapshot ? undefined : countToCompare(counts)
  // What the import itself has inserted is counted, too.
  const held = most === undefined ? 0 : await session.countHeld(most + counts.inserted)
  refuseLargeChange(counts, held - counts.inserted)
}

/** Warns of a source that was probably forgotten or misspelt. */
function likeSourceWarner({ source, isSourceAssumed, isStrict, onWarning }: ImportRequest) {
  const isAssumed = isSourceAssumed === true
  const warningOf = isAssumed ? warnOfForgottenSource : warnOfMisspeltSource
  const advice = isAssumed ? '' : '; to begin a new source, leave --strict out'
  return (likes: readonly LikeSource[]) => {
    const warning = warningOf(likes, source)
    if (warning === undefined) return
    if (isStrict === true) throw new OperatorError(`${warning}; nothing was changed${advice}`)
    onWarning?.(warning)
  }
}

/** Combines what is read with the parts of the merge. */
function watchProgress({ files, onProgress }: ImportRequest) {
  const totalBytes = files.reduce((sum, { size }) => sum + (size ?? NaN), 0)
  let bytes = 0
  let count = 0
  return {
    onBytes: (read: number) => void (bytes += read),
    onRows: (rows: number) => {
      count = rows
      onProgress({ step: 'reading', count, done: readingShare * (bytes / totalBytes) })
    },
    onStep: (step: string, done: number) =>
      onProgress({ step, count, done: readingShare + (1 - readingShare) * done }),
  }
}

interface Problems {
  readonly shown: Problem[]
  readonly kinds: () => readonly RefusedKind[]
  readonly unlistedRows: () => number
  add(row: PlacedRow, refusal: Refusal): Problem
  addStaged(problem: StagedProblem): void
}

function collectProblems(request: ImportRequest, unit: 'line' | 'row'): Problems {
  const shown: Problem[] = []
  const kinds = collectKinds()
  function add(file: number, number: number, refusal: Refusal, row: unknown): Problem {
    const problem = problemOf(request, { file, number, unit, row }, refusal)
    if (shown.length < problemsShownMax) shown.push(problem)
    kinds.add(problem)
    request.onRejected?.({ ...problem, row })
    return problem
  }
  return {
    shown,
    kinds: () => kinds.list(),
    unlistedRows: () => kinds.unlistedRows(),
    add: ({ file, number, row }, refusal) => {
      return add(file, number, refusal, row instanceof Refusal ? (row.value ?? null) : row)
    },
    addStaged: ({ file, number, field, value, reason, row }) => {
      add(file, number, new Refusal(reason, field, value), request.target.rowOf(row))
    },
  }
}

interface Staging {
  readonly session: ImportSession
  readonly source: Source
  readonly request: ImportRequest
  readonly problems: Problems
  /** The latest day that a row may have; undefined for any. */
  readonly latest: string | undefined
  /** Whether a row so far has the attribute with names, if that was given. */
  hasNames: boolean
}

/** Notes whether a row has the attribute with names. */
function noteNames(staging: Staging, check: CheckRow): CheckRow {
  const attribute = staging.request.nameAttribute
  if (attribute === undefined) return check
  return (row) => {
    if (!isBlank(row[attribute])) staging.hasNames = true
    return check(row)
  }
}

function noNames(attribute = ''): OperatorError {
  return new OperatorError(
    `no row has ${attribute}; check --name-attribute, which names the column with the names`,
  )
}

async function stageRows(
  staging: Staging,
  onRows: (rows: number) => void,
): Promise<{ read: number; refused: number; unnamed: Problem | undefined }> {
  const { session, source, request, problems } = staging
  const check = noteNames(staging, rowChecker(request, staging.latest))
  let read = 0
  let refused = 0
  let unnamed: Problem | undefined
  for await (const batch of source.batches) {
    request.signal.throwIfAborted()
    for (const placed of batch) {
      const { row } = placed
      const checked = row instanceof Refusal ? row : check(row)
      if (checked instanceof Refusal) {
        refused += 1
        const problem = problems.add(placed, checked)
        const isNamed = !request.isSnapshot || (await stageRefused(session, request, placed))
        if (!isNamed) unnamed ??= problem
      } else {
        // Awaits only a promise, because this runs for every row.
        const staged = session.stage(placed, checked)
        if (staged !== undefined) await staged
      }
    }
    read += batch.length
    onRows(read)
  }
  return { read, refused, unnamed }
}

function unnamedRow(problem: Problem): OperatorError {
  return new OperatorError(
    `${describeProblem(problem)}. This row does not identify its record, which the ` +
      'snapshot would remove; fix such rows, or import without --snapshot',
  )
}

/** Stages the identity of a refused row, so that its record is kept; false if it has none. */
async function stageRefused(
  session: ImportSession,
  request: ImportRequest,
  placed: PlacedRow,
): Promise<boolean> {
  if (placed.row instanceof Refusal) return false
  const identity = request.target.identify(placed.row)
  if (identity) await session.stageRefused(placed, identity)
  return identity !== undefined
}
