// The course of an import in a store: rows are staged apart, then merged in one transaction.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Resource } from '../../resources/resource.ts'
import type { Awaitable } from '../awaitable.ts'
import type {
  ImportCounts,
  ImportedFile,
  ImportPlan,
  ImportSession,
  MergeCounts,
  Recording,
  StagedProblem,
} from '../importing.ts'
import type { LockWait } from '../lock-wait.ts'
import { assignedIdEnd, assignedIdMin, noteIds, type StagedIds } from './assigned-ids.ts'
import { type Database, readValue, type Row, type Values } from './database.ts'
import { logVersion } from './import-log.ts'
import { keepNames, noteNameAttribute } from './keep-names.ts'
import { tellLikeSources } from './like-source.ts'
import * as merge from './merge.ts'
import { type MergePart, type OnShare, watchParts } from './merge-progress.ts'
import { appendRecords } from './merge-records.ts'
import * as companies from './named-companies.ts'
import { refuseOlder, refuseUndated } from './order-of-extracts.ts'
import { stageDifferences } from './recording.ts'
import type { Stage } from './stage.ts'
import { settleChanges } from './types-limit.ts'

/**
 * A connection for one import, with the tables of `createTables`, and the parts of an import that
 * are specific to a database.
 */
export interface ImportConnection extends Database {
  readonly stage: Stage
  /**
   * Runs a statement that may create a table, with the import's own values (never from outside: not
   * every database can bind them there). Returns the number of changed rows.
   */
  step(sql: string, values: Values): Awaitable<number>
  /** Begins the transaction, as soon as no other process holds the write lock. */
  begin(wait: LockWait): Promise<void>
  /** Commits it. If this throws, nothing was changed, except for UnknownOutcomeError. */
  commit(): Awaitable<void>
  /** Cleans up after the commit; a failure here does not affect the import. */
  settle(written: Written): Awaitable<void>
  /** Ends the import; nothing is changed. */
  discard(): Awaitable<void>
}

/** What a committed import has written. */
export interface Written {
  readonly tables: readonly string[]
  /** The number of changed rows of the target. */
  readonly rows: number
}

/** Begins an import on a connection that is used for nothing else until it ends. */
export function beginImport(db: ImportConnection, plan: ImportPlan): ImportSession {
  const staged: StagedIds = { id: 0, companyId: 0 }
  const { spoken } = plan.target.merge(db.dialect)
  const parts = watchParts(spoken !== undefined, plan.onStep)
  let own: Values | undefined

  return {
    stage(place, row) {
      noteIds(staged, row)
      return db.stage.write(place, row)
    },
    stageRefused: (place, row) => db.stage.writeRefused(place, row),
    async prepare(onProblem) {
      await db.stage.end()
      await db.begin(plan)
      own = await prepareMerge(db, plan, staged)
      return mergeStaged(db, plan, own, { onProblem, parts })
    },
    async countHeld(most) {
      const [table = ''] = plan.target.tables
      const source = own?.['source'] ?? null
      const held = `select 1 from ${table} where source_id = $source limit $most`
      const sql = `select count(*) from (${held}) counted`
      return Number(await readValue(db, sql, { source, most }))
    },
    async commit(counts, files) {
      if (own === undefined) throw new Error('an import is prepared before it is committed')
      parts('committing')(0)
      await logImport(db, plan, own, counts, files)
      await db.commit()
      const rows = counts.inserted + counts.updated + counts.removed
      await db.settle({ tables: tablesOf(plan), rows })
      return Number(own['version'])
    },
    discard: () => db.discard(),
  }
}

/**
 * The values of an import's statements, read while it holds the write lock.
 *
 * @throws OperatorError if the source has been imported as of a later day, or of any if this
 *   extract has none.
 */
async function prepareMerge(
  db: ImportConnection,
  plan: ImportPlan,
  staged: StagedIds,
): Promise<Values> {
  const { target } = plan
  const source = await sourceId(db, plan.source)
  const version = Number(await readValue(db, 'select coalesce(max(version), 0) + 1 from imports'))
  const asOf = plan.asOf ?? (target.hasRowDays ? await lastDayOfRows(db) : null)
  const last = await lastDay(db, target.name, source)
  if (asOf !== null) refuseOlder(plan, asOf, last)
  else if (plan.isDayNeeded) refuseUndated(plan, last)
  return {
    stagedId: staged.id,
    stagedCompanyId: staged.companyId,
    source,
    version,
    isRenaming: await noteNameAttribute(db, source, plan.nameAttribute),
    isSnapshot: plan.isSnapshot,
    asOf,
    isAsOfOfRows: plan.asOf === undefined,
    assignedIdMin,
    assignedIdEnd,
    unit: plan.unit,
    idColumn: target.columns.companyId,
    identifierColumn: target.columns.companyIdentifier,
    contradictionField: target.contradictionField,
  }
}

