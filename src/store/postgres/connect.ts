// Connects to PostgreSQL: a session for a command, a pool for a server.

import type { Socket } from 'node:net'
import { type Client, type ClientBase, type ClientConfig, Pool, types } from 'pg'
import { binaryParser, createClient } from './binary.ts'
import { parseUrl, schemaIn } from './url.ts'

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
type SessionSettings = Readonly<Record<string, string | number>>

// Our timeout exceeds the server's by this much, so that the server's own error comes first. A hung
// server sends none.
const graceMs = 200

/** Opens a session for a command, without the time limits of requests. */
export async function openSession(db: string, settings: SessionSettings = {}): Promise<Client> {
  const client = createClient({
    ...clientConfig(db, { ...commandSettings, ...settings }),
    application_name: 'dossier',
    connectionTimeoutMillis: 10_000,
  })
  // A session that ends while idle emits an error, perhaps as soon as it is connected; the next
  // statement fails anyway.
  client.on('error', () => undefined)
  try {
    await client.connect()
  } catch (error) {
    // What the driver itself cannot begin, as without a password, it leaves open; the server would
    // end it after a minute.
    socketOf(client).destroy()
    throw error
  }
  return client
}

/** Runs `work` in a session of its own, which is closed afterwards. */
export async function withSession<T>(
  db: string,
  work: (client: Client) => Promise<T>,
  settings: SessionSettings = {},
): Promise<T> {
  const client = await openSession(db, settings)
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

// Time limits set in the database are meant for requests. If the client is killed, the server
// notices within a second and ends its statement.
const commandSettings: SessionSettings = {
  statement_timeout: 0,
  lock_timeout: 0,
  idle_in_transaction_session_timeout: 0,
  idle_session_timeout: 0,
  client_connection_check_interval: 1_000,
}

/**
 * Makes the pool of a server; it connects on first use.
 *
 * @param isDistributed whether Citus has distributed the tables.
 */
export function openPool(db: string, bounds: ServingBounds, isDistributed = false): Pool {
  const { pool, statementMs, waitMs } = bounds
  const opened = new Pool({
    // The pool calls it with `new`, which returns what it makes.
    Client: createClient as unknown as new () => ClientBase,
    ...clientConfig(db, {
      statement_timeout: statementMs,
      // Short enough that requests waiting for its connection still get it in time.
      lock_timeout: Math.ceil(Math.min(statementMs, waitMs) / 2),
      // The pool itself ends what is idle; a session that the server ends may just get a request.
      idle_session_timeout: 0,
      default_transaction_read_only: 'on',
      // Every statement has one good plan, an index seek, so there is no need to plan it again.
      // Citus can have one plan for statements of one table; it says which.
      plan_cache_mode: isDistributed ? 'auto' : 'force_generic_plan',
      jit: 'off',
    }),
    application_name: 'dossier serve',
    pipeline: true,
    max: pool,
    connectionTimeoutMillis: waitMs,
    query_timeout: statementMs + graceMs,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
  })
  // The pool drops connections that are lost; there is nothing to report. A session may end as soon
  // as it is ready, before anything waits for it.
  opened.on('error', () => undefined)
  opened.on('connect', (client) => client.on('error', () => undefined))
  return opened
}

/** Splits a URL: `schema` is our own parameter, the others are the driver's. */
function clientConfig(db: string, settings: SessionSettings): ClientConfig {
  const url = parseUrl(db)
  const schema = schemaIn(db)
  url.searchParams.delete('schema')
  const own = schema === undefined ? settings : { ...settings, search_path: schema }
  const options = [
    url.searchParams.get('options') ?? '',
    ...Object.entries(own).map(([name, value]) => `-c ${name}=${value}`),
  ]
  url.searchParams.delete('options')
  return {
    connectionString: url.href,
    options: options.join(' ').trim(),
    types: { getTypeParser },
  }
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
