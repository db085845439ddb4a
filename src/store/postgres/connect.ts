// Connections to a PostgreSQL: a command's session, and a server's pool.

import { Client, type ClientConfig, Pool, types } from 'pg'
import { parseUrl, schemaIn } from './url.ts'

/** Bounds on what a request may ask of the server. */
export interface ServingBounds {
  /** Connections at the most. */
  readonly pool: number
  /** How long one statement may run, in milliseconds. */
  readonly statementMs: number
  /** How long a request waits for a connection, new or free, in milliseconds. */
  readonly waitMs: number
}

/**
 * How long a request's statement waits for a lock, in milliseconds: so short that a request that
 * waits for its connection meanwhile still gets it in time.
 */
export function lockMsOf({ statementMs, waitMs }: ServingBounds): number {
  return Math.ceil(Math.min(statementMs, waitMs) / 2)
}

export const defaultBounds: ServingBounds = { pool: 10, statementMs: 1_000, waitMs: 500 }

/** Settings of a session, as `set` would make them. */
type SessionSettings = Readonly<Record<string, string | number>>

// A server that hangs sends no error of its own. We give it this much longer than a statement may
// take, so that its own account of a timeout comes first.
const graceMs = 200

/** Opens a session for a command; it has all the time that it needs. */
export async function openSession(db: string, settings: SessionSettings = {}): Promise<Client> {
  const client = new Client({
    ...clientConfig(db, { ...commandSettings, ...settings }),
    application_name: 'dossier',
    connectionTimeoutMillis: 10_000,
  })
  await client.connect()
  // A session that ends while it is idle says so here; the next statement fails of itself.
  client.on('error', () => undefined)
  return client
}

/** Gives `work` a session of its own, which ends with it. */
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

// The database's own bounds are meant for requests. Where the client is killed, its statement ends
// as soon as the server notices.
const commandSettings: SessionSettings = {
  statement_timeout: 0,
  lock_timeout: 0,
  idle_in_transaction_session_timeout: 0,
  client_connection_check_interval: 1_000,
}

/** Makes the pool that a server reads through; it connects when it is first asked. */
export function openPool(db: string, bounds: ServingBounds): Pool {
  const { pool, statementMs, waitMs } = bounds
  const opened = new Pool({
    ...clientConfig(db, {
      statement_timeout: statementMs,
      lock_timeout: lockMsOf(bounds),
      default_transaction_read_only: 'on',
      // Every statement has one good plan, an index seek; none is planned twice.
      plan_cache_mode: 'force_generic_plan',
      jit: 'off',
    }),
    application_name: 'dossier serve',
    max: pool,
    connectionTimeoutMillis: waitMs,
    query_timeout: statementMs + graceMs,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
  })
  // The pool drops a connection that is lost while nobody uses it; nobody has to be told.
  opened.on('error', () => undefined)
  return opened
}

/** Takes a URL apart: `schema` is ours, the rest is the driver's. */
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

/** Numbers of 64 bits as numbers: all that we store are below 2^53. */
function getTypeParser(
  type: Parameters<typeof types.getTypeParser>[0],
  format?: 'text' | 'binary',
): unknown {
  if (type === int8 && format !== 'binary') return Number
  return format === 'binary' ? types.getTypeParser(type, format) : types.getTypeParser(type)
}