async function lastDayOfRows(db: Database): Promise<string | null> {
  return (await readValue(db, `select max(as_of) from ${db.dialect.arrived}`)) as string | null
}

async function lastDay(db: Database, target: string, source: number): Promise<string | null> {
  const sql = `
    select max(as_of) from imports
    where source_id = $source and resource = $target and reverted_by is null`
  return (await readValue(db, sql, { source, target })) as string | null
}

interface MergeWatch {
  readonly onProblem: (problem: StagedProblem) => void
  readonly parts: (part: MergePart) => OnShare
}

async function mergeStaged(
  db: ImportConnection,
  plan: ImportPlan,
  values: Values,
  { onProblem, parts }: MergeWatch,
): Promise<MergeCounts> {
  const { dialect } = db
  const run = (steps: readonly string[], onShare?: OnShare) => runSteps(db, steps, values, onShare)
  const steps = plan.target.merge(dialect)

  parts('placing')(0)
  await run(companies.completeCompanies(dialect))
  let companiesCreated = 0
  if (!plan.knownCompaniesOnly) {
    const create = dialect.companies.create(plan.target.isMadeById)
    companiesCreated = await countCompanies(db, create, values)
  }
  await run(dialect.settle)
  await run(steps.place, parts('placing'))
  await run([
    ...dialect.filled('placed', 'id, company_id, digest'),
    ...companies.refuseUnplaced(dialect),
  ])
  await run([...steps.refuse, ...dialect.across.refuseContradictions(dialect)])
  const alreadyRefused = await count(db, 'refused')
  if (alreadyRefused > 0) await run(merge.dropRefused(dialect))
  const total = (await count(db, 'placed where digest is not null')) + alreadyRefused
  await run(dialect.across.dropRepetitions(dialect))
  await tellLikeSources(db, plan, Number(values['source']))

  const recorded = await findAndRecord(db, plan, values, { steps, parts })
  const refused = await reportRefused(db, onProblem)
  if (refused > 0) {
    companiesCreated -= await countCompanies(db, dialect.companies.dropOrphans, values)
  }
  const changes = await countChanges(db)
  await run(steps.apply(await isFirst(db, plan.target.tables)), parts('writing'))
  if (steps.spoken !== undefined) {
    await run(steps.spoken)
    parts('indexing names')(0)
    await keepNames(db, parts('indexing names'))
  }
  await appendRecorded(db, recorded, values)
  return {
    ...changes,
    unchanged: total - refused - changes.inserted - changes.updated,
    refused,
    companiesCreated,
    recorded: recorded.rows,
  }
}

/** The records of the changes: the stage's rows after row `after`. */
interface Recorded {
  readonly recording: Recording | undefined
  readonly recordingSource: number | null
  readonly after: number
  readonly rows: number
}

/** Finds the changes, and stages the records of them. */
async function findAndRecord(
  db: ImportConnection,
  plan: ImportPlan,
  values: Values,
  { steps, parts }: Pick<MergeWatch, 'parts'> & { readonly steps: merge.MergeSteps },
): Promise<Recorded> {
  const { target } = plan
  const recording = values['asOf'] === null ? undefined : plan.recording
  const after = Number(await readValue(db, 'select coalesce(max(seq), 0) from stage'))
  const recordingSource = recording === undefined ? null : await sourceId(db, recording.source)
  const own = { ...values, recordingSource }
  const rows = await settleChanges(
    db,
    { target, recording, after },
    {
      findChanges: () => runSteps(db, steps.findChanges, values, parts('comparing')),
      record: async () => {
        if (recording === undefined) return 0
        parts('recording')(0)
        return stageDifferences(db, target, recording, own)
      },
      refuseBeyond: () => runSteps(db, merge.refuseBeyond(db.dialect), values),
    },
  )
  return { recording, recordingSource, after, rows }
}

