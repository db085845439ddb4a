// A separate database for one test file, on the server of the run: without the sessions and
// extensions of files that run at the same time.

import { after, before } from 'node:test'
import { Client } from 'pg'
import { schemaPrefix, testServerUrl } from './store-at.ts'

/** Puts the stores of the calling file into a database that is dropped at its end. */
export function useOwnDatabase(name: string): void {
  const server = testServerUrl()
  const database = `${schemaPrefix}${name}`
  before(async () => {
    await administer(server, `create database ${database}`)
    const own = new URL(server)
    own.pathname = `/${database}`
    process.env['DOSSIER_TEST_POSTGRES_URL'] = own.href
  })
  after(() => administer(server, `drop database ${database} with (force)`))
}

async function administer(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query(sql)
  await client.end()
}
