// Creates and upgrades the tables: numbered steps, one process at a time. A new store is made in
// one transaction; each step of an upgrade has its own.

import { randomBytes } from 'node:crypto'
import { type Client, DatabaseError } from 'pg'
import { OperatorError } from '../../operator-error.ts'
import type { Resource } from '../../resources/resource.ts'
import { describeFilled, fillNames, isFilled, namesMissing } from '../sql/keep-names.ts'
import { pastHeadsOf } from '../sql/past-heads.ts'
import type { OnStep, WorkWatch } from '../work-watch.ts'
import { piecesOf } from '../sql/pieces.ts'
import { withSession } from './connect.ts'
import { wordRules } from '../name-words.ts'
import { createWitnesses, witnessTables } from './citus-witnesses.ts'
import { databaseOf } from './database.ts'
import {
  convertResource,
  createResource,
  distributionColumns,
  fillPastHeads,
  steps,
  viewMark,
} from './schema.ts'
import { withWriteLock } from './transaction.ts'
import { describeUrl, schemaIn } from './url.ts'

/** The state of a store's tables, compared with what this version needs. */
interface SchemaState {
  /** The last step that was applied; 0 if there is no store yet. */
  readonly step: number
  readonly missing: readonly Resource[]
  readonly outdated: readonly Resource[]
}

/**
 * Brings the tables up to date.
 *
 * @param isDistributed whether to distribute them by company, for which the database needs Citus.
 * @returns what was done, a line each; empty if there was nothing to do.
 * @throws OperatorError if a newer Dossier has upgraded them, or Citus is needed and missing.
 */
export async function migrate(
  db: string,
  resources: readonly Resource[],
  options: { readonly isDistributed?: boolean } & Partial<WorkWatch> = {},
): Promise<string[]> {
  const { isDistributed = false, onWait = () => undefined, onStep } = options
  const schema = schemaIn(db)
  return withSession(db, async (client) => {
    const done: string[] = []
    await refuseWorker(client, db)
    if (schema !== undefined && (await currentSchema(client)) === null) {
      await createSchema(client, schema)
      done.push(`created the schema ${schema}`)
    }
    if (isDistributed || (await isToSpread(client))) await checkNodes(client, db)
    done.push(...(await withWriteLock(client, db, { onWait }, () => create(client, db, resources))))
    for (;;) {
      const line = await withWriteLock(client, db, { onWait }, () => applyStep(client, db))
      if (line === undefined) break
      done.push(line)
    }
    done.push(
      ...(await withWriteLock(client, db, { onWait }, () =>
        declareResources(client, db, resources, onStep),
      )),
    )
    const names = await fillNames(databaseOf(client, db), { onWait }, onStep)
    if (names !== undefined && names > 0) done.push(describeFilled(names))
    if (isDistributed || (await isSpread(client)) || (await isToSpread(client))) {
      done.push(
        ...(await withWriteLock(client, db, { onWait }, () => distribute(client, resources))),
      )
    }
    return done
  })
}

/** Creates a schema, unless another process has just done so. */
async function createSchema(client: Client, schema: string): Promise<void> {
  try {
    await client.query(`create schema if not exists ${schema}`)
  } catch (error) {
    if (!(error instanceof DatabaseError && error.code === uniqueViolation)) throw error
  }
}

// Of the system's catalogue: processes that look at the same time both find nothing.
const uniqueViolation = '23505'

/** Whether `migrate` would have something to do. */
export async function isOutdated(db: string, resources: readonly Resource[]): Promise<boolean> {
  return withSession(db, async (client) => {
    const { step, missing, outdated } = await schemaState(client, db, resources)
    if (step < steps.length || missing.length > 0 || outdated.length > 0) return true
    const tables = await distributedTables(client)
    if (tables.has('companies') && !witnessTables.every((table) => tables.has(table))) return true
    return !(await isFilled(databaseOf(client, db)))
  })
}

/** Whether the database contains a registry, in any format. */
export async function hasRegistry(db: string): Promise<boolean> {
  return withSession(db, async (client) => (await lastStep(client)) > 0)
}

