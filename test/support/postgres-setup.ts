// Set-up of a run on PostgreSQL: one server for all test files, unless one is given.
// DOSSIER_TEST_CITUS is the URL of a database on a coordinator of Citus: the stores of the run are
// made there, spread over its nodes.
//
// node --test --test-global-setup=test/support/postgres-setup.ts

import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { keepSessions } from './kept-sessions.ts'
import { type PostgresServer, startPostgres } from './postgres-server.ts'

let server: PostgresServer | undefined

export async function globalSetup(): Promise<void> {
  process.env['DOSSIER_TEST_RUN'] = randomBytes(4).toString('hex')
  const citus = process.env['DOSSIER_TEST_CITUS']
  if (citus !== undefined) process.env['DOSSIER_TEST_POSTGRES_URL'] = spreading(citus)
  if (process.env['DOSSIER_TEST_POSTGRES_URL'] !== undefined) return
  server = await startPostgres()
  process.env['DOSSIER_TEST_POSTGRES_URL'] = server.url
  process.env['DOSSIER_TEST_POOLER_URL'] = await keepSessions(server.url)
}

/** A URL whose sessions have every new store spread by Citus. */
function spreading(url: string): string {
  const own = new URL(url)
  own.searchParams.set('options', '-c dossier.distributed=on')
  return own.href
}

/** Called when the last file has ended, whether its tests have passed or failed. */
export async function globalTeardown(): Promise<void> {
  if (server !== undefined) return server.remove()
  const client = new Client({ connectionString: process.env['DOSSIER_TEST_POSTGRES_URL'] })
  await client.connect()
  const { rows } = await client.query<{ name: string }>(
    `select nspname as name from pg_namespace where nspname like $1`,
    [`dossier\\_test\\_${process.env['DOSSIER_TEST_RUN']}\\_%`],
  )
  // One at a time: a schema's tables are locked until it is gone.
  for (const { name } of rows) await client.query(`drop schema ${name} cascade`)
  await client.end()
}
