// Serves from SQLite: a page is a head and a run of segments, read in one transaction.

import type { DatabaseSync } from 'node:sqlite'
import { LRUCache } from 'lru-cache'
import type { Resource } from '../../resources/resource.ts'
import type {
  Head,
  LastImport,
  OutsideHistory,
  RegistryState,
  StoreReader,
  CompanyReader,
} from '../reading.ts'
import type { Selection } from '../selection.ts'
import { createListingReader, type ListingReader } from '../serving/listings.ts'
import type { ServingReads } from '../serving/reads.ts'
import { createViews } from '../serving/views.ts'
import { closing } from '../closing.ts'
import { findVersion, lastWithheld, readVersions } from '../sql/versions.ts'
import { lastImportsSql, findNames } from '../sql/inspect.ts'
import { keyColumns, keyRecord } from '../sql/stored-keys.ts'
import { databaseOf } from './database.ts'
import { watchFile } from './transaction.ts'
import { createReads, createSnapshots } from './reads.ts'
import { readChanges } from '../changes/read-changes.ts'
import { readCopy } from '../exports/read-copy.ts'
import { readCompany } from '../serving/company.ts'
import { createValueCounts } from '../serving/value-counts.ts'
import { findCompanies } from '../sql/find-companies.ts'
import type { InSnapshot } from '../sql/database.ts'
import { prepareRow } from './statements.ts'

/**
 * Always returns a row, of nulls if there is no such key: reading it takes about as long as reading
 * an expired key, so that the time of a refusal hardly reveals which of them it was.
 */
const findKeySql = `select ${keyColumns} from (select 1) left join keys on hash = ?`

/** How many heads are kept of each resource. */
const keptHeadsMax = 20_000

/** Makes the reader of a store that `openForReading` has opened. */
export function createReader(db: DatabaseSync): StoreReader {
  const findKey = db.prepare(findKeySql)
  const lastImports = db.prepare(lastImportsSql)
  const reads = createReads(db)
  const { now, refresh, renew, inSnapshot } = createSnapshots(db, reads, forget)
  const serving: ServingReads = { ...reads, now }
  const listings = createListingReader(serving, createViews())
  const heads = createHeads(listings, { refresh, registry: reads.registry })
  const companies = createCompanyReader(db, {
    refresh,
    registry: reads.registry,
    inSnapshot,
  })
  const faults = rememberFault()
  const checkFile = watchFile(db, 'while being served; restart the server')
  const ping = db.prepare('select 1 from store')
  const storeId = String(db.prepare('select id from store').get()?.['id'])

  /** What was kept is of a state that another process has replaced. */
  function forget(): void {
    reads.forget()
    heads.forget()
    companies.forget()
  }

  return {
    storeId,
    ...listings,
    readHead: faults.watch((selection) => heads.readHead(selection)),
    readPage: faults.watch((...asked) => listings.readPage(...asked)),
    ...companies.reader,
    findCompany: faults.watch((name) => companies.reader.findCompany(name)),
    findVersion: (resource, moment) => findVersion(databaseOf(db), resource, moment),
    lastWithheld: () => lastWithheld(databaseOf(db)),
    findKey: faults.watch((hash) => {
      checkFile()
      // Rare, since keys are kept; a key that was revoked by now opens nothing.
      renew()
      const row = findKey.get(hash) ?? {}
      const key = keyRecord(row)
      return row['name'] === null ? undefined : key
    }),
    lastImports: () => lastImports.all() as unknown as LastImport[],
    ping() {
      checkFile()
      ping.get()
      faults.retry()
    },
    ...closing(() => db.close()),
  }
}

/** What the reader of heads uses. */
interface HeadReading {
  /** Forgets what is kept if another process has committed. */
  readonly refresh: () => void
  readonly registry: () => RegistryState
}

/** Reads heads, and keeps those of the present. */
function createHeads(listings: ListingReader, { refresh, registry }: HeadReading) {
  const kept = new Map<string, LRUCache<number, Head>>()

  function keptOf({ name }: Resource): LRUCache<number, Head> {
    let heads = kept.get(name)
    if (heads === undefined) kept.set(name, (heads = new LRUCache({ max: keptHeadsMax })))
    return heads
  }

  return {
    readHead(selection: Selection) {
      const { resource, companyId, version } = selection
      refresh()
      const heads = keptOf(resource)
      const present = heads.get(companyId)
      if (present !== undefined) {
        if (version === undefined) return present
        if (isUnchanged(present, version, registry())) return { ...present, dataVersion: version }
      }
      const read = listings.readHead(selection) as Head | OutsideHistory | undefined
      if (version === undefined && read !== undefined && !('outside' in read)) {
        heads.set(companyId, read)
      }
      return read
    },
    forget() {
      for (const heads of kept.values()) heads.clear()
    },
  }
}

/** Whether a listing was at a version what it is now. */
function isUnchanged(present: Head, version: number, { earliestVersion }: RegistryState): boolean {
  const { version: changedIn, dataVersion } = present
  return changedIn <= version && version <= dataVersion && version >= earliestVersion
}

/**
 * Remembers the last read that failed. SQLite can answer much from memory while the file is damaged
 * or the disk fails, so a check of the store's health tries that read again.
 */
function rememberFault() {
  let failed: (() => unknown) | undefined
  return {
    /** Wraps a function to remember its failures. */
    watch:
      <A extends unknown[], T>(read: (...args: A) => T) =>
      (...args: A): T => {
        try {
          return read(...args)
        } catch (error) {
          failed = () => read(...args)
          throw error
        }
      },
    /** Repeats the failed read; throws if it still fails. */
    retry() {
      failed?.()
      failed = undefined
    },
  }
}

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
  const countListings = createValueCounts()
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
    readCompany: (asked) => inSnapshot((snapshot) => readCompany(snapshot, asked, countListings)),
    findRegistryVersion: (moment) => findVersion(databaseOf(db), undefined, moment),
    readRegistry() {
      refresh()
      return registry()
    },
    readChanges: (asked) => inSnapshot((snapshot) => readChanges(snapshot, asked)),
    readCopy: (asked) => inSnapshot((snapshot) => readCopy(snapshot, asked)),
    readVersions: (range) => inSnapshot((snapshot) => readVersions(snapshot, range)),
  }
  return { reader, forget: () => ids.clear() }
}
