// Transactions that write. There is one writer at a time: a second one waits, and is notified of
// that. If the connection is lost between COMMIT and its answer, the outcome is unknown, and
// PostgreSQL is asked on another connection.

import { addAbortListener } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, DatabaseError } from 'pg'
import { type OperatorError, UnknownOutcomeError } from '../../config/operator-error.ts'
import type { LockWait } from '../work-watch.ts'
import { isOfStatement, withSession } from './connect.ts'
import { describeUrl } from './url.ts'

type Begin = (client: Client, wait: LockWait) => Promise<void>

/**
 * Makes what begins a transaction as soon as no other process holds a lock of this store.
 *
 * Advisory locks are per database; the second key gives each schema, and so each store, its own.
 * With Citus, one on the coordinator is enough, since only that writes; a lock of a table would be
 * taken on every node, and the error from a node that refuses it does not say why.
 *
 * @param name of the lock, in hexadecimal digits.
 */
function beginWithLock(name: string): Begin {
  const lock = `advisory_xact_lock(x'${name}'::integer, hashtext(current_schema()))`
  return async (client, { onWait, signal }) => {
    await client.query('begin')
    const { rows } = await client.query<{ taken: boolean }>(`select pg_try_${lock} as taken`)
    if (rows[0]?.taken === true) return
    onWait()
    await orAborted(client.query(`select pg_${lock}`), signal)
  }
}

/** Begins a transaction that may write. */
export const beginWriting = beginWithLock('444f5353')

/** Begins a transaction that changes keys; these wait for each other, but not for imports. */
export const beginWithKeys = beginWithLock('444f534b')

/** Stops waiting if the signal is aborted; the session still waits, and has to be closed. */
export async function orAborted(
  work: Promise<unknown>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const aborted = Promise.withResolvers<never>()
  using _ = signal && addAbortListener(signal, () => aborted.reject(signal.reason))
  await Promise.race([work, aborted.promise])
}

/**
 * Runs `work` in a transaction; rolls it back if `work` throws.
 *
 * @param begin begins it, and waits for its lock.
 */
export async function inTransaction<T>(
  client: Client,
  db: string,
  wait: LockWait,
  work: () => Promise<T>,
  begin = beginWriting,
): Promise<T> {
  try {
    await begin(client, wait)
    const result = await work()
    await commit(client, db)
    return result
  } catch (error) {
    // The session still waits for the lock, and a rollback would wait, too; closing it rolls back.
    if (wait.signal?.aborted && error === wait.signal.reason) throw error
    // If the session itself is lost, the server has already rolled back.
    await client.query('rollback').catch(() => undefined)
    throw error
  }
}

/** How long to ask PostgreSQL for the outcome of a commit, since it may have to restart. */
const outcomeMs = 30_000
const pauseMs = 200

/**
 * Commits the session's transaction. When this returns, it is committed, even if the session broke.
 *
 * @throws the driver's error if nothing was changed; UnknownOutcomeError if that is unknown.
 */
export async function commit(client: Client, db: string, timeoutMs = outcomeMs): Promise<void> {
  const { rows } = await client.query<{ xid: string | null }>(
    'select pg_current_xact_id_if_assigned()::text as xid',
  )
  const xid = rows[0]?.xid ?? null
  const server = xid === null ? undefined : await flushWal(db)
  try {
    await client.query('commit')
  } catch (error) {
    // Without a transaction id, nothing was changed. An error that leaves the session alive is an
    // answer, too.
    if (isOfStatement(error) || xid === null) throw error
    const outcome = server && (await outcomeOf(xid, server, db, timeoutMs))
    if (outcome === undefined) throw unknownOutcome(db, error)
    if (outcome === 'aborted') throw error
  }
}

/**
 * Flushes all WAL written so far, as any commit does. Otherwise a server that crashes could give
 * the lost transaction's id to another one, whose outcome would be taken for ours.
 *
 * @returns which server has flushed it; undefined if it does not allow this. The commit goes ahead,
 *   but if its answer is lost, the outcome cannot be determined.
 */
async function flushWal(db: string): Promise<string | undefined> {
  try {
    const emit = `select pg_logical_emit_message(true, 'dossier', '')`
    const flush = async (own: Client) => {
      await own.query(emit)
      return await readServer(own)
    }
    return await withSession(db, flush, { synchronous_commit: 'local' })
  } catch (error) {
    if (error instanceof DatabaseError && notAllowed.has(error.code ?? '')) return undefined
    throw error
  }
}

// Too many connections; no permission for a function; no such function; not supported.
const notAllowed: ReadonlySet<string> = new Set(['53300', '42501', '42883', '0A000', '55000'])

/**
 * Which server it is, and in which timeline of its WAL. A standby that was promoted begins another
 * one; it may not have what was flushed before, and gives the same ids to other transactions.
 */
async function readServer(client: Client): Promise<string | undefined> {
  const { rows } = await client.query<{ server: string }>(`
    select system_identifier || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) as server
    from pg_control_system()`)
  return rows[0]?.server
}

/** The outcome of a transaction; undefined if its server does not report it in time. */
async function outcomeOf(
  xid: string,
  server: string,
  db: string,
  timeoutMs: number,
): Promise<'committed' | 'aborted' | undefined> {
  for (const end = performance.now() + timeoutMs; ; await sleep(pauseMs)) {
    const status = await queryStatus(xid, server, db).catch(() => undefined)
    if (status === 'elsewhere') return undefined
    if (status === 'committed' || status === 'aborted') return status
    if (performance.now() > end) return undefined
  }
}

// A session that COMMIT never reached would wait for it until the server notices the lost client.
// It is terminated, so that there is an answer; a session that is committing is left to finish.
const endIdleSession = `
  select pg_terminate_backend(pid) from pg_stat_activity
  where backend_xid = $1::text::xid8::xid and state = 'idle in transaction'`

async function queryStatus(
  xid: string,
  server: string,
  db: string,
): Promise<string | null | undefined> {
  const readStatus = async (client: Client) => {
    if ((await readServer(client)) !== server) return 'elsewhere'
    const { rows } = await client.query<{ status: string | null }>(
      'select pg_xact_status($1::text::xid8) as status',
      [xid],
    )
    if (rows[0]?.status === 'in progress') await client.query(endIdleSession, [xid])
    return rows[0]?.status
  }
  return withSession(db, readStatus, { statement_timeout: 5_000 })
}

function unknownOutcome(db: string, cause: unknown): OperatorError {
  return new UnknownOutcomeError(
    `${describeUrl(db)}: the connection was lost during a commit, and PostgreSQL does not say ` +
      'whether it succeeded; see dossier imports and dossier keys list before you try again',
    { cause },
  )
}
