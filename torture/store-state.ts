// What a store holds, as digests: of every table of the file, and of everything that is served.

import { createHash, type Hash } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { resources } from '../src/resources/index.ts'
import { openStoreReader } from '../src/store/open-store.ts'
import type { StoreReader } from '../src/store/store.ts'
import { sizeOf } from './store-files.ts'

/** The state of a store: equal digests, equal contents; an empty one stands for nothing. */
export interface StoreState {
  /** All tables but the log of imports. */
  readonly tables: string
  /** The log of imports without its times. */
  readonly log: string
  /** All heads and pages, as the server reads them. */
  readonly served: string
  /** Tables, views and indices; empty for a file that no import has begun to fill. */
  readonly schema: string
  /** The number of the last import. */
  readonly version: number
  /** What `PRAGMA integrity_check` says, `ok` where nothing is wrong. */
  readonly integrity: string
}

const nothing: StoreState = {
  tables: '',
  log: '',
  served: '',
  schema: '',
  version: 0,
  integrity: 'ok',
}

const pageLimit = 100

/**
 * Reads all of a store, and nothing but its committed state.
 *
 * @param isMadeAnew leaves the store's random id out: it differs between two first loads.
 */
export async function readState(db: string, isMadeAnew: boolean): Promise<StoreState> {
  if (sizeOf(db) === 0) return nothing
  // Only who may write rolls back what the making of a file has left.
  if (sizeOf(`${db}-journal`) > 0) rollBack(db)
  const connection = new DatabaseSync(db, { readOnly: true })
  try {
    const integrity = String(firstValue(connection, 'pragma integrity_check'))
    const tables = digestTables(connection, (name) => {
      return name !== 'imports' && !(isMadeAnew && name === 'store')
    })
    const schema = digestRows(
      connection,
      `select name, sql from sqlite_schema where name not like 'sqlite_%' order by name`,
    )
    if (schema === '') return { ...nothing, tables, integrity }
    const log = digestRows(connection, `select ${logColumns(connection)} from imports order by 1`)
    const version = Number(firstValue(connection, 'select max(version) from imports'))
    return { tables, log, served: await digestServed(db), schema, version, integrity }
  } finally {
    connection.close()
  }
}

/** Which of two states a store is in; undefined for neither. */
export function whichState(
  state: StoreState,
  { before, after }: { readonly before: StoreState; readonly after: StoreState },
): 'before' | 'after' | undefined {
  if (isSame(state, after)) return 'after'
  // A first load that ended early may have made the tables, empty.
  const isMadeOnly = before.schema === '' && state.schema === after.schema
  return isSame(isMadeOnly ? { ...state, schema: '' } : state, before) ? 'before' : undefined
}

/** Whether the registry is the same, whatever the log of imports says of the way there. */
export function isSameRegistry(a: StoreState, b: StoreState): boolean {
  return a.tables === b.tables && a.schema === b.schema && a.served === b.served
}

function isSame(a: StoreState, b: StoreState): boolean {
  return isSameRegistry(a, b) && a.log === b.log && a.version === b.version
}

/** All columns of the log but those that tell the time or the duration of an import. */
function logColumns(connection: DatabaseSync): string {
  return connection
    .prepare(`select name from pragma_table_info('imports')`)
    .all()
    .map(({ name }) => String(name))
    .filter((name) => !/_at$|_ms$|duration|elapsed/.test(name))
    .join(', ')
}

function digestTables(connection: DatabaseSync, isWanted: (name: string) => boolean): string {
  const names = connection
    .prepare(`select name from sqlite_schema where type = 'table' order by 1`)
    .all()
    .map(({ name }) => String(name))
    .filter((name) => !name.startsWith('sqlite_') && isWanted(name))
  return names
    .map((name) => {
      const digest = digestRows(connection, `select * from "${name}"`)
      return digest === '' ? '' : `${name} ${digest}\n`
    })
    .join('')
}

/** A digest of the rows of a query in their order; empty where there is none. */
function digestRows(connection: DatabaseSync, sql: string): string {
  const statement = connection.prepare(sql)
  statement.setReturnArrays(true)
  const hash = createHash('sha256')
  let rows = 0
  for (const row of statement.iterate()) {
    hash.update(JSON.stringify(row))
    rows += 1
  }
  return rows === 0 ? '' : hash.digest('hex')
}

function firstValue(connection: DatabaseSync, sql: string): unknown {
  return Object.values(connection.prepare(sql).get() ?? {})[0]
}

/** Every head and every page of every listing, through the server's own reader. */
async function digestServed(db: string): Promise<string> {
  const connection = new DatabaseSync(db, { readOnly: true })
  const companies = connection.prepare('select id from companies order by id').all()
  connection.close()
  if (companies.length === 0) return ''
  const reader = await openStoreReader(db, resources)
  const hash = createHash('sha256')
  try {
    for (const { id } of companies) await digestCompany(reader, Number(id), hash)
  } finally {
    await reader.close()
  }
  return hash.digest('hex')
}

async function digestCompany(reader: StoreReader, company: number, hash: Hash): Promise<void> {
  for (const resource of resources) {
    const head = await reader.readHead(resource, company)
    hash.update(`${resource.name}/${company}: ${head?.total} ${head?.version}\n`)
    for (let offset = 0; offset < (head?.total ?? 0); offset += pageLimit) {
      const page = await reader.readPage(resource, company, offset, pageLimit)
      hash.update(`${page?.total} ${page?.version} ${page?.meta}\n`)
      hash.update(page?.records ?? '')
    }
  }
}

function rollBack(db: string): void {
  const connection = new DatabaseSync(db)
  connection.prepare('select 1 from sqlite_schema').all()
  connection.close()
}
