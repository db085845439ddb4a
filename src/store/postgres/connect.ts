// Connects to PostgreSQL: a session for a command, a pool for a server.

import {
  type Client,
  type ClientConfig,
  DatabaseError,
  Pool,
  type PoolClient,
  type PoolConfig,
  types,
} from 'pg'
import { OperatorError } from '../../config/operator-error.ts'
import type { LockWait } from '../work-watch.ts'
import { binaryParser, createClient } from './binary.ts'
import { describeUrl, parseUrl, refusedByDriver, schemaIn } from './url.ts'
import { aroundQueries, watchLocks } from './watch-locks.ts'

/** Limits on a server's use of PostgreSQL. */
export interface ServingBounds {
  /** The maximum number of connections. */
  readonly pool: number
  /** How long one statement may run, in milliseconds. */
  readonly statementMs: number
  /** How long a request waits for a connection, new or free, in milliseconds. */
  readonly waitMs: number
}

/** Limits of a command that reads: no client waits for it, and its server may be far away. */
export const commandBounds: ServingBounds = { pool: 10, statementMs: 300_000, waitMs: 30_000 }

/** How a session plans a statement that it repeats, as PostgreSQL names it. */
export type PlanCacheMode = 'auto' | 'force_generic_plan'

/** Settings of a session, as for `set`. */
export type SessionSettings = Readonly<Record<string, string | number>>

// Our timeout exceeds the server's by this much, so that the server's own error comes first. A hung
// server sends none.
const graceMs = 200

// The codes of errors of a statement alone. (The server may tell severities in any language.)
const codesOfStatements = /^(22|23|42|53[124]|54|55|57014)/

/** Whether an error of the server certainly leaves the session to other statements. */
export function isOfStatement(error: unknown): boolean {
  return error instanceof DatabaseError && codesOfStatements.test(error.code ?? '')
}

const pidSql = 'select pg_backend_pid() as pid'

// A default of the database, meant for others, may keep a command from seeing what was committed
// while it waited for its lock; and no statement runs in `serializable` on a standby.
const isolationSql = "set default_transaction_isolation = 'read committed'"

// Older servers do not know all of them.
const settingsSql = `
  ${pidSql}, set_config(key, value, false) from json_each_text($1)
  where current_setting(key, true) is not null`

/**
 * Applies settings to a session, and returns its process id. A pooler would not accept them as
 * startup parameters.
 */
async function applySettings(
  client: Client,
  db: string,
  settings: SessionSettings,
): Promise<number | undefined> {
  const schema = schemaIn(db)
  // A policy that hides rows is an error; otherwise listings would appear to be empty.
  const always = { ...settings, row_security: 'off', client_encoding: 'UTF8' }
  const own = schema === undefined ? always : { ...always, search_path: schema }
  const apply = async () => {
    await client.query(isolationSql)
    const { rows } = await client.query<{ pid: number }>(settingsSql, [JSON.stringify(own)])
    return rows[0]?.pid
  }
  const pid = await apply()
  if (!isPooled(client, pid)) return pid
  // A pooler without a `server_reset_query` leaves settings and prepared statements of others.
  await client.query('discard all')
  return apply()
}

/** A pooler announces numbers of its own; the driver's types leave them out. */
function isPooled(client: Client, pid: number | undefined): boolean {
  return (client as unknown as { readonly processID: number }).processID !== pid
}

/** In PgBouncer's modes `transaction` and `statement`, nothing that a session sets is kept. */
async function refuseSharedSessions(client: Client, db: string, pid: number | undefined) {
  const others = openPool(db, commandBounds)
  try {
    const again = await client.query<{ pid: number }>(pidSql)
    const beside = await others.query<{ pid: number }>(pidSql)
    if (again.rows[0]?.pid === pid && beside.rows[0]?.pid !== pid) return
  } finally {
    await others.end()
  }
  throw new OperatorError(
    `${describeUrl(db)}: the pooler there does not keep sessions; ` +
      'have it do so (PgBouncer: pool_mode = session), or name PostgreSQL itself in --db',
  )
}

// Time limits set in the database are meant for requests. If the client is killed, the server
// notices within a second and ends its statement.
const commandSettings: SessionSettings = {
  statement_timeout: 0,
  lock_timeout: 0,
  transaction_timeout: 0,
  idle_in_transaction_session_timeout: 0,
  idle_session_timeout: 0,
  // Otherwise, a null in a list of numbers is an error.
  array_nulls: 'on',
  client_connection_check_interval: 1_000,
  // If its machine or the network is lost, it notices within a minute; by default after two hours,
  // during which the session would keep its lock.
  tcp_keepalives_idle: 30,
  tcp_keepalives_interval: 10,
  tcp_keepalives_count: 3,
  tcp_user_timeout: 60_000,
}

/**
 * Makes the sessions of a command, without the time limits of requests. An operation gets the
 * session of the one before, since to begin another takes longer than most operations.
 *
 * A session is an OperatorError if the driver refuses the URL, or if a pooler does not leave it its
 * session of the server.
 */