async function appendRecorded(
  db: ImportConnection,
  { recording, recordingSource, after, rows }: Recorded,
  values: Values,
): Promise<void> {
  if (recording === undefined || rows === 0) return
  const { resource } = recording
  const steps = appendRecords(db.dialect, resource, await isFirst(db, [resource.name]))
  const own = { source: recordingSource, recordingSource, stagedId: 0, after }
  await runSteps(db, steps, { ...values, ...own })
}

async function isFirst(db: Database, [table]: readonly string[]): Promise<boolean> {
  return (await readValue(db, `select 1 from ${table} limit 1`)) === undefined
}

/** The tables that an import may write to. */
function tablesOf({ target, recording }: ImportPlan): readonly string[] {
  const history: readonly Resource[] = recording ? [recording.resource] : []
  return [...new Set([...target.tables, ...history.map(({ name }) => name)])]
}

/**
 * Returns the number of changed rows. Yields between steps, so that signals are handled.
 *
 * @param onShare is called before each step.
 */
export async function runSteps(
  db: ImportConnection,
  steps: readonly string[],
  values: Values,
  onShare: OnShare = () => undefined,
): Promise<number> {
  let changed = 0
  for (const [n, step] of steps.entries()) {
    onShare(n / steps.length)
    changed += await db.step(step, values)
    await nextTurn()
  }
  return changed
}

/** Runs steps, and returns how many companies were created or deleted. */
async function countCompanies(
  db: ImportConnection,
  steps: companies.CountedSteps,
  values: Values,
): Promise<number> {
  await runSteps(db, steps.before, values)
  return runSteps(db, steps.companies, values)
}

/** The number of a source, which is added if it is new. */
async function sourceId(db: Database, name: string): Promise<number> {
  const find = () => readValue(db, 'select id from sources where name = $name', { name })
  const known = await find()
  if (known !== undefined) return Number(known)
  const add = 'insert into sources (id, name) select coalesce(max(id), 0) + 1, $name from sources'
  await db.run(add, { name })
  return Number(await find())
}

async function count(db: Database, from: string): Promise<number> {
  return Number(await readValue(db, `select count(*) from ${from}`))
}

/** Counts what `change` and `removal` hold. */
export async function countChanges(
  db: Database,
): Promise<Pick<MergeCounts, 'inserted' | 'updated' | 'removed'>> {
  const [changes] = await db.rows(
    `select count(*) filter (where position is null) as inserted, count(position) as updated
     from change where is_staged`,
  )
  return {
    inserted: Number(changes?.['inserted']),
    updated: Number(changes?.['updated']),
    removed: await count(db, 'removal'),
  }
}

/** Reads in batches, since there may be as many refused rows as rows. */
async function reportRefused(
  db: Database,
  onProblem: (problem: StagedProblem) => void,
): Promise<number> {
  let refused = 0
  const sql = `
    select r.field, r.value, r.reason, s.*${db.dialect.asRead}
    from refused r ${db.dialect.orderedJoin} stage s on s.seq = r.seq order by r.seq`
  for await (const rows of db.batches(sql)) {
    for (const row of rows) onProblem(stagedProblem(row))
    refused += rows.length
  }
  return refused
}

function stagedProblem(row: Row): StagedProblem {
  return {
    file: Number(row['file']),
    number: Number(row['number']),
    field: String(row['field']),
    value: row['value'],
    reason: String(row['reason']),
    row: {
      companyId: row['company_id'] as number | null,
      companyJurisdiction: row['company_jurisdiction'] as string | null,
      companyIdentifier: row['company_identifier'] as string | null,
      id: row['id'] as number | null,
      key: row['key'] as string | null,
      sort: String(row['sort']),
      digest: String(row['digest']),
      content: String(row['content']),
      filters: [],
      asOf: row['as_of'] as string | null,
    },
  }
}

async function logImport(
  db: Database,
  plan: ImportPlan,
  own: Values,
  counts: ImportCounts,
  files: readonly ImportedFile[],
): Promise<void> {
  const { target, recording, isSnapshot, startedAt } = plan
  const { recorded, ...outcomes } = counts
  await logVersion(db, own, {
    target: target.name,
    isSnapshot,
    startedAt,
    counts: outcomes,
    files,
    recorded: recording ? { [recording.resource.name]: recorded } : {},
  })
}
