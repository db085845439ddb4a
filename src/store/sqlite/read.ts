// Serving from the embedded store: every statement is one seek and, for a page, one scan.

import { statSync } from 'node:fs'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { LRUCache } from 'lru-cache'
import type { Resource } from '../../resources/resource.ts'
import type { Head, LastImport, StoreReader } from '../reading.ts'
import { OperatorError } from '../../operator-error.ts'
import { greatestLimit } from '../page-size.ts'
import {
  headOf,
  type HeadRow,
  headSql,
  isLeftOut,
  lastImportsSql,
  pageOf,
  type PageRow,
  pageSql,
  type ServingWords,
  sizesSql,
} from '../sql/listing.ts'
import { keyColumns, keyRecord } from '../sql/stored-keys.ts'

/**
 * How many blanks SQLite puts before and after the records of a page. The rest of its body is
 * written there: copied into a body of their own, a page of 37 kB takes 170 us and not 155, mostly
 * for the memory that the records leave to be collected.
 */
export const room = { before: 32, after: 256 } as const

/**
 * The inner select is ordered, and SQLite feeds it to the aggregate in that order; an `order by`
 * within the aggregate would sort once more, which takes as long again. Handed out as a blob, the
 * text is not decoded and encoded on its way to the socket. Binding parameters by number, not by
 * name, saves 1.4 of 18 us.
 */
const words: ServingWords = {
  company: '?1',
  offset: '?2',
  limit: '?3',
  joined: (range, direction) =>
    joinedSql(`select record from ${range} order by position ${direction}`),
  empty: "x''",
}

/**
 * Gives a row in any case, of nulls where there is no such key: it takes about as long to read as
 * one of a key that is over, so that the time of a refusal hardly tells which of them it was.
 */
const findKeySql = `select ${keyColumns} from (select 1) left join keys on hash = ?`

/** How many heads are remembered for each resource. */
const rememberedHeadsMax = 20_000

/** Makes the serving side of a store that `openForReading` has opened. */
export function createReader(db: DatabaseSync, resources: readonly Resource[]): StoreReader {
  const statements = new Map(resources.map((resource) => [resource, prepareFor(resource, db)]))
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
      const row = page.get(company, offset, limit) as unknown as PageRow<Uint8Array> | undefined
      if (row === undefined) return undefined
      const records = row[6]
      return pageOf(row, {
        recordsBetween: surround.bind(undefined, records),
        greatestLimit: isLeftOut(records) ? greatestLimit(sizes.get(company), limit) : undefined,
      })
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

/** What serves the listings of a resource. */
function prepareFor(resource: Resource, db: DatabaseSync) {
  return {
    head: prepareRow(db, headSql(resource, words)),
    page: prepareRow(db, pageSql(resource, words)),
    sizes: prepareRow(db, sizesSql(resource, words)),
    heads: new LRUCache<number, Head>({ max: rememberedHeadsMax }),
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

/** The records of a query, joined by commas, as a blob with that room; null where there is none. */
function joinedSql(records: string): string {
  const blanks = (count: number) => `'${' '.repeat(count)}'`
  return `select cast(
      ${blanks(room.before)} || group_concat(record, ',') || ${blanks(room.after)} as blob
    ) from (${records})`
}

/**
 * Writes texts into the room around records; where one is longer than that, takes a copy.
 *
 * @param joined what `joinedSql` gave; it is written over.
 */
function surround(joined: Uint8Array | null, head: string, tail: string): Buffer {
  if (joined === null) return Buffer.from(head + tail)
  const roomy = Buffer.from(joined.buffer, joined.byteOffset, joined.length)
  const start = room.before - Buffer.byteLength(head)
  const end = roomy.length - room.after
  if (start < 0 || Buffer.byteLength(tail) > room.after) {
    return Buffer.concat([Buffer.from(head), roomy.subarray(room.before, end), Buffer.from(tail)])
  }
  roomy.write(head, start)
  return roomy.subarray(start, end + roomy.write(tail, end))
}