export function openSessions(db: string, settings: SessionSettings = {}, wait?: LockWait): Pool {
  const begin = async (client: Client) => {
    const pid = await applySettings(client, db, { ...commandSettings, ...settings })
    if (isPooled(client, pid)) await refuseSharedSessions(client, db, pid)
    if (wait !== undefined) watchLocks(client, pid, wait, (work) => withSession(db, work))
  }
  return createPool(db, begin, {
    application_name: 'dossier',
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 0,
    // Nothing between here and the server forgets a session that waits for long files.
    keepAliveInitialDelayMillis: 60_000,
  })
}

/** Opens a session as those of `openSessions`, for its taker alone, who has to end it. */
export const openSession = (...asked: Parameters<typeof openSessions>): Promise<Client> =>
  openSessions(...asked).connect()

/** Runs `work` in a session of its own, which is closed afterwards. */
export async function withSession<T>(
  db: string,
  work: (client: Client) => Promise<T>,
  settings?: SessionSettings,
  wait?: LockWait,
): Promise<T> {
  const client = await openSession(db, settings, wait)
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/**
 * Runs `work` on a connection, which is kept for others unless it has failed itself, or is left in
 * a transaction.
 */
export async function withConnection<T>(
  pool: Pool,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect()
  let isLost = false
  try {
    return await work(client)
  } catch (error) {
    // A statement that fails, as by a timeout, leaves the session intact.
    isLost = !isOfStatement(error) || client.getTransactionStatus() !== 'I'
    throw error
  } finally {
    client.release(isLost)
  }
}

/**
 * Makes the pool of a server; it connects on first use.
 *
 * @param wait how a command that uses it waits for locks; a request waits for a short time only.
 */
export function openPool(
  db: string,
  bounds: ServingBounds,
  plans: PlanCacheMode = 'force_generic_plan',
  wait?: LockWait,
): Pool {
  const { pool, statementMs, waitMs } = bounds
  const settings = {
    statement_timeout: statementMs,
    // Short enough that requests waiting for its connection still get it in time.
    lock_timeout: wait === undefined ? Math.ceil(Math.min(statementMs, waitMs) / 2) : 0,
    // The pool itself closes idle sessions; one that the server closes may just get a request.
    idle_session_timeout: 0,
    default_transaction_read_only: 'on',
    plan_cache_mode: plans,
    // A plan outlives the state for which it was made: a store that was small, until an import.
    enable_seqscan: 'off',
    jit: 'off',
  }
  const begin = async (client: Client) => {
    const pid = await applySettings(client, db, settings)
    if (wait !== undefined) watchLocks(client, pid, wait, (work) => withSession(db, work))
  }
  return createPool(db, begin, {
    application_name: 'dossier serve',
    max: pool,
    connectionTimeoutMillis: waitMs,
    query_timeout: statementMs + graceMs,
    idleTimeoutMillis: 60_000,
  })
}

/** @param begin prepares a new session. */
function createPool(db: string, begin: (client: Client) => Promise<void>, own: PoolConfig): Pool {
  const opened = new Pool({
    // The pool calls it with `new`, which returns what it makes.
    Client: function make(config: ClientConfig) {
      return makeClient(db, config)
    } as unknown as new () => Client,
    ...clientConfig(db),
    // The pool waits for it, which its types do not say.
    onConnect: (client): unknown => begin(client as Client),
    keepAlive: true,
    ...own,
  })
  // The pool drops lost connections; there is nothing to report.
  return opened.on('error', () => undefined)
}

function makeClient(db: string, config: ClientConfig): Client {
  try {
    const client = createClient(config)
    // A session may end as soon as it is ready; the driver then only says that it is lost.
    client.on('error', () => undefined)
    client.once('error', (reason: Error) => {
      aroundQueries(client, (answer) => answer.catch(() => Promise.reject(reason)))
    })
    // If the driver itself gives up, as without a password, it leaves the connection open; the
    // server would close it after a minute.
    client.connection.once('error', () => client.connection.stream.destroy())
    return client
  } catch (error) {
    throw refusedByDriver(db, error)
  }
}

/** The driver's part of a URL: `schema` is our own parameter. */
function clientConfig(db: string): ClientConfig {
  const url = parseUrl(db)
  url.searchParams.delete('schema')
  // The driver treats these as `verify-full`, but warns that a later version will not.
  const isTaken = /^(prefer|require|verify-ca)$/.test(url.searchParams.get('sslmode') ?? '')
  if (isTaken && url.searchParams.get('uselibpqcompat') !== 'true') {
    url.searchParams.set('sslmode', 'verify-full')
  }
  return { connectionString: url.href, types: { getTypeParser } }
}

const int8 = types.builtins.INT8

/** Parses 64-bit integers as numbers: all that we store are below 2^53. */
function getTypeParser(
  type: Parameters<typeof types.getTypeParser>[0],
  format?: 'text' | 'binary',
): unknown {
  if (format === 'binary') return binaryParser(type)
  return type === int8 ? Number : types.getTypeParser(type)
}
