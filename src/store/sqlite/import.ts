// One import into the embedded store: staged apart, merged in one transaction.

import type { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { companyColumns, type Resource } from '../../resources/resource.ts'
import { assignedIdEnd, assignedIdMin, noteIds, type StagedIds } from '../assigned-ids.ts'
import { drawLineage } from '../lineage.ts'
import { refuseOlder, targetOf } from '../order-of-extracts.ts'
import type {
  ImportCounts,
  ImportedFile,
  ImportPlan,
  ImportSession,
  MergeCounts,
  StagedProblem,
} from '../store.ts'
import { settleChanges } from '../types-limit.ts'
import * as merge from './merge.ts'
import * as companies from './named-companies.ts'
import { mergeCompanies } from './merge-companies.ts'
import { mergingDatabase } from './merging-database.ts'
import { appendRecorded, stageDifferences } from './recording.ts'
import { openStage, type Stage } from './stage.ts'
import { beginWriting, commit } from './transaction.ts'
import { emptyWal } from './wal.ts'

type Parameters = Record<string, string | number | null>

/** Begins an import on a connection that serves nothing else until it is committed or discarded. */
export function beginImport(db: DatabaseSync, plan: ImportPlan): ImportSession {
  // What an earlier import of this connection has left.
  dropStage(db)
  db.exec(merge.createStage)
  // Rows that are staged in one transaction are not written to disk one by one.
  db.exec('begin')
  const stage = openStage(db)
  const staged: StagedIds = { id: 0, companyId: 0 }
  let turn: ImportTurn | undefined

  return {
    stage(place, row) {
      noteIds(staged, row)
      stage.write(place, row)
    },
    stageRefused: (place, row) => stage.writeRefused(place, row),
    async prepare(onProblem) {
      stage.flush()
      db.exec('commit')
      await beginWriting(db, plan)
      turn = takeTurn(db, plan, staged)
      return mergeStaged(db, plan, turn, stage, onProblem)
    },
    commit(counts, files) {
      if (turn === undefined) throw new Error('an import is prepared before it is committed')
      logImport(db, plan, turn, counts, files)
      commit(db)
      emptyWal(db)
      return turn.version
    },
    discard() {
      if (db.isTransaction) db.exec('rollback')
      // A large merge has overflown into the log.
      if (turn !== undefined) emptyWal(db)
    },
  }
}

/** What an import is given when no other one can come between. */
interface ImportTurn {
  readonly version: number
  readonly source: number
  readonly asOf: string | null
  readonly parameters: Parameters
}

/** @throws OperatorError where the source has been imported as of a later day. */
function takeTurn(db: DatabaseSync, plan: ImportPlan, staged: StagedIds): ImportTurn {
  const { resource } = plan
  const source = sourceId(db, plan.source)
  const version = Number(value(db, 'select coalesce(max(version), 0) + 1 from imports'))
  const asOf = plan.asOf ?? (value(db, 'select max(as_of) from stage') as string | null)
  if (asOf !== null) refuseOlder(plan, asOf, lastDay(db, plan, source))
  const parameters = {
    $stagedId: staged.id,
    $stagedCompanyId: staged.companyId,
    $source: source,
    $version: version,
    $isSnapshot: plan.isSnapshot ? 1 : 0,
    $asOf: asOf,
    $isAsOfOfRows: plan.asOf === undefined ? 1 : 0,
    $assignedIdMin: assignedIdMin,
    $assignedIdEnd: assignedIdEnd,
    $unit: plan.unit,
    $idColumn: resource ? companyColumns[0] : 'id',
    $identifierColumn: resource ? companyColumns[2] : 'identifier',
    $contradictionField: resource ? null : 'identifier',
  }
  return { version, source, asOf, parameters }
}

function lastDay(db: DatabaseSync, plan: ImportPlan, source: number): string | null {
  return db
    .prepare('select max(as_of) as as_of from imports where source_id = ? and resource = ?')
    .get(source, targetOf(plan))?.['as_of'] as string | null
}

async function mergeStaged(
  db: DatabaseSync,
  plan: ImportPlan,
  turn: ImportTurn,
  stage: Stage,
  onProblem: (problem: StagedProblem) => void,
): Promise<MergeCounts> {
  const { resource } = plan
  const run = (sql: readonly string[]) => runSteps(db, sql, turn.parameters)
  const steps = resource ? merge.mergeRecords(resource) : mergeCompanies

  await run(companies.completeCompanies)
  const create = resource ? companies.createCompanies : companies.createNamedCompanies
  let companiesCreated = plan.knownCompaniesOnly ? 0 : await run(create)
  await run(steps.place)
  await run([merge.indexPlaced, companies.refuseUnplaced])
  await run([...steps.refuse, ...merge.refuseContradictions])
  if (count(db, 'refused') > 0) await run([merge.dropRefused])
  const taken = count(db, 'placed where digest is not null') + count(db, 'refused')
  await run(merge.dropRepetitions)

  const { recording } = turn.asOf === null ? {} : plan
  const after = Number(value(db, 'select coalesce(max(seq), 0) from stage'))
  const parameters = {
    ...turn.parameters,
    $after: after,
    $recordingSource: recording ? sourceId(db, recording.source) : null,
  }
  const merged = { resource, recording, after }
  const recorded = await settleChanges(mergingDatabase(db), merged, {
    findChanges: () => run(steps.findChanges),
    record: async () =>
      recording ? stageDifferences(db, resource, recording, parameters, stage) : 0,
    refuseBeyond: () => run(merge.refuseBeyond),
  })
  const refused = reportRefused(db, onProblem)
  if (refused > 0) companiesCreated -= await run([companies.dropOrphans])
  const counts = countMerge(db, taken - refused, refused, companiesCreated)
  await runSteps(db, applyTo(db, resource, steps.apply), parameters)
  if (recording && recorded > 0) {
    const append = applyTo(db, recording.resource, appendRecorded(recording.resource))
    const source = parameters.$recordingSource
    await runSteps(db, append, { ...parameters, $source: source, $stagedId: 0 })
  }
  return { ...counts, recorded }
}

function applyTo(db: DatabaseSync, resource: Resource | undefined, steps: readonly string[]) {
  return resource && isEmpty(db, resource) ? merge.withoutIdIndex(resource, steps) : steps
}

/** Gives how many rows the steps changed; between two of them the process sees to its signals. */
async function runSteps(
  db: DatabaseSync,
  steps: readonly string[],
  parameters: Parameters,
): Promise<number> {
  let changes = 0
  for (const sql of steps) {
    const statement = db.prepare(sql)
    statement.setAllowUnknownNamedParameters(true)
    changes += Number(statement.run(parameters).changes)
    await nextTurn()
  }
  return changes
}

function isEmpty(db: DatabaseSync, resource: Resource): boolean {
  return value(db, `select 1 from ${resource.name}`) === undefined
}

function sourceId(db: DatabaseSync, name: string): number {
  db.prepare('insert or ignore into sources (name) values (?)').run(name)
  return Number(db.prepare('select id from sources where name = ?').get(name)?.['id'])
}

function value(db: DatabaseSync, sql: string): unknown {
  return Object.values(db.prepare(`${sql} limit 1`).get() ?? {})[0]
}

function count(db: DatabaseSync, from: string): number {
  return Number(value(db, `select count(*) from ${from}`))
}

function countMerge(
  db: DatabaseSync,
  rows: number,
  refused: number,
  companiesCreated: number,
): Omit<MergeCounts, 'recorded'> {
  const inserted = count(db, 'change where is_staged and position is null')
  const updated = count(db, 'change where is_staged and position is not null')
  return {
    inserted,
    updated,
    unchanged: rows - inserted - updated,
    refused,
    removed: count(db, 'removal'),
    companiesCreated,
  }
}

function reportRefused(db: DatabaseSync, onProblem: (problem: StagedProblem) => void): number {
  const rows = db.prepare(
    `select r.field, r.value, r.reason, s.*
    from refused r cross join stage s on s.seq = r.seq order by r.seq`,
  )
  let refused = 0
  for (const row of rows.iterate()) {
    refused += 1
    onProblem({
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
        asOf: row['as_of'] as string | null,
      },
    })
  }
  return refused
}

function logImport(
  db: DatabaseSync,
  plan: ImportPlan,
  { version, source, asOf }: ImportTurn,
  counts: ImportCounts,
  files: readonly ImportedFile[],
): void {
  db.prepare(`insert into imports values (${Array(17).fill('?').join(', ')})`).run(
    version,
    targetOf(plan),
    source,
    plan.isSnapshot ? 1 : 0,
    plan.startedAt,
    Date.now(),
    JSON.stringify(files),
    counts.read,
    counts.inserted,
    counts.updated,
    counts.unchanged,
    counts.refused,
    counts.removed,
    counts.companiesCreated,
    asOf,
    JSON.stringify(plan.recording ? { [plan.recording.resource.name]: counts.recorded } : {}),
    drawLineage(),
  )
}

function dropStage(db: DatabaseSync): void {
  const tables = db.prepare(`select name from temp.sqlite_schema where type = 'table'`).all()
  for (const { name } of tables) db.exec(`drop table temp.${String(name)}`)
}