/** @throws OperatorError that says what to do, if a server cannot read the tables. */
export async function checkSchema(
  client: Client,
  db: string,
  resources: readonly Resource[],
): Promise<void> {
  const { step, missing } = await schemaState(client, db, resources)
  const at = describeUrl(db)
  if (step === 0) {
    throw new OperatorError(`${at} holds no registry; create it with: dossier import`)
  }
  if (step < steps.length) {
    throw new OperatorError(
      `${at} was written by an older Dossier (step ${step} of ${steps.length}); ` +
        'upgrade it with: dossier migrate',
    )
  }
  const [first] = missing
  if (first !== undefined) {
    throw new OperatorError(`${at} has no table for ${first.name}; add it with: dossier migrate`)
  }
  const { rows } = await client.query<{ words: string | null }>('select words from store')
  if (rows[0]?.words === null) throw new OperatorError(`${at} ${namesMissing}`)
}

async function schemaState(
  client: Client,
  db: string,
  resources: readonly Resource[],
): Promise<SchemaState> {
  const step = await lastStep(client)
  if (step > steps.length) throw isNewer(db, step)
  const { rows } = await client.query<{ name: string; mark: string | null }>(
    `select relname as name, obj_description(oid, 'pg_class') as mark from pg_class
     where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v')`,
  )
  const marks = new Map(rows.map(({ name, mark }) => [name, mark]))
  return {
    step,
    missing: resources.filter(
      ({ name }) => !marks.has(piecesOf(name)) || !marks.has(pastHeadsOf(name)),
    ),
    outdated: resources.filter(
      (resource) => marks.get(`${resource.name}_view`) !== viewMark(resource),
    ),
  }
}

function isNewer(db: string, step: number): OperatorError {
  return new OperatorError(
    `${describeUrl(db)} was written by a newer Dossier (step ${step}, this one knows up to ` +
      `${steps.length}); use the newer version`,
  )
}

async function currentSchema(client: Client): Promise<string | null> {
  const { rows } = await client.query<{ name: string | null }>('select current_schema() as name')
  return rows[0]?.name ?? null
}

async function lastStep(client: Client): Promise<number> {
  const { rows } = await client.query<{ found: boolean }>(
    `select exists (
       select from pg_class
       where relname = 'migrations' and relnamespace = current_schema()::regnamespace
     ) as found`,
  )
  if (rows[0]?.found !== true) return 0
  const last = await client.query<{ step: number }>(
    'select coalesce(max(step), 0) as step from migrations',
  )
  return last.rows[0]?.step ?? 0
}

/** Makes a new store, ready to be read; does nothing if there is a store already. */
async function create(
  client: Client,
  db: string,
  resources: readonly Resource[],
): Promise<string[]> {
  if ((await lastStep(client)) > 0) return []
  const done: string[] = []
  for (let line = await applyStep(client, db); line !== undefined;) {
    done.push(line)
    line = await applyStep(client, db)
  }
  done.push(...(await declareResources(client, db, resources)))
  await client.query('update store set words = $1', [wordRules])
  return done
}

/** Applies the next step; undefined if there is none. */
async function applyStep(client: Client, db: string): Promise<string | undefined> {
  const step = await lastStep(client)
  if (step > steps.length) throw isNewer(db, step)
  const sql = steps[step]
  if (sql === undefined) return undefined
  if (step === 0) {
    await client.query('create table migrations (step integer primary key, taken_at bigint)')
  }
  await client.query(sql)
  if (step === 0) {
    await client.query('insert into store (id) values ($1)', [randomBytes(6).toString('hex')])
  }
  await client.query('insert into migrations values ($1, $2)', [step + 1, Date.now()])
  return `upgraded to step ${step + 1} of ${steps.length}`
}

async function declareResources(
  client: Client,
  db: string,
  resources: readonly Resource[],
  onStep?: OnStep,
): Promise<string[]> {
  const { missing, outdated } = await schemaState(client, db, resources)
  const needed = resources.filter(
    (resource) => missing.includes(resource) || outdated.includes(resource),
  )
  for (const [n, resource] of needed.entries()) {
    onStep?.(`upgrading ${resource.name}`, n / needed.length)
    const isOfRows = await hasColumn(client, resource.name, 'record')
    const hadPastHeads = await hasColumn(client, pastHeadsOf(resource.name), 'until')
    await client.query(isOfRows ? convertResource(resource) : createResource(resource))
    if (!hadPastHeads) await client.query(fillPastHeads(resource))
  }
  return needed.map(({ name }) => `created the table and view for ${name}`)
}

