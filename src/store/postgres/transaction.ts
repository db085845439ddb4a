// One writer at a time: who comes second waits, and is told so.

import { type Client, DatabaseError } from 'pg'
import type { LockWait } from '../lock-wait.ts'
import { commit } from './commit.ts'

// Locks of this kind are a database's, so that stores in schemas of their own each have one.
const writeLock = `(x'444f5353'::integer, hashtext(current_schema()))`

/** Begins a transaction that may write, as soon as no other process holds one on this store. */
export async function beginWriting(client: Client, { onWait, signal }: LockWait): Promise<void> {
  await client.query('begin')
  const { rows } = await client.query<{ taken: boolean }>(
    `select pg_try_advisory_xact_lock${writeLock} as taken`,
  )
  if (rows[0]?.taken === true) return
  onWait()
  const locked = client.query(`select pg_advisory_xact_lock${writeLock}`)
  await (signal === undefined ? locked : orAborted(locked, signal))
}

/** Leaves the wait where the signal comes; who ends the session ends it on the server, too. */
async function orAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
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

/** Runs `work` in a transaction of its own, when it is its turn. */
export async function withWriteLock<T>(
  client: Client,
  db: string,
  wait: LockWait,
  work: () => Promise<T>,
): Promise<T> {
  return orRollBack(client, db, wait, async () => {
    await beginWriting(client, wait)
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
    await takeLock(client, lock, wait)
    return work()
  })
}

async function takeLock(client: Client, lock: string, { onWait, signal }: LockWait): Promise<void> {
  try {
    await client.query(`${lock} nowait`)
    return
  } catch (error) {
    if (!(error instanceof DatabaseError && error.code === lockNotAvailable)) throw error
  }
  // The failed statement has ended the transaction.
  await client.query('rollback')
  onWait()
  await client.query('begin')
  const taken = client.query(lock)
  await (signal === undefined ? taken : orAborted(taken, signal))
}

const lockNotAvailable = '55P03'

/** Commits what `work` has begun; a throw in it leaves the state before. */
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
    // A session that still waits would do nothing else before; who ends it ends the transaction.
    if (signal?.aborted && error === signal.reason) throw error
    // Where the session itself is lost, the server has rolled back already.
    await client.query('rollback').catch(() => undefined)
    throw error
  }
}
