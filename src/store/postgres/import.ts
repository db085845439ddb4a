// One import into PostgreSQL: staged apart through COPY, merged in one transaction.

import type { Client } from 'pg'
import { companyColumns } from '../../resources/resource.ts'
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
import { commit } from './commit.ts'
import { openSession } from './connect.ts'
import { mergeCompanies } from './merge-companies.ts'
import * as merge from './merge.ts'
import { mergingDatabase } from './merging-database.ts'
import * as companies from './named-companies.ts'
import { type Parameters, writeIn } from './parameters.ts'
import { appendRecorded, stageDifferences } from './recording.ts'
import { openStage } from './stage.ts'
import { beginWriting } from './transaction.ts'

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
  const staged: StagedIds = { id: 0, companyId: 0 }
  let turn: ImportTurn | undefined

  return {
    stage(place, row) {
      noteIds(staged, row)
      return stage.write(place, row)
    },
    stageRefused: (place, row) => stage.writeRefused(place, row),
    async prepare(onProblem) {
      await stage.end()
      await runSteps(client, merge.indexStage, {})
      await beginWriting(client, plan)
      turn = await takeTurn(client, plan, staged)
      return mergeStaged(client, plan, turn, onProblem)
    },
    async commit(counts, files) {
      if (turn === undefined) throw new Error('an import is prepared before it is committed')
      await logImport(client, plan, turn, counts, files)
      await commit(client, db)
      // The session may be gone by now; what follows is no part of the import.
      await analyse(client, plan, counts)
      await client.end().catch(() => undefined)
      return turn.version
    },
    async discard() {
      await stage.abandon()
      // The server rolls back, drops the temporary tables and frees the lock as the session ends.
      await client.end().catch(() => undefined)
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
async function takeTurn(client: Client, plan: ImportPlan, staged: StagedIds): Promise<ImportTurn> {
  const { resource } = plan
  const source = await sourceId(client, plan.source)
  const version = Number(await value(client, 'select coalesce(max(version), 0) + 1 from imports'))
  const asOf = plan.asOf ?? (resource ? null : await lastDayOfRows(client))
  if (asOf !== null) refuseOlder(plan, asOf, await lastDay(client, plan, source))
  const parameters = {
    stagedId: String(staged.id),
    stagedCompanyId: String(staged.companyId),
    source: String(source),
    version: String(version),
    isSnapshot: String(plan.isSnapshot),
    asOf: `(${asOf === null ? 'null' : client.escapeLiteral(asOf)}::text collate "C")`,
    isAsOfOfRows: String(plan.asOf === undefined),
    assignedIdMin: String(assignedIdMin),
    assignedIdEnd: String(assignedIdEnd),
    unit: plan.unit,
    idColumn: resource ? companyColumns[0] : 'id',
    identifierColumn: resource ? companyColumns[2] : 'identifier',
    contradictionField: resource ? 'null' : `'identifier'`,
  }
  return { version, source, asOf, parameters }
}

/** Only rows of companies have days of their own. */
async function lastDayOfRows(client: Client): Promise<string | null> {
  return (await value(client, 'select max(as_of) from stage')) as string | null
}

async function lastDay(client: Client, plan: ImportPlan, source: number): Promise<string | null> {
  const sql = 'select max(as_of) from imports where source_id = $1 and resource = $2'
  return (await value(client, sql, [source, targetOf(plan)])) as string | null
}

async function mergeStaged(
  client: Client,
  plan: ImportPlan,
  turn: ImportTurn,
  onProblem: (problem: StagedProblem) => void,
): Promise<MergeCounts> {
  const { resource } = plan
  const run = (sql: readonly string[]) => runSteps(client, sql, turn.parameters)
  const steps = resource ? merge.mergeRecords(resource) : mergeCompanies

  await run(companies.completeCompanies)
  const create = resource ? companies.createCompanies : companies.createNamedCompanies
  if (!plan.knownCompaniesOnly) await run(create)
  let companiesCreated = await count(client, 'newcomer')
  await run(steps.place)
  await run([merge.indexPlaced, companies.refuseUnplaced])
  await run([...steps.refuse, ...merge.refuseContradictions])
  const refusedFirst = await count(client, 'refused')
  if (refusedFirst > 0) await run(merge.dropRefused)
  const taken = (await count(client, 'placed where digest is not null')) + refusedFirst
  await run(merge.dropRepetitions)

  const recording = turn.asOf === null ? undefined : plan.recording
  const after = Number(await value(client, 'select coalesce(max(seq), 0) from stage'))
  const source = recording ? String(await sourceId(client, recording.source)) : ''
  const own = { ...turn.parameters, recordingSource: source }
  const recorded = await settleChanges(
    mergingDatabase(client),
    { resource, recording, after },
    {
      findChanges: () => run(steps.findChanges),
      record: async () =>
        recording ? stageDifferences(client, resource, recording, own, after) : 0,
      refuseBeyond: () => run(merge.refuseBeyond),
    },
  )
  const refused = await reportRefused(client, onProblem)
  if (refused > 0) {
    await run(companies.dropOrphans)
    companiesCreated -= await count(client, 'newcomer')
  }
  const counts = await countMerge(client, taken - refused, refused, companiesCreated)
  await run(steps.apply)
  if (recording && recorded > 0) {
    const append = appendRecorded(recording.resource)
    const parameters = { ...turn.parameters, source, stagedId: '0', after: String(after) }
    await runSteps(client, append, parameters)
  }
  return { ...counts, recorded }
}

async function runSteps(
  client: Client,
  steps: readonly string[],
  parameters: Parameters,
): Promise<void> {
  for (const step of steps) await client.query(writeIn(step, parameters))
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

async function value(client: Client, text: string, values: unknown[] = []): Promise<unknown> {
  const { rows } = await client.query<[unknown]>({ text, values, rowMode: 'array' })
  return rows[0]?.[0]
}

async function count(client: Client, from: string): Promise<number> {
  return Number(await value(client, `select count(*) from ${from}`))
}

async function countMerge(
  client: Client,
  rows: number,
  refused: number,
  companiesCreated: number,
): Promise<Omit<MergeCounts, 'recorded'>> {
  const { rows: changes } = await client.query<[inserted: number, updated: number]>({
    text: `select count(*) filter (where position is null), count(position)
      from change where is_staged`,
    rowMode: 'array',
  })
  const [inserted, updated] = changes[0] ?? [0, 0]
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
  readonly as_of: string | null
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
          asOf: row.as_of,
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
  { version, source, asOf }: ImportTurn,
  counts: ImportCounts,
  files: readonly ImportedFile[],
): Promise<void> {
  const { recording } = plan
  await client.query(
    `insert into imports
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`,
    [
      ...[version, targetOf(plan), source, plan.isSnapshot],
      ...[plan.startedAt, Date.now(), JSON.stringify(files)],
      ...[counts.read, counts.inserted, counts.updated, counts.unchanged],
      ...[counts.refused, counts.removed, counts.companiesCreated, asOf],
      JSON.stringify(recording ? { [recording.resource.name]: counts.recorded } : {}),
      drawLineage(),
    ],
  )
}

const manyRows = 10_000

/** Plans of the next import go by what is there; the server's own round may come too late. */
async function analyse(client: Client, plan: ImportPlan, counts: ImportCounts): Promise<void> {
  if (counts.inserted + counts.updated + counts.removed < manyRows) return
  const { resource, recording } = plan
  const tables = [
    ...(resource ? [resource.name, `${resource.name}_ids`, 'heads'] : ['company_attributes']),
    ...(recording && recording.resource !== resource ? [recording.resource.name] : []),
  ]
  await client
    .query(`analyze ${[...tables, 'companies', 'company_names'].join(', ')}`)
    .catch(() => undefined)
}
