// Queries that see one state of a database: a read-only transaction over a connection of the pool.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'
import type { InSnapshot, Snapshot } from '../sql/snapshot.ts'
import type { ServingReads } from '../serving/reads.ts'
import { areNodesEven, type WitnessedTable } from './citus-witnesses.ts'
import { dialect, spreadDialect } from './dialect.ts'
import { nameOf, preparedRows } from './prepared.ts'
import { lookupsOf } from './tables.ts'

/** Reads of a database that see one state. */
export interface Snapshots {
  /** For work on one company, or on what every node has. */
  readonly inSnapshot: InSnapshot
  /** For work on several companies: their nodes show one version. */
  readonly acrossNodes: (tables: readonly WitnessedTable[]) => InSnapshot
  /** For work on what never changes, and on one query: without a transaction. */
  readonly ofVersions: Snapshot
}

/** How long to wait until a commit has reached all nodes; usually it takes milliseconds. */
const unevenMsMax = 1_000
const pauseMs = 10

export function createSnapshots(pool: Pool, reads: ServingReads, isSpread: boolean): Snapshots {
  const snapshotOf = (connection: Pool | PoolClient): Snapshot => ({
    dialect: isSpread ? spreadDialect : dialect,
    get tables() {
      return lookupsOf(preparedRows(connection), isSpread)
    },
    texts: (companyId, segments) => reads.texts(companyId, segments),
    entries: (companyId, segments) => reads.entries(companyId, segments),
    change: (version) => reads.change(version),
    async rows<Row extends readonly unknown[]>(
      text: string,
      ...values: readonly (string | number)[]
    ) {
      const { rows } = await connection.query<Row & unknown[]>({
        ...{ name: nameOf(text), text, rowMode: 'array' },
        values: [...values],
      })
      return rows
    },
  })

  const inSnapshot: InSnapshot = async (work) => {
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
  }

  return {
    inSnapshot,
    acrossNodes: (tables) => (work) =>
      isSpread
        ? onceEven(inSnapshot, (snapshot) => areNodesEven(snapshot, tables), work)
        : inSnapshot(work),
    ofVersions: snapshotOf(pool),
  }
}

/** Runs `work` in a snapshot that is even; waits while there is none. */
async function onceEven<T>(
  inSnapshot: InSnapshot,
  isEven: (snapshot: Snapshot) => Promise<boolean>,
  work: (snapshot: Snapshot) => Promise<T>,
): Promise<T> {
  for (const end = performance.now() + unevenMsMax; ; await sleep(pauseMs)) {
    const done = await inSnapshot(async (snapshot) =>
      (await isEven(snapshot)) ? { result: await work(snapshot) } : undefined,
    )
    if (done !== undefined) return done.result
    if (performance.now() > end) {
      throw new Error(`the nodes of Citus have shown different versions for ${unevenMsMax} ms`)
    }
  }
}
