// Reads companies from SQLite, apart from their listings.

import type { DatabaseSync } from 'node:sqlite'
import { LRUCache } from 'lru-cache'
import type { Resource } from '../../resources/resource.ts'
import type { CompanyReader, RegistryState } from '../reading.ts'
import type { CountQuery } from '../sql/count-values.ts'
import { findCompanies, registryOf, type RegistryRow, registrySql } from '../sql/find-companies.ts'
import { findVersion } from '../sql/find-version.ts'
import { findNames } from '../sql/inspect.ts'
import { readCompany } from '../sql/read-company.ts'
import type { InSnapshot } from '../sql/snapshot.ts'
import { createKeptCounts } from '../value-counts.ts'
import { readVersions } from '../sql/versions.ts'
import { databaseOf } from './database.ts'
import type { Scans } from './scans.ts'
import { prepareRow } from './statements.ts'

/** How many companies' names are cached. */
const cachedMax = 20_000

/** What the reader of companies uses. */
interface CompanyReading {
  readonly resources: readonly Resource[]
  /** Identifies the state of the database: it changes with every commit. */
  readonly stateOf: () => number
  readonly scans: Pick<Scans, 'count'>
  readonly inSnapshot: InSnapshot
}

export function createCompanyReader(
  db: DatabaseSync,
  { resources, stateOf, scans, inSnapshot }: CompanyReading,
): CompanyReader {
  const find = prepareRow(db, 'select id from companies where jurisdiction = ? and identifier = ?')
  const lastVersion = prepareRow(db, registrySql)
  const ids = new LRUCache<string, number>({ max: cachedMax })
  let registry: RegistryState | undefined
  let state = 0
  // If another process commits meanwhile, the thread may see that, and the work is done again.
  const readLong = (_: unknown, query: CountQuery) => scans.count(query)
  const from = { resources, inSnapshot, kept: createKeptCounts(), readLong }

  /** When another process has committed, there may be other names and versions. */
  function forgetStale(): void {
    if (state === stateOf()) return
    state = stateOf()
    ids.clear()
    registry = undefined
  }

  return {
    findCompany([jurisdiction, identifier]) {
      // A jurisdiction has no colon, so no two names have the same key.
      const key = `${jurisdiction}:${identifier}`
      forgetStale()
      const cached = ids.get(key)
      if (cached !== undefined) return cached
      const row = find.get(jurisdiction, identifier) as unknown as [id: number] | undefined
      if (row !== undefined) ids.set(key, row[0])
      return row?.[0]
    },
    findNames: (names, limit) => findNames(databaseOf(db), names, limit),
    findCompanies: (query) => inSnapshot((snapshot) => findCompanies(snapshot, query)),
    readCompany: (asked) => readCompany(from, asked),
    findRegistryVersion: (moment) => findVersion(databaseOf(db), undefined, moment),
    readRegistry() {
      forgetStale()
      return (registry ??= registryOf(lastVersion.get() as unknown as RegistryRow | undefined))
    },
    readVersions: (range) => inSnapshot((snapshot) => readVersions(snapshot, range)),
  }
}
