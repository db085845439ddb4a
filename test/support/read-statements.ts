// Reads what sources say about companies, past any version: on any kind of store.

import { DatabaseSync } from 'node:sqlite'
import { readAttributes, statementOf } from '../../src/store/companies/attributes.ts'
import { attributesShape } from '../../src/store/listing/shape.ts'
import type { ListingTables } from '../../src/store/listing/tables.ts'
import { isServerStore } from '../../src/store/open-store.ts'
import { openSession } from '../../src/store/postgres/connect.ts'
import { tablesOf as tablesOnServer } from '../../src/store/postgres/tables.ts'
import { tablesOf } from '../../src/store/sqlite/tables.ts'
import { onCitus, storeAt } from './store-at.ts'

/** Reads or writes the listings of a store that nobody else changes. */
export async function useTables<T>(
  path: string,
  work: (tables: ListingTables) => Promise<T>,
): Promise<T> {
  const at = storeAt(path)
  if (!isServerStore(at)) {
    const db = new DatabaseSync(at)
    try {
      return await work(tablesOf(db))
    } finally {
      db.close()
    }
  }
  const client = await openSession(at)
  try {
    return await work(tablesOnServer(client, onCitus !== false))
  } finally {
    await client.end()
  }
}

/** What a source says about a company. */
export interface ReadStatement {
  readonly companyId: number
  readonly source: number
  readonly version: number
  readonly isPresent: boolean
  readonly asOf: string | null
  readonly attributes: string
}

/**
 * What all sources say about all companies, by company and source.
 *
 * @param version the last one by default.
 */
export async function readStatements(path: string, version?: number): Promise<ReadStatement[]> {
  return useTables(path, async (tables) => {
    const range = { after: -1, limit: 1_000_000 }
    const companies = await tables.companiesWith(attributesShape.listing, range)
    const said = await readAttributes(tables, companies, version)
    return [...said].flatMap(([companyId, records]) =>
      records.map((record) => {
        const attributes = Buffer.from(record.text).toString()
        return { companyId, source: record.source, ...statementOf(record), attributes }
      }),
    )
  })
}
