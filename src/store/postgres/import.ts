// One import into PostgreSQL: staged apart through COPY, merged in one transaction.

import type { Client } from 'pg'
import { companyColumns } from '../../resources/resource.ts'
import type {
  ImportCounts,
  ImportedFile,
  ImportPlan,
  ImportSession,
  MergeCounts,
  StagedProblem,
} from '../store.ts'
import { openSession } from './connect.ts'
import * as merge from './merge.ts'
import { assignedIdMin } from './schema.ts'
import { openStage } from './stage.ts'
import { beginWriting } from './transaction.ts'

type Parameters = Readonly<Record<string, string>>

// Sorts and hashes of millions of rows; a merge has few of them at once.
const importSettings = { work_mem: '64MB', maintenance_work_mem: '128MB', temp_buffers: '32MB' }

/** Begins an import in a session of its own, which ends with it. */
export async function beginImport(db: string, plan: ImportPlan): Promise<ImportSession> {
  const client = await openSession(db, importSettings)
  try {
    await client.query(merge.createStage)
  } catch (error) {
    await client.end()
    throw error
  }
  const stage = openStage(client)
  let version = 0
  let source = 0

  async function prepare(onProblem: (problem: StagedProblem) => void): Promise<MergeCounts> {
    await stage.end()
    await runSteps(client, merge.indexStage, {})
    await beginWriting(client, plan.onWait)
    source = await sourceId(client, plan.source)
    version = await value(client, 'select coalesce(max(version), 0) + 1 from imports')
    const parameters = parametersOf(plan, source, version)
    const run = (steps: readonly string[]) => runSteps(client, steps, parameters)

    const records = plan.resource && merge.mergeRecords(plan.resource)
    const { findChanges, apply } = records ?? merge.mergeCompanies
    await run(merge.completeCompanies)
    if (!plan.knownCompaniesOnly) await run([...merge.findNewcomers, ...merge.createCompanies])
    let companiesCreated = await count(client, 'newcomer')
    await run(records?.place ?? [merge.mergeCompanies.place])
    await run([merge.indexPlaced, merge.refuseUnplaced])
    await run(records?.refuse ?? [])
    await run(merge.refuseContradictions)
    const refused = await reportRefused(client, onProblem)
    if (refused > 0) {
      await run([...merge.dropRefused, ...merge.dropOrphans])
      companiesCreated -= await count(client, 'newcomer')
    }
    const rows = await count(client, 'placed where digest is not null')
    await run([merge.dropRepetitions])
    await run(findChanges)
    const counts = await countMerge(client, rows, refused, companiesCreated)
    await run(apply)
    return counts
  }

  return {
    stage: (place, row) => stage.write(place, row),
    stageRefused: (place, row) => stage.writeRefused(place, row),
    prepare,
    async commit(counts, files) {
      await logImport(client, plan, version, source, counts, files)
      await client.query('commit')
      await analyse(client, plan, counts)
      await client.end()
      return version
    },
    async discard() {
      await stage.abandon()
      // The server rolls back, drops the temporary tables and frees the lock as the session ends.
      await client.end().catch(() => undefined)
    },
  }
}

function parametersOf(plan: ImportPlan, source: number, version: number): Parameters {
  const { resource } = plan
  return {
    source: String(source),
    version: String(version),
    isSnapshot: String(plan.isSnapshot),
    assignedIdMin: String(assignedIdMin),
    unit: plan.unit,
    idColumn: resource ? companyColumns[0] : 'id',
    identifierColumn: resource ? companyColumns[2] : 'identifier',
    contradictionField: resource ? 'null' : `'identifier'`,
  }
}

async function runSteps(
  client: Client,
  steps: readonly string[],
  parameters: Parameters,
): Promise<void> {
  for (const step of steps) {
    const sql = step.replace(/\$([a-z]\w*)/gi, (word, name: string) => parameters[name] ?? word)
    await client.query(sql)
  }
}

async function sourceId(client: Client, name: string): Promise<number> {
  const known = await client.query<{ id: number }>('select id from sources where name = $1', [name])
  const made =
    known.rows[0] ??
    (
      await client.query<{ id: number }>(
        `insert into sources (id, name) select coalesce(max(id), 0) + 1, $1 from sources
         returning id`,
        [name],
      )
    ).rows[0]
  if (made === undefined) throw new Error(`no source ${name} was made`)
  return made.id
}

async function value(client: Client, text: string): Promise<number> {
  const { rows } = await client.query<[number]>({ text, rowMode: 'array' })
  return Number(rows[0]?.[0])
}

function count(client: Client, from: string): Promise<number> {
  return value(client, `select count(*) from ${from}`)
}

async function countMerge(
  client: Client,
  rows: number,
  refused: number,
  companiesCreated: number,
): Promise<MergeCounts> {
  const inserted = await count(client, 'change where is_staged and position is null')
  const updated = await count(client, 'change where is_staged and position is not null')
  return {
    inserted,
    updated,
    unchanged: rows - inserted - updated,
    refused,
    removed: await count(client, 'removal'),
    companiesCreated,
  }
}

interface RefusedResult {
  readonly seq: number
  readonly field: string
  readonly value: unknown
  readonly reason: string
  readonly file: number
  readonly number: number
  readonly company_id: number | null
  readonly company_jurisdiction: string | null
  readonly company_identifier: string | null
  readonly id: number | null
  readonly key: string | null
  readonly sort: string
  readonly digest: string
  readonly content: string
}

/** Some at a time, since there may be as many as there are rows. */
async function reportRefused(
  client: Client,
  onProblem: (problem: StagedProblem) => void,
): Promise<number> {
  let refused = 0
  for (let last = -1; ;) {
    const { rows } = await client.query<RefusedResult>(
      `select r.field, r.value, r.reason, s.* from refused r join stage s on s.seq = r.seq
       where r.seq > $1 order by r.seq limit 1000`,
      [last],
    )
    for (const row of rows) {
      onProblem({
        file: row.file,
        number: row.number,
        field: row.field,
        value: row.value,
        reason: row.reason,
        row: {
          companyId: row.company_id,
          companyJurisdiction: row.company_jurisdiction,
          companyIdentifier: row.company_identifier,
          id: row.id,
          key: row.key,
          sort: row.sort,
          digest: row.digest,
          content: row.content,
        },
      })
    }
    refused += rows.length
    const end = rows.at(-1)
    if (end === undefined) return refused
    last = end.seq
  }
}

async function logImport(
  client: Client,
  plan: ImportPlan,
  version: number,
  source: number,
  counts: ImportCounts,
  files: readonly ImportedFile[],
): Promise<void> {
  await client.query(
    `insert into imports values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
    [
      ...[version, plan.resource?.name ?? 'companies', source, plan.isSnapshot],
      ...[plan.startedAt, Date.now(), JSON.stringify(files)],
      ...[counts.read, counts.inserted, counts.updated, counts.unchanged],
      ...[counts.refused, counts.removed, counts.companiesCreated],
    ],
  )
}

const manyRows = 10_000

/** Plans of the next import go by what is there; the server's own round may come too late. */
async function analyse(client: Client, plan: ImportPlan, counts: ImportCounts): Promise<void> {
  if (counts.inserted + counts.updated + counts.removed < manyRows) return
  const tables = plan.resource
    ? [plan.resource.name, `${plan.resource.name}_ids`, 'heads']
    : ['company_attributes']
  await client
    .query(`analyze ${[...tables, 'companies', 'company_names'].join(', ')}`)
    .catch(() => undefined)
}
