// Transactions that write. There is one writer at a time: a second one waits, and is notified of
// that. If the connection is lost between COMMIT and its answer, the outcome is unknown.

import { addAbortListener } from 'node:events'
import type { Client } from 'pg'
import { type OperatorError, UnknownOutcomeError } from '../../config/operator-error.ts'
import type { LockWait } from '../work-watch.ts'
import { isOfStatement } from './connect.ts'
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

/**
 * Commits the session's transaction.
 *
 * @throws the driver's error if nothing was changed; UnknownOutcomeError if that is unknown.
 */
export async function commit(client: Client, db: string): Promise<void> {
  try {
    await client.query('commit')
  } catch (error) {
    // An error that leaves the session alive is an answer, too.
    throw isOfStatement(error) ? error : unknownOutcome(db, error)
  }
}

function unknownOutcome(db: string, cause: unknown): OperatorError {
  return new UnknownOutcomeError(
    `${describeUrl(db)}: the connection was lost during COMMIT, which may have been done; before ` +
      'you run the command again, look whether it was: dossier imports shows imports, reverts, ' +
      'removals and orders, dossier keys list shows keys (revoke one that was not printed)',
    { cause },
  )
}
