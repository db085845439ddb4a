// A PostgreSQL of a campaign's own, and what its administrator does to it.

import { setTimeout as sleep } from 'node:timers/promises'
import { Client, DatabaseError, Pool, type QueryResultRow } from 'pg'
import { type PostgresServer, startPostgres } from '../test/support/postgres-server.ts'
import type { Outcome } from './outcome.ts'

/** A server, and a session of its superuser's that outlives the server's crashes. */
export interface Cluster {
  readonly server: PostgresServer
  /** The URL of the store in one of its databases. */
  urlOf(database: string): string
  /** Asks the server; where it is down, as soon as it is up again. */
  query<Row extends QueryResultRow>(sql: string, values?: readonly unknown[]): Promise<Row[]>
}

const settings = {
  // A write that `kill -9` cuts in two would be torn, as it is when a machine goes down.
  full_page_writes: 'on',
  // Temporary tables that a crash has left in the catalogue are dropped by autovacuum.
  autovacuum_naptime: '1s',
}

const patienceMs = 20_000

/** Runs trials on a server of their own; where there can be none, says why. */
export async function* onCluster(
  what: string,
  trials: (cluster: Cluster) => AsyncGenerator<Outcome>,
): AsyncGenerator<Outcome> {
  const started = await startPostgres({ settings }).catch(whyNoServer)
  if (typeof started === 'string') {
    yield { what, found: started, isSkipped: true }
    return
  }
  const pool = new Pool({ connectionString: started.url, max: 1 })
  // A session that the server's end has ended is replaced with the next query.
  pool.on('error', () => undefined)
  const cluster = makeCluster(started, pool)
  try {
    await addChecks(cluster)
    yield* trials(cluster)
  } finally {
    await pool.end()
    await started.remove()
  }
}

function whyNoServer(error: unknown): string {
  const [line] = String(error).split('\n')
  return `no PostgreSQL runs here: ${line}`
}

function makeCluster(server: PostgresServer, pool: Pool): Cluster {
  return {
    server,
    urlOf(database) {
      const url = new URL(server.url)
      url.pathname = `/${database}`
      url.searchParams.set('schema', 'dossier')
      return url.href
    },
    async query<Row extends QueryResultRow>(sql: string, values: readonly unknown[] = []) {
      for (const end = performance.now() + patienceMs; ; await sleep(20)) {
        try {
          return (await pool.query<Row>(sql, [...values])).rows
        } catch (error) {
          const isAnswer = error instanceof DatabaseError && error.severity === 'ERROR'
          if (isAnswer || performance.now() > end) throw error
        }
      }
    },
  }
}

/** Every database that is made after it can check its own files. */
async function addChecks({ server }: Cluster): Promise<void> {
  const url = new URL(server.url)
  url.pathname = '/template1'
  const client = new Client({ connectionString: url.href })
  await client.connect()
  await client.query('create extension amcheck')
  await client.end()
}
