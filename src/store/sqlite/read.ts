// Serves from SQLite: a page is two statements in one snapshot, a seek and a scan of some pieces.

import type { DatabaseSync } from 'node:sqlite'
import { LRUCache } from 'lru-cache'
import type { Resource } from '../../resources/resource.ts'
import type { Head, LastImport, Page, StoreReader } from '../reading.ts'
import { OperatorError } from '../../operator-error.ts'
import {
  type FrameRow,
  frameSql,
  headOf,
  type HeadRow,
  headSql,
  isSmall,
  lastImportsSql,
  pageOf,
  type PieceRow,
  piecesSql,
  rangeOf,
} from '../sql/listing.ts'
import type { Row, Values } from '../sql/database.ts'
import { createSelector, type PresentReader } from '../sql/select.ts'
import { keyColumns, keyRecord } from '../sql/stored-keys.ts'
import { watchFile } from './open-file.ts'
import { createCompanyReader } from './read-companies.ts'
import { createViews, viewBytesUsual } from '../views.ts'
import { dialect } from './dialect.ts'
import { createScans } from './scans.ts'
import { createSnapshots, type Snapshots } from './snapshot.ts'
import { keepStatements, prepareRow } from './statements.ts'

/** Binding parameters by number rather than by name saves 1.4 of 18 us. */
const company = '?1'
const range = { company, first: '?2', end: '?3', isSmall: '?4', room: '?5' } as const

/**
 * Always returns a row, of nulls if there is no such key: reading it takes about as long as reading
 * an expired key, so that the time of a refusal hardly reveals which of them it was.
 */
const findKeySql = `select ${keyColumns} from (select 1) left join keys on hash = ?`

/** How many heads are cached per resource. */
const cachedHeadsMax = 20_000

/** Makes the reader of a store that `openForReading` has opened. */
export function createReader(
  db: DatabaseSync,
  resources: readonly Resource[],
  viewBytesMax = viewBytesUsual,
): StoreReader {
  const statements = new Map(resources.map((resource) => [resource, prepareFor(resource, db)]))
  const findKey = db.prepare(findKeySql)
  const lastImports = db.prepare(lastImportsSql)
  const stateOf = watchChanges(db)
  const scans = createScans(db)
  const snapshots = createSnapshots(db)
  const companies = createCompanyReader(db, { resources, stateOf, scans, ...snapshots })
  const faults = rememberFault()
  const checkFile = watchFile(db, 'while being served; restart the server')
  const ping = db.prepare('select 1 from store')
  const storeId = String(db.prepare('select id from store').get()?.['id'])

  const statementsOf = (resource: Resource) => known(statements, resource)
  const readWhole = (resource: Resource, company: number, offset: number, limit: number) =>
    snapshots.now(() => readPage(statementsOf(resource), { resource, company, offset, limit }))
  const { readHead, present } = createHeads(db, { statements, stateOf, ...snapshots })
  const rows = createRows(db, snapshots)
  const views = createViews(viewBytesMax)
  const from = { dialect, views, rows, makeView: scans.makeView, readPage: readWhole, present }

  return {
    storeId,
    readHead: faults.watch(readHead),
    readPage: faults.watch(readWhole),
    ...companies,
    findCompany: faults.watch((name) => companies.findCompany(name)),
    ...createSelector(resources, from),
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
    close() {
      scans.close()
      db.close()
    },
  }
}

function known<T>(statements: ReadonlyMap<Resource, T>, resource: Resource): T {
  const found = statements.get(resource)
  if (found === undefined) throw new OperatorError(`the store was not opened for ${resource.name}`)
  return found
}

/** What the reader of heads uses. */
interface HeadReading extends Pick<Snapshots, 'join'> {
  readonly statements: ReadonlyMap<Resource, Statements>
  readonly stateOf: () => number
}

/** Reads heads, and keeps them until another process commits. */
function createHeads(db: DatabaseSync, { statements, stateOf, join }: HeadReading) {
  const pastFrom = db.prepare('select past_from from store')
  let state = 0
  let earliest: number | undefined

  function readHead(resource: Resource, company: number): Head | undefined {
    const { head, heads } = known(statements, resource)
    if (state !== stateOf()) {
      for (const { heads: stale } of statements.values()) stale.clear()
      earliest = undefined
    }
    state = stateOf()
    const cached = heads.get(company)
    if (cached !== undefined) return cached
    const row = head.get(company) as HeadRow | undefined
    if (row === undefined) return undefined
    const read = headOf(row)
    heads.set(company, read)
    return read
  }

  const present: PresentReader = {
    head(resource, company) {
      const head = readHead(resource, company)
      earliest ??= Number(pastFrom.get()?.['past_from'])
      return head && { head, earliest }
    },
    frame(resource, company) {
      join()
      return known(statements, resource).frame.get(company) as FrameRow | undefined
    },
  }
  return { readHead, present }
}

/** Runs queries with named values. */
function createRows(db: DatabaseSync, { join }: Snapshots) {
  const prepare = keepStatements((sql) => db.prepare(sql))
  return (_: Resource, sql: string, values: Values): readonly Row[] => {
    join()
    return prepare(sql).all(values as Record<string, string | number | null>)
  }
}

interface PageQuery {
  readonly resource: Resource
  readonly company: number
  readonly offset: number
  readonly limit: number
}

function readPage(
  { frame, pieces }: Statements,
  { resource, company, offset, limit }: PageQuery,
): Page | undefined {
  const found = frame.get(company) as FrameRow | undefined
  if (found === undefined) return undefined
  const range = rangeOf(resource, found[0], offset, limit)
  const rows =
    range === undefined
      ? []
      : pieces.all(company, range.first, range.end, Number(isSmall(found, limit)), found[7])
  return pageOf(found, resource, { range, pieces: rows as unknown as PieceRow[], limit })
}

type Statements = ReturnType<typeof prepareFor>

/** The statements and cached heads of a resource. */
function prepareFor(resource: Resource, db: DatabaseSync) {
  return {
    head: prepareRow(db, headSql(resource, company)),
    frame: prepareRow(db, frameSql(resource, company)),
    pieces: prepareRow(db, piecesSql(resource, range)),
    heads: new LRUCache<number, Head>({ max: cachedHeadsMax }),
  }
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

/**
 * Returns a function whose value changes whenever another process has committed.
 *
 * It asks SQLite once per turn of the event loop, not per request: all requests of a turn arrived
 * before any of them was handled, so each sees everything that was committed before it was sent.
 */
function watchChanges(db: DatabaseSync): () => number {
  const statement = prepareRow(db, 'pragma data_version')
  let version = 0
  let isChecked = false
  return () => {
    if (isChecked) return version
    isChecked = true
    setImmediate(() => (isChecked = false))
    ;[version] = statement.get() as unknown as [number]
    return version
  }
}
