// The tables of a new store, without what is above them.

import { after } from 'node:test'
import { isServerStore } from '../../src/store/open-store.ts'
import type { ListingTables } from '../../src/store/listing/tables.ts'
import { openSession } from '../../src/store/postgres/connect.ts'
import { findSpread, migrate } from '../../src/store/postgres/migrate.ts'
import { tablesOf as postgresTables } from '../../src/store/postgres/tables.ts'
import { openForWriting } from '../../src/store/sqlite/open.ts'
import { tablesOf as sqliteTables } from '../../src/store/sqlite/tables.ts'

/** Creates the tables of a store, in a transaction that the end of the test file rolls back. */
export async function openTables(db: string): Promise<ListingTables> {
  if (!isServerStore(db)) {
    const file = openForWriting(db, [])
    file.exec('begin')
    after(() => file.close())
    return sqliteTables(file)
  }
  await migrate(db, [])
  const client = await openSession(db)
  await client.query('begin')
  after(() => client.end())
  return postgresTables(client, (await findSpread(client)) !== undefined)
}
