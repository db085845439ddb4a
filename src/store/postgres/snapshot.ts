// Queries for companies: in one state of a database, by a read-only transaction over a connection
// of the pool; or each by itself, where what is read never changes.

import type { Pool } from 'pg'
import type { InSnapshot, Snapshot } from '../sql/snapshot.ts'
import type { ServingReads } from '../serving/reads.ts'
import type { EvenState } from './citus-even.ts'
import { dialect, spreadDialect } from './dialect.ts'
import { rowsIn, rowsOn, withConnection } from './pool-rows.ts'
import { lookupsOf, type Rows } from './tables.ts'

/** Reads of a database that see one state. */
export interface Snapshots {
  /** For work on what every node has. */
  readonly inSnapshot: InSnapshot
  /** For work on several companies: their nodes show one state. */
  readonly acrossNodes: InSnapshot
  /** For work on what never changes, and on one query: without a transaction. */
  readonly ofVersions: Snapshot
}

/** @param even undefined for a store that is not spread. */
export function createSnapshots(
  pool: Pool,
  reads: ServingReads,
  even: EvenState | undefined,
): Snapshots {
  const snapshotOf = (rows: Rows): Snapshot => ({
    dialect: even === undefined ? dialect : spreadDialect,
    get tables() {
      return lookupsOf(rows, even !== undefined)
    },
    texts: (companyId, segments) => reads.texts(companyId, segments),
    entries: (companyId, segments) => reads.entries(companyId, segments),
    change: (version) => reads.change(version),
    rows: rows as unknown as Snapshot['rows'],
  })
  const ofVersions = snapshotOf(rowsIn(pool))

  const inSnapshot: InSnapshot = (work) =>
    withConnection(pool, async (client) => {
      await client.query('begin isolation level repeatable read, read only')
      try {
        const result = await work(snapshotOf(rowsOn(client)))
        await client.query('commit')
        return result
      } catch (error) {
        await client.query('rollback')
        throw error
      }
    })

  return {
    inSnapshot,
    acrossNodes: (work) =>
      even === undefined ? inSnapshot(work) : even.during(() => work(ofVersions)),
    ofVersions,
  }
}
