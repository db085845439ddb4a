// Serves from SQLite: a page is a head and a run of segments, read in one transaction.

import type { DatabaseSync } from 'node:sqlite'
import {
  createStoreReader,
  type OwnReading,
  type ReadingAccess,
  type StoreReader,
} from '../serving/store-reader.ts'
import { findNames } from '../sql/find-companies.ts'
import { type KeyColumns, keyColumns, keyRecord } from '../sql/stored-keys.ts'
import { formerCompanySql } from '../sql/read-company.ts'
import { createReads } from './reads.ts'
import { prepareRow } from './statements.ts'
import { writerOf } from './tables.ts'
import { checkFiles } from './transaction.ts'

/**
 * Always returns a row, of nulls if there is no such key: reading it takes about as long as reading
 * an expired key, so that the time of a refusal hardly reveals which of them it was.
 */
const findKeySql = `select ${keyColumns} from (select 1) left join keys on hash = ?`

/** Makes the reader of a store that `openForReading` has opened. */
export function createReader(db: DatabaseSync): StoreReader {
  const queries = writerOf(db)
  const { reads, readRegistry, renew, inSnapshot } = createReads(db)
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
    findCompany: faults.watch(companyFinder(db, reads.now)),
    findNames: (names, limit) => findNames(queries, names, limit),
    readRegistry,
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
    readHead: faults.watch((selection) => reader.readHead(selection)),
    readPage: faults.watch(
      (...asked) => reader.readPage(...asked),
      // Without its turns: nobody waits for it any longer.
      (selection, offset, limit) => reader.readPage(selection, offset, limit),
    ),
  }
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

function companyFinder(db: DatabaseSync, now: <T>(read: () => T) => T): OwnReading['findCompany'] {
  const find = prepareRow(
    db,
    'select id from companies where identifier = $1 and jurisdiction = $2',
  )
  const findFormer = prepareRow(db, formerCompanySql)
  return ([jurisdiction, identifier], version) =>
    now(() => {
      const former =
        version === undefined ? undefined : findFormer.get(identifier, jurisdiction, version)
      const found = former ?? find.get(identifier, jurisdiction)
      return (found as unknown as [id: number] | undefined)?.[0]
    })
}
