// Reads that see one state of a file, over a connection that all requests share.

import type { DatabaseSync } from 'node:sqlite'
import type { InSnapshot, Snapshot } from '../sql/snapshot.ts'
import { dialect } from './dialect.ts'
import { keepStatements, numbered, prepareRow } from './statements.ts'

/** How often work is done again; imports are seconds apart, the work takes milliseconds. */
const attemptsMax = 5

/** Reads of a connection that see one state. */
export interface Snapshots {
  /** Does several reads at once. */
  readonly now: <T>(read: () => T) => T
  /**
   * Lets the reads that follow see one state, until the reader waits for something other
   * than a read. Each costs some microseconds less than alone.
   */
  readonly join: () => void
  /** Does work that may wait between its queries. */
  readonly inSnapshot: InSnapshot
}

/**
 * A transaction is never open while anybody waits: requests that came later would read an old
 * state, and the log could not be emptied. So it ends before the event loop goes on to the next
 * event, and work that waits goes on in another one, if no other process has committed meanwhile;
 * else it is done again.
 */
export function createSnapshots(db: DatabaseSync): Snapshots {
  const begin = db.prepare('begin')
  const commit = db.prepare('commit')
  const version = prepareRow(db, 'pragma data_version')
  const prepare = keepStatements((sql) => prepareRow(db, numbered(sql)))
  let isOpen = false
  let state = NaN
  // The rows of queries without parameters, which ask for the state of the registry: the same until
  // another process commits.
  const constant = new Map<string, readonly unknown[]>()

  /** Returns the state of the transaction under way, or of a new one. */
  function enter(): number {
    if (isOpen) return state
    begin.run()
    isOpen = true
    process.nextTick(leave)
    const [found] = version.get() as unknown as [number]
    if (found !== state) constant.clear()
    state = found
    return state
  }

  function leave(): void {
    isOpen = false
    // A failed read may have ended it, and the store may have been closed.
    if (db.isOpen && db.isTransaction) commit.run()
  }

  function rowsOf(sql: string, parameters: readonly (string | number)[]): readonly unknown[] {
    if (parameters.length > 0) return prepare(sql).all(...parameters)
    const rows = constant.get(sql) ?? prepare(sql).all()
    constant.set(sql, rows)
    return rows
  }

  return {
    join: enter,
    now(read) {
      if (isOpen) return read()
      begin.run()
      try {
        return read()
      } finally {
        if (db.isTransaction) commit.run()
      }
    },
    async inSnapshot(work) {
      for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
        const begun = enter()
        const snapshot: Snapshot = {
          dialect,
          rows<Row>(sql: string, ...parameters: readonly (string | number)[]) {
            if (enter() !== begun) throw changed
            return rowsOf(sql, parameters) as unknown as Row[]
          },
        }
        try {
          const result = await work(snapshot)
          if (enter() === begun) return result
        } catch (error) {
          if (error !== changed) throw error
        }
      }
      throw new Error(`the store has changed during each of ${attemptsMax} attempts to read it`)
    },
  }
}

/** What a query throws if another process has committed since the work began. */
const changed = new Error('the store has changed')
