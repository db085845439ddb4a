// Statements over the connections of a pool: on their own if what they read never changes, else in
// a read-only transaction, which sees one state.

import type { Pool, PoolClient } from 'pg'
import type { ServingReads } from '../serving/reads.ts'
import type { InSnapshot, Snapshot } from '../sql/database.ts'
import { lookupsOver } from '../sql/tables.ts'
import { readRegistry } from '../sql/versions.ts'
import type { EvenState } from './citus/even.ts'
import { preparingOf } from './citus/nodes.ts'
import { withConnection } from './connect.ts'
import { dialect, distributedDialect } from './dialect.ts'
import { binaryQuery, listingReads, type Rows } from './tables.ts'

const names = new Map<string, string>()

/** The name of a statement; the texts of ours are constants, so there are few. */
function nameOf(sql: string): string {
  const name = names.get(sql) ?? `statement ${names.size + 1}`
  names.set(sql, name)
  return name
}

/** How often a statement is prepared: once on every connection, or each time that it runs. */
export type Preparing = 'once' | 'always'

/** Runs statements over a connection; their rows are in binary form. */
export function rowsOn(client: PoolClient, preparing: Preparing): Rows {
  return async (text, ...values) => {
    const name = preparing === 'once' ? { name: nameOf(text) } : {}
    return (await client.query({ ...name, ...binaryQuery(text, values) })).rows as never
  }
}

/** Runs statements, each over any connection of a pool. */
export function rowsIn(pool: Pool, preparing: Preparing): Rows {
  return (text, ...values) =>
    withConnection(pool, (client) => rowsOn(client, preparing)(text, ...values))
}

/**
 * Makes the reads of a database that see one state.
 *
 * @param even undefined for a store that is not distributed.
 * @param rowsAt runs statements about a company; undefined if they run as any other.
 */
export function createSnapshots(
  pool: Pool,
  reads: Pick<ServingReads, 'change'>,
  even?: EvenState,
  rowsAt?: (companyId: number) => Rows,
) {
  const isDistributed = even !== undefined
  const ownDialect = isDistributed ? distributedDialect : dialect
  const preparing = preparingOf(isDistributed)
  const snapshotOf = (rows: Rows): Snapshot => ({
    dialect: ownDialect,
    rows,
    registry: (company) => readRegistry({ dialect: ownDialect, rows }, company),
    tables: lookupsOver({ dialect: ownDialect, rows }, listingReads(rows)),
    change: reads.change,
  })
  const ofVersions = snapshotOf(rowsIn(pool, preparing))

  const inSnapshot: InSnapshot = (work) =>
    withConnection(pool, async (client) => {
      await client.query('begin isolation level repeatable read, read only')
      try {
        const result = await work(snapshotOf(rowsOn(client, preparing)))
        await client.query('commit')
        return result
      } catch (error) {
        // A lost session has nothing to roll back, and the error should say why it was lost.
        await client.query('rollback').catch(() => undefined)
        throw error
      }
    })

  const acrossNodes: InSnapshot = (work) =>
    even === undefined ? inSnapshot(work) : even.during(() => work(ofVersions))

  return {
    /** For work on data that every node has. */
    inSnapshot,
    /** For work on several companies: their nodes show one state. */
    acrossNodes,
    /** For work on data that never changes, and on one query: without a transaction. */
    ofVersions,
    /** The same for one company. */
    ofCompany: (id: number) => (rowsAt === undefined ? ofVersions : snapshotOf(rowsAt(id))),
  }
}
