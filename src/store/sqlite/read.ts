// Serves from SQLite: a page is a head and a run of segments, read in one transaction.

import type { DatabaseSync } from 'node:sqlite'
import type { LRUCache } from 'lru-cache'
import { createLru } from '../caching.ts'
import type { Head, OutsideHistory, RegistryState } from '../reading.ts'
import type { Selection } from '../selection.ts'
import type { ListingReader } from '../serving/listings.ts'
import {
  createStoreReader,
  type OwnReading,
  type ReadingAccess,
  type StoreReader,
} from '../serving/store-reader.ts'
import { findNames } from '../sql/find-companies.ts'
import { type KeyColumns, keyColumns, keyRecord } from '../sql/stored-keys.ts'
import { formerCompanySql } from '../sql/read-company.ts'
import { createReads, type FileReads } from './reads.ts'
import { prepareRow } from './statements.ts'
import { writerOf } from './tables.ts'
import { checkFiles } from './transaction.ts'

/**
 * Always returns a row, of nulls if there is no such key: reading it takes about as long as reading
 * an expired key, so that the time of a refusal hardly reveals which of them it was.
 */
const findKeySql = `select ${keyColumns} from (select 1) left join keys on hash = ?`

/** How many heads are cached of each resource, and how many names of companies. */
const keptMax = 20_000

/** Makes the reader of a store that `openForReading` has opened. */
export function createReader(db: DatabaseSync): StoreReader {
  const queries = writerOf(db)
  const ids = createLru<string, number>(keptMax)
  const heads = new Map<string, LRUCache<number, Head>>()
  const own = createReads(db, () => {
    ids.clear()
    for (const kept of heads.values()) kept.clear()
  })
  const { reads, registry, refresh, renew, inSnapshot } = own
  const faults = rememberFault()
  const findKey = prepareRow(db, findKeySql)
  const ping = db.prepare('select 1 from store')
  const access: ReadingAccess = {
    reads,
    inRegistry: inSnapshot,
    inCompanies: (_, work) => inSnapshot(work),
    inVersions: (_, work) => inSnapshot(work),
    fresh() {
      renew()
      return queries
    },
  }
  const reader = createStoreReader(access, {
    storeId: String(db.prepare('select id from store').get()?.['id']),
    findCompany: faults.watch(companyFinder(db, refresh, ids)),
    findNames: (names, limit) => findNames(queries, names, limit),
    readRegistry() {
      refresh()
      return registry()
    },
    findKey: faults.watch((hash) => {
      checkFiles(db)
      // Rare, since keys are cached; a key that has been revoked meanwhile must not be accepted.
      renew()
      const key = keyRecord(findKey.get(hash) as unknown as KeyColumns)
      return Number.isInteger(key.id) ? key : undefined
    }),
    async ping() {
      checkFiles(db)
      ping.get()
      await faults.retry()
    },
    close: () => db.close(),
  })
  return {
    ...reader,
    readHead: faults.watch(keepHeads(reader, own, heads)),
    readPage: faults.watch(
      (...asked) => reader.readPage(...asked),
      // Without its turns: nobody waits for it any longer.
      (selection, offset, limit) => reader.readPage(selection, offset, limit),
    ),
  }
}

/**
 * Reads heads, and caches the present ones.
 *
 * @param kept by resource and company.
 */
function keepHeads(
  listings: ListingReader,
  { registry, refresh }: FileReads,
  kept: Map<string, LRUCache<number, Head>>,
) {
  return (selection: Selection) => {
    const { resource, companyId, version } = selection
    refresh()
    let heads = kept.get(resource.name)
    if (heads === undefined) kept.set(resource.name, (heads = createLru(keptMax)))
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
  }
}

/** Whether a listing was the same at a version as now. */
function isUnchanged(present: Head, version: number, { earliestVersion }: RegistryState): boolean {
  const { version: changedIn, dataVersion } = present
  return changedIn <= version && version <= dataVersion && version >= earliestVersion
}

/**
 * Remembers the last read that failed. SQLite can answer much from memory while the file is damaged
 * or the disk fails, so a health check of the store repeats that read.
 */
function rememberFault() {
  let failed: (() => unknown) | undefined
  return {
    /** Wraps a function to remember its failures, and how to do it again. */
    watch:
      <A extends unknown[], T>(read: (...args: A) => T, again: (...args: A) => unknown = read) =>
      (...args: A): T => {
        try {
          return read(...args)
        } catch (error) {
          failed = () => again(...args)
          throw error
        }
      },
    /** Repeats the failed read; rejects if it still fails. */
    async retry() {
      const again = failed
      await again?.()
      // Another read may have failed meanwhile.
      if (failed === again) failed = undefined
    },
  }
}

/** @param ids the ids of companies by their names, kept until another process commits. */
function companyFinder(
  db: DatabaseSync,
  refresh: () => void,
  ids: LRUCache<string, number>,
): OwnReading['findCompany'] {
  const find = prepareRow(db, 'select id from companies where jurisdiction = ? and identifier = ?')
  const findFormer = prepareRow(db, formerCompanySql)
  return ([jurisdiction, identifier], version) => {
    type Found = [id: number] | undefined
    if (version !== undefined) {
      const former = findFormer.get(identifier, jurisdiction, version) as unknown as Found
      if (former !== undefined) return former[0]
    }
    // A jurisdiction has no colon, so no two names have the same key.
    const key = `${jurisdiction}:${identifier}`
    refresh()
    const known = ids.get(key)
    if (known !== undefined) return known
    const row = find.get(jurisdiction, identifier) as unknown as Found
    if (row !== undefined) ids.set(key, row[0])
    return row?.[0]
  }
}
