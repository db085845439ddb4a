// One writer at a time: a second one waits, and is notified of that.

import { type Client, DatabaseError } from 'pg'
import type { LockWait } from '../lock-wait.ts'
import { commit } from './commit.ts'

// Advisory locks are per database; the second key gives each schema, and so each store, its own.
const writeLock = `(x'444f5353'::integer, hashtext(current_schema()))`

/** Begins a transaction that may write, as soon as no other process holds this store's lock. */
export async function beginWriting(client: Client, { onWait, signal }: LockWait): Promise<void> {
  await client.query('begin')
  const { rows } = await client.query<{ taken: boolean }>(
    `select pg_try_advisory_xact_lock${writeLock} as taken`,
  )
  if (rows[0]?.taken === true) return
  onWait()
  const locked = client.query(`select pg_advisory_xact_lock${writeLock}`)
  await orAborted(locked, signal)
}

/** Stops waiting if the signal is aborted; the session still waits, and has to be closed. */
export async function orAborted(
  work: Promise<unknown>,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (signal === undefined) {
    await work
    return
  }
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', abort)
  if (signal.aborted) abort()
  try {
    await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
    work.catch(() => undefined)
    aborted.promise.catch(() => undefined)
  }
}

/**
 * Runs `work` in a transaction that holds the write lock.
 *
 * @param begin begins it.
 */
export async function withWriteLock<T>(
  client: Client,
  db: string,
  wait: LockWait,
  work: () => Promise<T>,
  begin = beginWriting,
): Promise<T> {
  return orRollBack(client, db, wait, async () => {
    await begin(client, wait)
    return work()
  })
}

/** Runs `work` in a transaction that begins with `lock`, a statement that locks a table. */
export async function inTransaction<T>(
  client: Client,
  db: string,
  lock: string,
  wait: LockWait,
  work: () => Promise<T>,
): Promise<T> {
  return orRollBack(client, db, wait, async () => {
    await client.query('begin')
    await acquireLock(client, lock, wait)
    return work()
  })
}

async function acquireLock(
  client: Client,
  lock: string,
  { onWait, signal }: LockWait,
): Promise<void> {
  try {
    await client.query(`${lock} nowait`)
    return
  } catch (error) {
    if (!(error instanceof DatabaseError && error.code === lockNotAvailable)) throw error
  }
  // The error has aborted the transaction.
  await client.query('rollback')
  onWait()
  await client.query('begin')
  await orAborted(client.query(lock), signal)
}

const lockNotAvailable = '55P03'

/** Commits the transaction of `work`, or rolls it back if `work` throws. */
async function orRollBack<T>(
  client: Client,
  db: string,
  { signal }: LockWait,
  work: () => Promise<T>,
): Promise<T> {
  try {
    const result = await work()
    await commit(client, db)
    return result
  } catch (error) {
    // The session still waits for the lock, and a rollback would wait, too; closing it rolls back.
    if (signal?.aborted && error === signal.reason) throw error
    // If the session itself is lost, the server has already rolled back.
    await client.query('rollback').catch(() => undefined)
    throw error
  }
}
