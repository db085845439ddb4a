// The state of an SQLite store.

import { createHash } from 'node:crypto'
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import { sizeOf } from './store-files.ts'
import { digestServed, isTimeless, listDigests, nothing, type StoreState } from './store-state.ts'

/**
 * Reads the whole committed state of a store.
 *
 * @param isMadeAnew leaves out the store's random id, which differs between two first loads.
 */
export async function readFileState(db: string, isMadeAnew: boolean): Promise<StoreState> {
  if (sizeOf(db) === 0) return nothing
  // Only a writing connection can roll back the interrupted creation of a file.
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
    const rows = connection.prepare('select id from companies order by id').all()
    const served = await digestServed(
      db,
      rows.map(({ id }) => Number(id)),
    )
    return { tables, log, served, schema, version, integrity }
  } finally {
    connection.close()
  }
}

/** All columns of the log that do not depend on when an import ran. */
function logColumns(connection: DatabaseSync): string {
  const columns = connection.prepare('select * from imports').columns()
  return columns.flatMap(({ name }) => (isTimeless(name) ? [name] : [])).join(', ')
}

function digestTables(connection: DatabaseSync, isWanted: (name: string) => boolean): string {
  const names = connection
    .prepare(`select name from sqlite_schema where type = 'table' order by 1`)
    .all()
    .map(({ name }) => String(name))
    .filter((name) => !name.startsWith('sqlite_') && isWanted(name))
  return listDigests(names.map((name) => [name, digestRows(connection, `select * from "${name}"`)]))
}

/** A digest of the rows of a query, in order; empty if there are none. */
function digestRows(connection: DatabaseSync, sql: string): string {
  const statement = connection.prepare(sql)
  statement.setReturnArrays(true)
  const hash = createHash('sha256')
  let rows = 0
  for (const row of statement.iterate()) {
    for (const value of row as unknown as readonly SQLOutputValue[]) {
      hash.update(value instanceof Uint8Array ? value : JSON.stringify(value))
    }
    hash.update('\n')
    rows += 1
  }
  return rows === 0 ? '' : hash.digest('hex')
}

function firstValue(connection: DatabaseSync, sql: string): unknown {
  return Object.values(connection.prepare(sql).get() ?? {})[0]
}

function rollBack(db: string): void {
  const connection = new DatabaseSync(db)
  connection.prepare('select 1 from sqlite_schema').all()
  connection.close()
}
