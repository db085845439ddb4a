// How a database uses Citus: whether it is installed, on which kind of node a session is, and
// which tables of the store it has distributed.

import type { Client } from 'pg'
import { OperatorError } from '../../../config/operator-error.ts'
import { ownSchema } from '../schema.ts'
import { describeUrl } from '../url.ts'

interface Citus {
  readonly isOnWorker: boolean
  /** Whether the database is set up so that every new store in it is distributed. */
  readonly isToDistribute: boolean
  /** The names of the tables of the schema that are distributed already, in their order. */
  readonly tables: readonly string[]
}

const citusSql = `
  select exists (select from pg_dist_local_group where groupid <> 0) as "isOnWorker",
    coalesce(current_setting('dossier.distributed', true) = 'on', false) as "isToDistribute",
    array(
      select relname::text from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid
      where c.relnamespace = ${ownSchema} order by relname
    ) as tables`

/** Undefined if the extension is not installed. */
export async function findCitus(client: Client): Promise<Citus | undefined> {
  const { rowCount } = await client.query(`select from pg_extension where extname = 'citus'`)
  if (rowCount === 0) return undefined
  return (await client.query<Citus>(citusSql)).rows[0]
}

/** The kind of a node of Citus; commands that write need its coordinator. */
export type NodeRole = 'coordinator' | 'worker'

/** On which kind of node a session is; undefined if Citus has not distributed the tables. */
export async function findNodeRole(client: Client): Promise<NodeRole | undefined> {
  const citus = await findCitus(client)
  if (citus?.tables.includes('company_states') !== true) return undefined
  return citus.isOnWorker ? 'worker' : 'coordinator'
}

/** How a session plans a statement that it repeats, as PostgreSQL names it. */
export type PlanCacheMode = 'auto' | 'force_custom_plan' | 'force_generic_plan'

// Since 13.2.1, sessions keep a plan of each execution on tables of their own node, 50 kB of it,
// until they end (https://github.com/citusdata/citus/pull/8824).
const keepsAllPlansSql = `
  select coalesce(string_to_array(number, '.')::integer[] >= '{13,2,1}', true)
  from substring(citus_version() from '\\d+\\.\\d+\\.\\d+') number`

/**
 * How the sessions of a server plan statements: each has one good plan, an index seek, so there is
 * no need to plan it again. Citus can reuse plans only of statements on one table, which `auto`
 * leaves to it.
 */
export async function findPlanCacheMode(
  client: Client,
  role: NodeRole | undefined,
): Promise<PlanCacheMode> {
  if (role === undefined) return 'force_generic_plan'
  const { rows } = await client.query<[boolean]>({ text: keepsAllPlansSql, rowMode: 'array' })
  return rows[0]?.[0] === false ? 'auto' : 'force_custom_plan'
}

/** Servers and commands that read may use any node of Citus, but only its coordinator writes. */
export function workerRefusal(db: string): OperatorError {
  return new OperatorError(
    `${describeUrl(db)} is a worker of Citus, where Dossier only reads; ` +
      'give the URL of the coordinator',
  )
}

/** @throws OperatorError if Citus is missing, or its nodes are not set up for a store. */
export async function checkNodes(
  client: Client,
  db: string,
  citus: Citus | undefined,
): Promise<void> {
  const at = describeUrl(db)
  if (citus === undefined) {
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
