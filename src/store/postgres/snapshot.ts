// Queries that see one state of a database: a read-only transaction over a connection of the pool.

import type { Pool, PoolClient } from 'pg'
import type { Dialect } from '../sql/dialect.ts'
import type { InSnapshot, Snapshot } from '../sql/snapshot.ts'

/** Reads of a database that see one state. */
export interface Snapshots {
  readonly inSnapshot: InSnapshot
  /** For work that has only one query, which needs no transaction. */
  readonly ofOneQuery: Snapshot
}

export function createSnapshots(pool: Pool, dialect: Dialect): Snapshots {
  const names = new Map<string, string>()

  /** Statements are prepared once for each connection, by name. */
  function nameOf(sql: string): string {
    const known = names.get(sql)
    if (known !== undefined) return known
    const name = `snapshot ${names.size + 1}`
    names.set(sql, name)
    return name
  }

  const snapshotOf = (connection: Pool | PoolClient): Snapshot => ({
    dialect,
    async rows<Row extends readonly unknown[]>(
      text: string,
      ...values: readonly (string | number)[]
    ) {
      const name = nameOf(text)
      const { rows } = await connection.query<Row & unknown[]>({
        ...{ name, text, rowMode: 'array' },
        values: [...values],
      })
      return rows
    },
  })

  return {
    ofOneQuery: snapshotOf(pool),
    async inSnapshot(work) {
      const client = await pool.connect()
      let fault: unknown
      try {
        await client.query('begin isolation level repeatable read, read only')
        const result = await work(snapshotOf(client))
        await client.query('commit')
        return result
      } catch (error) {
        fault = error
        throw error
      } finally {
        // A connection with a failed transaction is closed.
        client.release(fault !== undefined)
      }
    },
  }
}
