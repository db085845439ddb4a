// Connects to PostgreSQL: a session for a command, a pool for a server.

import { addAbortListener } from 'node:events'
import type { Socket } from 'node:net'
import { type Client, type ClientBase, type ClientConfig, DatabaseError, Pool, types } from 'pg'
import { OperatorError } from '../../config/operator-error.ts'
import type { LockWait } from '../work-watch.ts'
import { binaryParser, createClient } from './binary.ts'
import { describeUrl, parseUrl, refusedByDriver, schemaIn } from './url.ts'

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

/** The socket of a session, which is not in the driver's types. */
export function socketOf(client: ClientBase): Socket {
  return (client as unknown as { readonly connection: { readonly stream: Socket } }).connection
    .stream
}

/** Settings of a session, as for `set`. */
export type SessionSettings = Readonly<Record<string, string | number>>

// Our timeout exceeds the server's by this much, so that the server's own error comes first. A hung
// server sends none.
const graceMs = 200

/**
 * Opens a session for a command, without the time limits of requests.
 *
 * @throws OperatorError if the driver refuses the URL, or a pooler does not leave it its session of
 *   the server.
 */
export async function openSession(
  db: string,
  settings: SessionSettings = {},
  wait?: LockWait,
): Promise<Client> {
  const client = makeClient(db)
  // It may be lost as soon as it is connected.
  client.once('error', (reason: Error) => failWith(client, reason))
  client.on('error', () => undefined)
  try {
    await client.connect()
    const pid = await applySettings(client, db, { ...commandSettings, ...settings })
    if (isPooled(client, pid)) await refuseSharedSessions(client, db, pid)
    if (wait !== undefined) watchLocks(client, db, pid, wait)
    return client
  } catch (error) {
    // If the driver itself gives up, as without a password, it leaves the connection open; the
    // server would close it after a minute.
    socketOf(client).destroy()
    throw error
  }
}

function makeClient(db: string): Client {
  const own = {
    application_name: 'dossier',
    connectionTimeoutMillis: 10_000,
    // Nothing between here and the server forgets a session that waits for long files.
    keepAlive: true,
    keepAliveInitialDelayMillis: 60_000,
  }
  const config = { ...clientConfig(db), ...own }
  try {
    return createClient(config)
  } catch (error) {
    throw refusedByDriver(db, error)
  }
}

/** Makes queries of a lost session fail with the reason; the driver only says that it is lost. */
function failWith(client: Client, reason: Error): void {
  const ask = client.query.bind(client) as (...asked: unknown[]) => unknown
  const query = (...asked: unknown[]) => {
    const answer = ask(...asked)
    return answer instanceof Promise ? answer.catch(() => Promise.reject(reason)) : answer
  }
  client.query = query as typeof client.query
}

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
  client: ClientBase,
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
function isPooled(client: ClientBase, pid: number | undefined): boolean {
  return (client as unknown as { readonly processID: number }).processID !== pid
}

/** How long a statement of a command may run before it is asked whether it waits for a lock. */
const patientMs = 3_000

// Advisory locks are those of other commands, which are reported at once (transaction.ts).
const awaitedSql = `
  select coalesce('the table ' || c.relname, 'rows') as locked
  from pg_locks l left join pg_class c on c.oid = l.relation
  where l.pid = $1 and not l.granted and l.locktype <> 'advisory' limit 1`

/**
 * Reports if a statement of a command has to wait for a lock of another session; a signal ends the
 * wait, and the session, whose statements fail with its reason.
 */
function watchLocks(
  client: ClientBase,
  db: string,
  pid: number | undefined,
  { onWait, signal }: LockWait,
): void {
  let running = 0
  let isGivenUp = false
  const look = async () => {
    const { rows } = await withSession(db, (own) =>
      own.query<{ locked: string }>(awaitedSql, [pid]),
    )
    if (rows[0] === undefined || running === 0) return
    isGivenUp = signal?.aborted === true
    if (isGivenUp) socketOf(client).destroy()
    else onWait(`another session of PostgreSQL has locked ${rows[0].locked}; waiting for it`)
  }
  // If no session can be had to look, the statement goes on.
  const tryLook = () => void (running > 0 && look().catch(() => undefined))
  const listener = signal && addAbortListener(signal, tryLook)
  client.once('end', () => listener?.[Symbol.dispose]())
  const ask = client.query.bind(client) as (...asked: unknown[]) => unknown
  const query = (...asked: unknown[]) => {
    const answer = ask(...asked)
    if (!(answer instanceof Promise)) return answer
    running += 1
    const timer = setTimeout(tryLook, patientMs)
    const ended = answer.finally(() => {
      running -= 1
      clearTimeout(timer)
    })
    return ended.catch((error: unknown) => {
      throw isGivenUp ? (signal?.reason as Error) : error
    })
  }
  client.query = query as typeof client.query
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

/** Runs `work` in a session of its own, which is closed afterwards. */
export async function withSession<T>(
  db: string,
  work: (client: Client) => Promise<T>,
  settings: SessionSettings = {},
  wait?: LockWait,
): Promise<T> {
  const client = await openSession(db, settings, wait)
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

export type Sessions = ReturnType<typeof createSessions>

/**
 * Makes the sessions of a command, for one operation after another. An operation gets the session
 * of the one before, since to begin another takes longer than most operations.
 */
export function createSessions(db: string, settings: SessionSettings, wait?: LockWait) {
  let kept: Client | undefined

  /** A session for its taker alone, who has to end it. */
  async function take(): Promise<Client> {
    const client = kept
    kept = undefined
    const isOpen = client !== undefined && !socketOf(client).destroyed
    return isOpen ? client : openSession(db, settings, wait)
  }

  /** Runs `work` in a session, which ends if that fails: it may be in a transaction. */
  async function use<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const client = await take()
    try {
      const result = await work(client)
      kept ??= client
      return result
    } finally {
      if (kept !== client) await client.end()
    }
  }

  return { take, use, close: async () => kept?.end() }
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
 * Makes the pool of a server; it connects on first use.
 *
 * @param wait how a command that uses it waits for locks; a request waits for a short time only.
 */
export function openPool(
  db: string,
  bounds: ServingBounds,
  isDistributed = false,
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
    // Every statement has one good plan, an index seek, so there is no need to plan it again.
    // Citus can reuse plans only of statements on one table, which `auto` leaves to it.
    plan_cache_mode: isDistributed ? 'auto' : 'force_generic_plan',
    // A plan outlives the state for which it was made: a store that was small, until an import.
    enable_seqscan: 'off',
    jit: 'off',
  }
  const begin = async (client: ClientBase) => {
    const pid = await applySettings(client, db, settings)
    if (wait !== undefined) watchLocks(client, db, pid, wait)
  }
  const opened = new Pool({
    // The pool calls it with `new`, which returns what it makes.
    Client: createClient as unknown as new () => ClientBase,
    ...clientConfig(db),
    // The pool waits for it, which its types do not say.
    onConnect: (client): unknown => begin(client),
    application_name: 'dossier serve',
    pipeline: true,
    max: pool,
    connectionTimeoutMillis: waitMs,
    query_timeout: statementMs + graceMs,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
  })
  // The pool drops lost connections; there is nothing to report. A session may end as soon as it is
  // ready, before anything waits for it.
  opened.on('error', () => undefined)
  opened.on('connect', (client) => client.on('error', () => undefined))
  return opened
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
