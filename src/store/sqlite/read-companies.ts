// Reads companies from SQLite, apart from their listings.

import type { DatabaseSync } from 'node:sqlite'
import { LRUCache } from 'lru-cache'
import { readChanges } from '../changes/read-changes.ts'
import type { CompanyReader, RegistryState } from '../reading.ts'
import { readCompany } from '../serving/company.ts'
import { createKeptCounts } from '../serving/value-counts.ts'
import { findCompanies } from '../sql/find-companies.ts'
import { findVersion } from '../sql/find-version.ts'
import { findNames } from '../sql/inspect.ts'
import type { InSnapshot } from '../sql/snapshot.ts'
import { readVersions } from '../sql/versions.ts'
import { databaseOf } from './database.ts'
import { prepareRow } from './statements.ts'

/** How many companies' names are cached. */
const cachedMax = 20_000

/** What the reader of companies uses. */
interface CompanyReading {
  /** Forgets what is kept if another process has committed. */
  readonly refresh: () => void
  readonly registry: () => RegistryState
  readonly inSnapshot: InSnapshot
}

export interface FileCompanies {
  readonly reader: CompanyReader
  readonly forget: () => void
}

export function createCompanyReader(
  db: DatabaseSync,
  { refresh, registry, inSnapshot }: CompanyReading,
): FileCompanies {
  const find = prepareRow(db, 'select id from companies where jurisdiction = ? and identifier = ?')
  const ids = new LRUCache<string, number>({ max: cachedMax })
  const kept = createKeptCounts()
  const reader: CompanyReader = {
    findCompany([jurisdiction, identifier]) {
      // A jurisdiction has no colon, so no two names have the same key.
      const key = `${jurisdiction}:${identifier}`
      refresh()
      const cached = ids.get(key)
      if (cached !== undefined) return cached
      const row = find.get(jurisdiction, identifier) as unknown as [id: number] | undefined
      if (row !== undefined) ids.set(key, row[0])
      return row?.[0]
    },
    findNames: (names, limit) => findNames(databaseOf(db), names, limit),
    findCompanies: (query) => inSnapshot((snapshot) => findCompanies(snapshot, query)),
    readCompany: (asked) => inSnapshot((snapshot) => readCompany(snapshot, asked, kept)),
    findRegistryVersion: (moment) => findVersion(databaseOf(db), undefined, moment),
    readRegistry() {
      refresh()
      return registry()
    },
    readChanges: (asked) => inSnapshot((snapshot) => readChanges(snapshot, asked)),
    readVersions: (range) => inSnapshot((snapshot) => readVersions(snapshot, range)),
  }
  return { reader, forget: () => ids.clear() }
}
