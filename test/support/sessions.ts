// Sessions of PostgreSQL that end with a test.

import type { Client, Pool } from 'pg'
import { openPool, openSession } from '../../src/store/postgres/connect.ts'
import { patientBounds } from './store-at.ts'

interface Ending {
  after(work: () => Promise<void>): void
}

export async function sessionFor(t: Ending, url: string): Promise<Client> {
  const session = await openSession(url)
  t.after(() => session.end())
  return session
}

/** A pool, of one session unless told otherwise. */
export function poolFor(t: Ending, url: string, bounds: object = {}): Pool {
  const pool = openPool(url, { ...patientBounds, pool: 1, ...bounds })
  t.after(() => pool.end())
  return pool
}
