// A PostgreSQL server for one campaign.

import { setTimeout as sleep } from 'node:timers/promises'
import { Client, DatabaseError, Pool, type QueryResultRow } from 'pg'
import { type PostgresServer, startPostgres } from '../test/support/postgres-server.ts'
import type { Outcome } from './outcome.ts'

/** A server, and superuser queries that survive its crashes. */
export interface Cluster {
  readonly server: PostgresServer
  /** The URL of the store in one of its databases. */
  urlOf(database: string): string
  /** Runs a query; if the server is down, once it is up again. */
  query<Row extends QueryResultRow>(sql: string, values?: readonly unknown[]): Promise<Row[]>
  /** Ends its session; the server keeps running. */
  close(): Promise<void>
}

const settings = {
  // `kill -9` may tear a write, as a crash of the machine does.
  full_page_writes: 'on',
  // Autovacuum drops temporary tables that a crash has left in the catalogue.
  autovacuum_naptime: '1s',
}

const timeoutMs = 20_000

/** Runs trials on a new server; if it cannot start, yields one skipped outcome with the reason. */
export async function* onCluster(
  what: string,
  trials: (cluster: Cluster) => AsyncGenerator<Outcome>,
): AsyncGenerator<Outcome> {
  const started = await startPostgres({ settings }).catch(whyNoServer)
  if (typeof started === 'string') {
    yield { what, found: started, isSkipped: true }
    return
  }
  const cluster = clusterOf(started)
  try {
    await addChecks(cluster)
    yield* trials(cluster)
  } finally {
    await cluster.close()
    await started.remove()
  }
}

function whyNoServer(error: unknown): string {
  const [line] = String(error).split('\n')
  return `no PostgreSQL runs here: ${line}`
}

/** The SQLSTATE of a server that has lost its own connection to a node. */
const connectionFailure = '08006'

/** Opens a session with a server. */
export function clusterOf(server: PostgresServer): Cluster {
  const pool = new Pool({ connectionString: server.url, max: 1 })
  // The next query replaces a session that a crash has ended.
  pool.on('error', () => undefined)
  return {
    server,
    close: () => pool.end(),
    urlOf(database) {
      const url = new URL(server.url)
      url.pathname = `/${database}`
      url.searchParams.set('schema', 'dossier')
      return url.href
    },
    async query<Row extends QueryResultRow>(sql: string, values: readonly unknown[] = []) {
      for (const end = performance.now() + timeoutMs; ; await sleep(20)) {
        try {
          return (await pool.query<Row>(sql, [...values])).rows
        } catch (error) {
          const isAnswer =
            error instanceof DatabaseError &&
            error.severity === 'ERROR' &&
            error.code !== connectionFailure
          if (isAnswer || performance.now() > end) throw error
        }
      }
    },
  }
}

/** Adds amcheck to the template, so that every database created later can check its files. */
async function addChecks({ server }: Cluster): Promise<void> {
  const url = new URL(server.url)
  url.pathname = '/template1'
  const client = new Client({ connectionString: url.href })
  await client.connect()
  await client.query('create extension amcheck')
  await client.end()
}
