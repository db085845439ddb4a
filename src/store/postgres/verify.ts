// The parts of verifying a store (../history/verify.ts) that are specific to PostgreSQL.

import { type Client, DatabaseError } from 'pg'
import type { Resource } from '../../resources/resource.ts'
import type { StoredChecks, Verification } from '../inspecting.ts'
import type { RegistryDatabase } from '../sql/database.ts'
import { type Rule, verifyStore } from '../history/verify.ts'
import { findCitus } from './citus/nodes.ts'
import { undecidedSql } from './citus/undecided.ts'

/** What is verified. */
interface VerifyPlan {
  readonly resources: readonly Resource[]
  readonly checks: StoredChecks
  /** Whether Citus has distributed the tables over several nodes. */
  readonly isDistributed: boolean
}

/**
 * Checks everything that is stored, and changes nothing.
 *
 * @param onStep is called often with what is being checked; throwing in it stops the verification.
 */
export async function verify(
  client: Client,
  db: RegistryDatabase,
  { resources, checks, isDistributed }: VerifyPlan,
  onStep: (step: string) => void,
): Promise<Verification> {
  await client.query('begin isolation level repeatable read, read only')
  const check = await findCheck(client)
  const find = isDistributed ? findDamageOnNodes : findDamage
  const damage = typeof check === 'string' ? noDamage : () => find(client, check)
  const found = await verifyStore(
    {
      ...db,
      damage,
      damageIn: (error: unknown) => (isDamage(error) ? error.message : undefined),
      rules: {
        'company names': companyNames,
        ...(isDistributed ? { transactions: undecided } : {}),
      },
    },
    resources,
    checks,
    onStep,
  )
  await client.query('rollback')
  return { ...found, notes: typeof check === 'string' ? [check] : [] }
}

const companyNames: Rule = {
  sql: `select coalesce(c.id, n.company_id) as company_id
    from (select * from companies where identifier is not null) c
    full join company_names n on n.company_id = c.id
    where (c.jurisdiction, c.identifier) is distinct from (n.jurisdiction, n.identifier)`,
  describe: (row) =>
    `company ${String(row['company_id'])}: its name is missing or wrong in company_names`,
}

/** Transactions that nobody has decided, after the coordinator or a node was lost. */
const undecided: Rule = {
  sql: undecidedSql(10),
  describe: (row) =>
    `node ${String(row['node'])}: transactions are neither committed nor rolled back; ` +
    `Citus decides within a minute, or: select recover_prepared_transactions(): ` +
    String(row['found']),
}

/** Unreadable data: data_corrupted, index_corrupted, io_error, or text that is not JSON. */
function isDamage(error: unknown): error is DatabaseError {
  const codes = ['XX001', 'XX002', '58030', '22P02']
  return error instanceof DatabaseError && codes.includes(error.code ?? '')
}

/** The schema of the extension's functions, or a sentence why the files are not checked. */
async function findCheck(client: Client): Promise<{ readonly schema: string } | string> {
  const { rows } = await client.query<{ schema: string; may: boolean }>(
    `select quote_ident(n.nspname) as schema, bool_and(has_function_privilege(p.oid, 'execute'))
         and has_schema_privilege(n.oid, 'usage') as may
     from pg_extension e
     join pg_namespace n on n.oid = e.extnamespace
     join pg_proc p on p.pronamespace = n.oid and p.proname in ('bt_index_check', 'verify_heapam')
     where e.extname = 'amcheck' group by n.oid, n.nspname`,
  )
  const [found] = rows
  if (found?.may === true) return found
  return found === undefined
    ? 'Table and index files were not checked; install the extension amcheck to have them checked'
    : 'Table and index files were not checked: this user may not run the functions of amcheck'
}

async function* noDamage(): AsyncIterable<string> {
  // Files cannot be checked without the extension.
}

/** Has PostgreSQL check each table and index of the store. */
async function* findDamage(
  client: Client,
  { schema }: { readonly schema: string },
): AsyncIterable<string> {
  const { rows } = await client.query<{ oid: number; name: string; kind: string }>(
    `select c.oid::bigint as oid, c.relname as name, c.relkind as kind from pg_class c
     left join pg_am a on a.oid = c.relam
     where c.relnamespace = current_schema()::regnamespace
       and (c.relkind = 'r' or c.relkind = 'i' and a.amname = 'btree') order by c.relname`,
  )
  for (const { oid, name, kind } of rows) {
    const sql =
      kind === 'r'
        ? `select msg from ${schema}.verify_heapam(${oid}::regclass)`
        : `select null as msg from ${schema}.bt_index_check(${oid}::regclass, true)`
    // A damaged index raises an error, which would abort the transaction.
    await client.query('savepoint one')
    try {
      const found = await client.query<{ msg: string | null }>(sql)
      for (const { msg } of found.rows) if (msg !== null) yield `${name}: ${msg}`
    } catch (error) {
      if (!isDamage(error)) throw error
      yield `${name}: ${error.message}`
    }
    await client.query('rollback to savepoint one')
  }
}

/** Has each node check its parts of the tables that Citus has distributed, and their indexes. */
async function* findDamageOnNodes(
  client: Client,
  { schema }: { readonly schema: string },
): AsyncIterable<string> {
  for (const name of (await findCitus(client))?.tables ?? []) {
    for (const command of checksOfPart(schema)) {
      const sql = `
        select r.nodename || ':' || r.nodeport as node, r.shardid as part, r.result
        from run_command_on_placements($1, $2) r where not r.success or r.result <> ''`
      const parameters = [name, command]
      const { rows } = await client.query<{ node: string; part: number; result: string }>(
        sql,
        parameters,
      )
      for (const { node, part, result } of rows) yield `${name}_${part} on ${node}: ${result}`
    }
  }
}

/** Commands that return what is wrong with a part of a table; a damaged index raises an error. */
const checksOfPart = (schema: string) => [
  `select string_agg(msg, '; ') from ${schema}.verify_heapam('%s')`,
  `select string_agg(${schema}.bt_index_check(i.indexrelid, true)::text, '')
   from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am a on a.oid = c.relam
   where i.indrelid = '%s'::regclass and a.amname = 'btree'`,
]
