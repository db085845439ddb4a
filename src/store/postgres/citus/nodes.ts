// How a database uses Citus: whether it is installed, on which kind of node a session is, and
// which tables of the store it has distributed.

import type { Client } from 'pg'
import { OperatorError } from '../../../config/operator-error.ts'
import type { Preparing } from '../pool-rows.ts'
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

/**
 * How statements are prepared. Since 13.2.1, Citus keeps a plan of each execution of a statement
 * that is prepared once, 50 kB of it, until the session ends
 * (https://github.com/citusdata/citus/pull/8824).
 */
export const preparingOf = (isDistributed: boolean): Preparing =>
  isDistributed ? 'always' : 'once'

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