async function hasColumn(client: Client, table: string, column: string): Promise<boolean> {
  const { rowCount } = await client.query(
    `select from pg_attribute where attrelid = to_regclass(quote_ident($1)) and attname = $2
       and not attisdropped`,
    [table, column],
  )
  return (rowCount ?? 0) > 0
}

// --- Citus -----------------------------------------------------------------------------------

async function hasCitus(client: Client): Promise<boolean> {
  const { rowCount } = await client.query(`select from pg_extension where extname = 'citus'`)
  return rowCount === 1
}

/** The names of tables that Citus already distributes, in their order. */
export async function distributedTables(client: Client): Promise<Set<string>> {
  if (!(await hasCitus(client))) return new Set()
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid
     where c.relnamespace = current_schema()::regnamespace order by relname`,
  )
  return new Set(rows.map(({ name }) => name))
}

/** Whether the database is set up so that Citus spreads every store in it. */
async function isToSpread(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ setting: string | null }>(
    `select current_setting('dossier.distributed', true) as setting`,
  )
  return rows[0]?.setting === 'on' && (await hasCitus(client))
}

/**
 * Servers and commands that read may use any node of Citus, but only its coordinator can create
 * tables, as imports do.
 *
 * @throws OperatorError if the database is a worker.
 */
export async function refuseWorker(client: Client, db: string): Promise<void> {
  if (!(await hasCitus(client))) return
  const { rowCount } = await client.query('select from pg_dist_local_group where groupid <> 0')
  if (rowCount === 0) return
  throw new OperatorError(
    `${describeUrl(db)} is a worker of Citus, where Dossier only reads; ` +
      'give the URL of the coordinator',
  )
}

/** Whether Citus has spread the tables over several nodes. */
export async function isSpread(client: Client): Promise<boolean> {
  return (await distributedTables(client)).has('companies')
}

/** @throws OperatorError if Citus is missing, or would have an import work within its session. */
async function checkNodes(client: Client, db: string): Promise<void> {
  const at = describeUrl(db)
  if (!(await hasCitus(client))) {
    throw new OperatorError(
      `${at} has no Citus, which --distributed needs; install the extension, then ` +
        'run: create extension citus',
    )
  }
  const { rows } = await client.query<{ isKnown: boolean; holds: boolean; others: boolean }>(
    `select coalesce(bool_or(groupid = 0), false) as "isKnown",
       coalesce(bool_or(groupid = 0 and shouldhaveshards), false) as holds,
       coalesce(bool_or(groupid <> 0 and shouldhaveshards), false) as others
     from pg_dist_node where noderole = 'primary'`,
  )
  const [found] = rows
  const missing = [
    ...(found?.isKnown === true ? [] : ["citus_set_coordinator_host('HOST', PORT)"]),
    ...(found?.others === true ? [] : ["citus_add_node('HOST', PORT) of another node"]),
    ...(found?.holds === true
      ? ["citus_set_node_property('HOST', PORT, 'shouldhaveshards', false) of the coordinator"]
      : []),
  ]
  if (missing.length === 0) return
  throw new OperatorError(
    `${at}: Citus needs nodes besides its coordinator, which holds no companies itself; ` +
      `select ${missing.join(', ')}`,
  )
}

async function distribute(client: Client, resources: readonly Resource[]): Promise<string[]> {
  const distributed = await distributedTables(client)
  const done: string[] = []
  const tables = distributionColumns(resources)
  const firstOfGroup = new Map<string, string>()
  for (const { table, column } of [...tables, { table: 'migrations', column: undefined }]) {
    const group = ['identifier', 'key', 'word'].includes(column ?? '') ? table : 'company'
    const first = firstOfGroup.get(group)
    firstOfGroup.set(group, first ?? table)
    if (distributed.has(table)) continue
    if (column === undefined) {
      await client.query('select create_reference_table($1)', [table])
      done.push(`copied ${table} to every node`)
    } else {
      const sql = 'select create_distributed_table($1, $2, colocate_with => $3)'
      await client.query(sql, [table, column, first ?? 'none'])
      done.push(`distributed ${table} by ${column}`)
    }
  }
  const witnesses = await createWitnesses(client, distributed)
  return [...done, ...witnesses.map((table) => `created ${table} on every node`)]
}
