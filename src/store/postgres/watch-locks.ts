// Commands that wait for locks of other sessions report that.

import { addAbortListener } from 'node:events'
import type { Client } from 'pg'
import type { LockWait } from '../work-watch.ts'

/** Passes the answers of a session's queries through a function. */
export function aroundQueries(
  client: Client,
  around: (answer: Promise<unknown>) => Promise<unknown>,
): void {
  const ask = client.query.bind(client) as (...asked: unknown[]) => unknown
  const query = (...asked: unknown[]) => {
    const answer = ask(...asked)
    return answer instanceof Promise ? around(answer) : answer
  }
  client.query = query as typeof client.query
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
 *
 * @param pid the session's process.
 * @param withAnother runs work in a session of its own.
 */
export function watchLocks(
  client: Client,
  pid: number | undefined,
  { onWait, signal }: LockWait,
  withAnother: (work: (own: Client) => Promise<void>) => Promise<void>,
): void {
  let running = 0
  let isGivenUp = false
  const look = async (own: Client) => {
    const { rows } = await own.query<{ locked: string }>(awaitedSql, [pid])
    if (rows[0] === undefined || running === 0) return
    isGivenUp = signal?.aborted === true
    if (isGivenUp) client.connection.stream.destroy()
    else onWait(`another session of PostgreSQL has locked ${rows[0].locked}; waiting for it`)
  }
  // If no session can be had to look, the statement goes on.
  const tryLook = () => void (running > 0 && withAnother(look).catch(() => undefined))
  const listener = signal && addAbortListener(signal, tryLook)
  client.once('end', () => listener?.[Symbol.dispose]())
  aroundQueries(client, async (answer) => {
    running += 1
    const timer = setTimeout(tryLook, patientMs)
    try {
      return await answer
    } catch (error) {
      throw isGivenUp ? signal?.reason : error
    } finally {
      running -= 1
      clearTimeout(timer)
    }
  })
}
