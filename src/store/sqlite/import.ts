// One import into the embedded store: staged apart, merged in one transaction.

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { companyColumns } from '../../resources/resource.ts'
import type {
  ImportCounts,
  ImportedFile,
  ImportPlan,
  ImportSession,
  MergeCounts,
  StagedProblem,
  StagedRow,
} from '../store.ts'
import * as merge from './merge.ts'
import { assignedIdMin } from './schema.ts'
import { beginWriting } from './transaction.ts'

type Parameters = Record<string, string | number | null>

/** Begins an import on a connection that serves nothing else until it is committed or discarded. */
export function beginImport(db: DatabaseSync, plan: ImportPlan): ImportSession {
  db.exec(merge.createStage)
  // Rows that are staged in one transaction are not written to disk one by one.
  db.exec('begin')
  const insert = db.prepare('insert into stage values (null, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
  let version = 0
  let source = 0

  async function prepare(onProblem: (problem: StagedProblem) => void): Promise<MergeCounts> {
    db.exec('commit')
    await beginWriting(db, plan.onWait)
    source = sourceId(db, plan.source)
    version = Number(value(db, 'select coalesce(max(version), 0) + 1 from imports'))
    const parameters = parametersOf(plan, source, version)
    const run = (steps: readonly string[]) => runSteps(db, steps, parameters)

    const records = plan.resource && merge.mergeRecords(plan.resource)
    const { findChanges, apply } = records ?? merge.mergeCompanies
    await run(merge.completeCompanies)
    let companiesCreated = plan.knownCompaniesOnly ? 0 : await run(merge.createCompanies)
    await run(records?.place ?? [merge.mergeCompanies.place])
    await run([merge.indexPlaced, merge.refuseUnplaced])
    await run(records?.refuse ?? [])
    await run([merge.refuseContradictions])
    const refused = reportRefused(db, onProblem)
    if (refused > 0) {
      await run([merge.dropRefused])
      companiesCreated -= await run([merge.dropOrphans])
    }
    const rows = count(db, 'placed where digest is not null')
    await run([merge.dropRepetitions])
    await run(findChanges)
    const counts = countMerge(db, rows, refused, companiesCreated)
    const isFirstLoad = plan.resource && value(db, `select 1 from ${plan.resource.name}`) == null
    await run(isFirstLoad ? merge.withoutIdIndex(plan.resource, apply) : apply)
    return counts
  }

  return {
    stage: ({ file, number }, row) => stageRow(insert, file, number, row),
    stageRefused({ file, number }, row) {
      const { companyJurisdiction, companyIdentifier, id, key } = row
      insert.run(
        ...[file, number, null, companyJurisdiction, companyIdentifier],
        ...[id, key, null, null, null],
      )
    },
    prepare,
    commit(counts, files) {
      logImport(db, plan, version, source, counts, files)
      db.exec('commit')
      dropStage(db)
      return version
    },
    discard() {
      if (db.isTransaction) db.exec('rollback')
      dropStage(db)
    },
  }
}

function stageRow(insert: StatementSync, file: number, number: number, row: StagedRow): void {
  insert.run(
    file,
    number,
    row.companyId,
    row.companyJurisdiction,
    row.companyIdentifier,
    row.id,
    row.key,
    row.sort,
    row.digest,
    row.content,
  )
}

function parametersOf(plan: ImportPlan, source: number, version: number): Parameters {
  const { resource } = plan
  return {
    $source: source,
    $version: version,
    $isSnapshot: plan.isSnapshot ? 1 : 0,
    $assignedIdMin: assignedIdMin,
    $unit: plan.unit,
    $idColumn: resource ? companyColumns[0] : 'id',
    $identifierColumn: resource ? companyColumns[2] : 'identifier',
    $contradictionField: resource ? null : 'identifier',
  }
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
): MergeCounts {
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
    `select r.field, r.value, r.reason, s.* from refused r join stage s using (seq) order by seq`,
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
      },
    })
  }
  return refused
}

function logImport(
  db: DatabaseSync,
  plan: ImportPlan,
  version: number,
  source: number,
  counts: ImportCounts,
  files: readonly ImportedFile[],
): void {
  db.prepare(`insert into imports values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`).run(
    version,
    plan.resource?.name ?? 'companies',
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
  )
}

function dropStage(db: DatabaseSync): void {
  const tables = db.prepare(`select name from temp.sqlite_schema where type = 'table'`).all()
  for (const { name } of tables) db.exec(`drop table temp.${String(name)}`)
}
