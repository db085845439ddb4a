// Reads companies from SQLite, apart from their listings.

import type { DatabaseSync } from 'node:sqlite'
import { LRUCache } from 'lru-cache'
import type { CompanyReader } from '../reading.ts'
import { findCompanies, readRegistry } from '../sql/find-companies.ts'
import { findNames } from '../sql/inspect.ts'
import { readVersions } from '../sql/versions.ts'
import { databaseOf } from './database.ts'
import { createSnapshots } from './snapshot.ts'

/** How many companies' names are cached. */
const cachedMax = 20_000

/** @param stateOf identifies the state of the database: it changes with every commit. */
export function createCompanyReader(db: DatabaseSync, stateOf: () => number): CompanyReader {
  const find = db.prepare('select id from companies where jurisdiction = ? and identifier = ?')
  find.setReturnArrays(true)
  const ids = new LRUCache<string, number>({ max: cachedMax })
  let state = 0
  const inSnapshot = createSnapshots(db)
  return {
    findCompany([jurisdiction, identifier]) {
      // A jurisdiction has no colon, so no two names have the same key.
      const key = `${jurisdiction}:${identifier}`
      if (state !== stateOf()) ids.clear()
      state = stateOf()
      const cached = ids.get(key)
      if (cached !== undefined) return cached
      const row = find.get(jurisdiction, identifier) as unknown as [id: number] | undefined
      if (row !== undefined) ids.set(key, row[0])
      return row?.[0]
    },
    findNames: (names, limit) => findNames(databaseOf(db), names, limit),
    findCompanies: (query) => inSnapshot((snapshot) => findCompanies(snapshot, query)),
    readRegistry: () => inSnapshot(readRegistry),
    readVersions: (range) => inSnapshot((snapshot) => readVersions(snapshot, range)),
  }
}
