// Statements over the connections of a pool, each prepared once on every connection.

import { DatabaseError, type Pool, type PoolClient } from 'pg'
import type { BinaryQuery } from './binary-rows.ts'
import type { Rows } from './tables.ts'

const names = new Map<string, string>()

/** The name of a statement; the texts of ours are constants, so there are few. */
export function nameOf(sql: string): string {
  const name = names.get(sql) ?? `statement ${names.size + 1}`
  names.set(sql, name)
  return name
}

/** Runs `work` on a connection, which is kept for others unless it has failed itself. */
export async function withConnection<T>(
  pool: Pool,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect()
  let isLost = false
  const onError = () => {
    isLost = true
  }
  // Emitted if the connection is lost, beside the error of the statement.
  client.on('error', onError)
  try {
    return await work(client)
  } catch (error) {
    // An error of a statement, such as a timeout, leaves the session as it was.
    isLost ||= !(error instanceof DatabaseError && error.severity === 'ERROR')
    throw error
  } finally {
    client.off('error', onError)
    client.release(isLost)
  }
}

/** Runs statements over a connection; their rows come in binary form. */
export function rowsOn(client: PoolClient): Rows {
  return async (text, ...values) => {
    const query: BinaryQuery & { readonly name: string } = {
      ...{ name: nameOf(text), text, values: [...values], rowMode: 'array', binary: true },
    }
    return (await client.query(query)).rows as never
  }
}

/** Runs statements, each over any connection of a pool. */
export function rowsIn(pool: Pool): Rows {
  return (text, ...values) => withConnection(pool, (client) => rowsOn(client)(text, ...values))
}
