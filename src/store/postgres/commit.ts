// The end of a transaction. A connection that is lost after COMMIT was sent and before its answer
// has come leaves open whether anything was done; then PostgreSQL is asked on another one.

import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, DatabaseError } from 'pg'
import { type OperatorError, UnknownOutcomeError } from '../../operator-error.ts'
import { withSession } from './connect.ts'
import { describeUrl } from './url.ts'

/** How long PostgreSQL is asked what became of a commit: it may have to start anew. */
const patienceMs = 30_000
const pauseMs = 200

/**
 * Commits what the session has begun; when this returns, it is done, whatever the session does.
 *
 * @throws where nothing was changed, what the driver said; an OperatorError where nobody could say.
 */
export async function commit(client: Client, db: string, patience = patienceMs): Promise<void> {
  const { rows } = await client.query<{ xid: string | null }>(
    'select pg_current_xact_id_if_assigned()::text as xid',
  )
  const xid = rows[0]?.xid ?? null
  const isKept = xid !== null && (await keepNumbers(db))
  try {
    await client.query('commit')
  } catch (error) {
    // A transaction without a number has changed nothing; an error that leaves the session alive is
    // the answer.
    const isAnswered = error instanceof DatabaseError && error.severity === 'ERROR'
    if (isAnswered || xid === null) throw error
    const outcome = isKept ? await outcomeOf(xid, db, patience) : undefined
    if (outcome === undefined) throw unknownOutcome(db, error)
    if (outcome === 'aborted') throw error
  }
}

/**
 * Has all that was written so far on the disk, as any commit has. A crash would give the number of
 * a transaction of which nothing is there to the next one, and its outcome would be taken for ours.
 *
 * @returns false where the server does not let us: the commit goes on all the same, and should it
 *   be lost, nobody can say what became of it.
 */
async function keepNumbers(db: string): Promise<boolean> {
  try {
    const emit = `select pg_logical_emit_message(true, 'dossier', '')`
    await withSession(db, (own) => own.query(emit), { synchronous_commit: 'local' })
    return true
  } catch (error) {
    if (error instanceof DatabaseError && notAllowed.has(error.code ?? '')) return false
    throw error
  }
}

// No second session for this role; no right to the function; no such function.
const notAllowed: ReadonlySet<string> = new Set(['53300', '42501', '42883'])

/** What became of a transaction; undefined where PostgreSQL does not say so in time. */
async function outcomeOf(
  xid: string,
  db: string,
  patience: number,
): Promise<'committed' | 'aborted' | undefined> {
  for (const end = performance.now() + patience; ; await sleep(pauseMs)) {
    const status = await askFor(xid, db).catch(() => undefined)
    if (status === 'committed' || status === 'aborted') return status
    if (performance.now() > end) return undefined
  }
}

// A session that COMMIT has never reached would wait for it until the server noticed that nobody is
// there. It is ended, so that there is an answer; one that commits is left to do so.
const endIdleSession = `
  select pg_terminate_backend(pid) from pg_stat_activity
  where backend_xid = $1::text::xid8::xid and state = 'idle in transaction'`

async function askFor(xid: string, db: string): Promise<string | null | undefined> {
  const ask = async (client: Client) => {
    const { rows } = await client.query<{ status: string | null }>(
      'select pg_xact_status($1::text::xid8) as status',
      [xid],
    )
    if (rows[0]?.status === 'in progress') await client.query(endIdleSession, [xid])
    return rows[0]?.status
  }
  return withSession(db, ask, { statement_timeout: 5_000 })
}

function unknownOutcome(db: string, cause: unknown): OperatorError {
  return new UnknownOutcomeError(
    `${describeUrl(db)}: the connection was lost during a commit, and PostgreSQL does not say ` +
      'whether it succeeded; see dossier imports and dossier keys list before you try again',
    { cause },
  )
}
