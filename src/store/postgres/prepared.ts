// Statements that are prepared once on each connection.

import type { Pool, PoolClient } from 'pg'
import type { BinaryQuery } from './binary-rows.ts'
import type { Rows } from './tables.ts'

const names = new Map<string, string>()

/** The name of a statement; the texts of ours are constants, so there are few. */
export function nameOf(sql: string): string {
  const name = names.get(sql) ?? `statement ${names.size + 1}`
  names.set(sql, name)
  return name
}

/** Runs statements over a connection, or over any of a pool; their rows come in binary form. */
export function preparedRows(connection: Pool | PoolClient): Rows {
  return async (text, ...values) => {
    const query: BinaryQuery & { readonly name: string } = {
      ...{ name: nameOf(text), text, values: [...values], rowMode: 'array', binary: true },
    }
    return (await connection.query(query)).rows as never
  }
}
