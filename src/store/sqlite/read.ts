// Serving from the embedded store: every statement is one seek and, for a page, one scan.

import { statSync } from 'node:fs'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { LRUCache } from 'lru-cache'
import type { Resource } from '../../resources/resource.ts'
import type { Head, LastImport, Page, StoreReader } from '../reading.ts'
import { OperatorError } from '../../operator-error.ts'
import {
  boundedMeta,
  boundedRecords,
  greatestLimit,
  isLeftOut,
  pageFits,
  sizesColumns,
} from '../page-size.ts'
import { headColumns, headOf, type HeadRow, headTables, lastImportsSql } from '../sql/listing.ts'
import { keyColumns, keyRecord } from '../sql/stored-keys.ts'
import { joinedSql, surround } from './page-bytes.ts'

/**
 * Records and head in one statement, so from one snapshot. Records that do not fit into a page are
 * not read (`page-size.ts`).
 *
 * The inner select is ordered, and SQLite feeds it to the aggregate in that order; an `order by`
 * within the aggregate would sort once more, which takes as long again. Handed out as a blob, the
 * text is not decoded and encoded on its way to the socket. Parameters are the company, how many
 * records stand before the page, and how many it has at most: binding them by number, not by name,
 * saves 1.4 of 18 us.
 */
function pageSql({ name, order, metaOf }: Resource): string {
  // A listing that is served backwards: its first record has the highest position.
  const isBackwards = order.direction === 'descending'
  const first = isBackwards ? 'coalesce(h.total, 0) - ?2 - ?3' : '?2'
  const range = `${name}
        where company_id = ?1
          and position >= ${first} and position < ${first} + ?3`
  const records = `(
      ${joinedSql(`select record from ${range} order by position ${isBackwards ? 'desc' : 'asc'}`)}
    )`
  return `
    select ${headColumns}, ${metaOf === undefined ? 'null' : boundedMeta},
      ${boundedRecords(pageFits('?3', range), records, "x''")} ${headTables(name, '?1')}`
}

/**
 * Gives a row in any case, of nulls where there is no such key: it takes about as long to read as
 * one of a key that is over, so that the time of a refusal hardly tells which of them it was.
 */
const findKeySql = `select ${keyColumns} from (select 1) left join keys on hash = ?`

/** How many heads are remembered for each resource. */
const rememberedHeadsMax = 20_000

type PageRow = [...HeadRow, meta: string | null, records: Uint8Array | null]

/** Makes the serving side of a store that `openForReading` has opened. */
export function createReader(db: DatabaseSync, resources: readonly Resource[]): StoreReader {
  const statements = new Map(
    resources.map((resource) => [
      resource,
      {
        head: prepareRow(db, `select ${headColumns} ${headTables(resource.name, '?1')}`),
        page: prepareRow(db, pageSql(resource)),
        sizes: prepareRow(db, `select ${sizesColumns} ${headTables(resource.name, '?1')}`),
        heads: new LRUCache<number, Head>({ max: rememberedHeadsMax }),
      },
    ]),
  )
  const findKey = db.prepare(findKeySql)
  const lastImports = db.prepare(lastImportsSql)
  const isUnchanged = watchChanges(db)
  const faults = rememberFault()
  const checkFile = watchFile(db)
  const ping = db.prepare('select 1 from store')
  const storeId = String(db.prepare('select id from store').get()?.['id'])

  function statementsOf(resource: Resource) {
    const found = statements.get(resource)
    if (found === undefined)
      throw new OperatorError(`the store was not opened for ${resource.name}`)
    return found
  }

  return {
    storeId,
    readHead: faults.watch((resource, company) => {
      const { head, heads } = statementsOf(resource)
      if (!isUnchanged()) for (const { heads: stale } of statements.values()) stale.clear()
      const remembered = heads.get(company)
      if (remembered !== undefined) return remembered
      const row = head.get(company) as HeadRow | undefined
      if (row === undefined) return undefined
      const read = headOf(row)
      heads.set(company, read)
      return read
    }),
    readPage: faults.watch((resource, company, offset, limit) => {
      const { page, sizes } = statementsOf(resource)
      const row = page.get(company, offset, limit) as unknown as PageRow | undefined
      return row && pageOf(row, () => greatestLimit(sizes.get(company), limit))
    }),
    findKey: faults.watch((hash) => {
      checkFile()
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
    close: () => db.close(),
  }
}

/**
 * Remembers the last read that has failed. SQLite answers much from its memory while the file is
 * damaged or the disk fails; so whoever asks whether the store answers has that read tried again.
 */
function rememberFault() {
  let failed: (() => unknown) | undefined
  return {
    /** The same function, whose throws are remembered. */
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
    /** Does the read that has failed again; throws as long as it fails. */
    retry() {
      failed?.()
      failed = undefined
    },
  }
}

/**
 * Gives a check that throws where the store's path names another file by now, or none. The open one
 * can still be read, but what is imported and revoked from now on is not in it.
 */
function watchFile(db: DatabaseSync): () => void {
  const path = db.location()
  if (path === null) return () => undefined
  const { dev, ino } = statSync(path)
  return () => {
    const now = statSync(path, { throwIfNoEntry: false })
    if (now?.ino === ino && now.dev === dev) return
    throw new OperatorError(`${path} was replaced while being served; restart the server`)
  }
}

/**
 * Tells whether no other process has committed anything since the last call.
 *
 * SQLite is asked once in a turn of the event loop, not once a request: the requests of one turn
 * had all arrived before any of them was looked at, so each sees all that was committed before it
 * was sent.
 */
function watchChanges(db: DatabaseSync): () => boolean {
  const statement = prepareRow(db, 'pragma data_version')
  let version: unknown
  let isAsked = false
  return () => {
    if (isAsked) return true
    isAsked = true
    setImmediate(() => (isAsked = false))
    const [now] = statement.get() as unknown as [unknown]
    const isSame = now === version
    version = now
    return isSame
  }
}

/** A statement whose rows are arrays: cheaper than objects, and nothing reads them by name. */
function prepareRow(db: DatabaseSync, sql: string): StatementSync {
  const statement = db.prepare(sql)
  statement.setReturnArrays(true)
  return statement
}

/** @param limitOf is called where the page was left out. */
function pageOf(row: PageRow, limitOf: () => number): Page {
  const [total, version, changedAt, dataVersion, lineage, meta, records] = row
  return {
    ...headOf([total, version, changedAt, dataVersion, lineage]),
    meta: meta ?? undefined,
    recordsBetween: surround.bind(undefined, records),
    greatestLimit: isLeftOut(records) ? limitOf() : undefined,
  }
}
