// Reads that see one state of a file, over a connection that all requests share.

import type { Parameter, RowReader } from '../sql/dialect.ts'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { InSnapshot, Snapshot } from '../sql/database.ts'
import { lookupsOver } from '../sql/tables.ts'
import { dialect, bound } from './tables.ts'
import type { FileReads } from './reads.ts'
import { keepStatements, numbered, prepareRow } from './statements.ts'

/** How often work is done again; imports are seconds apart, the work takes milliseconds. */
const attemptsMax = 5

/** Reads of a connection that see one state. */
export interface Snapshots {
  /** Does several reads at once. */
  readonly now: <T>(read: () => T) => T
  /** Forgets what is kept if another process has committed before this turn of the event loop. */
  readonly refresh: () => void
  /** Lets the next read see what is there now. */
  readonly renew: () => void
  /** Does work that may wait between its reads. */
  readonly inSnapshot: InSnapshot
}

/** @param forget is called when another process has committed. */
export function createSnapshots(
  db: DatabaseSync,
  reads: Pick<FileReads, 'head' | 'texts' | 'entries' | 'change'>,
  forget: () => void,
): Snapshots {
  const prepare = keepStatements((sql) => prepareRow(db, numbered(sql)))
  // The rows of queries without parameters, which ask for the state of the registry: the same until
  // another process commits.
  const constant = new Map<string, readonly unknown[]>()
  const { enter, leave, now } = createTransactions(db, () => {
    constant.clear()
    forget()
  })

  function rowsOf(sql: string, parameters: readonly Parameter[]): readonly unknown[] {
    if (parameters.length > 0) return prepare(sql).all(...parameters.map(bound))
    const rows = constant.get(sql) ?? prepare(sql).all()
    constant.set(sql, rows)
    return rows
  }

  /** Reads that fail once another process has committed. */
  function snapshotOf(begun: number): Snapshot {
    const checked =
      <A extends unknown[], T>(read: (...args: A) => T) =>
      (...args: A): T => {
        if (enter() !== begun) throw changed
        return read(...args)
      }
    const rows = checked((sql: string, ...parameters: readonly Parameter[]) =>
      rowsOf(sql, parameters),
    ) as RowReader['rows']
    const head = checked(reads.head)
    const listing = { texts: checked(reads.texts), entries: checked(reads.entries) }
    return {
      dialect,
      rows,
      ...listing,
      change: checked(reads.change),
      get tables() {
        return lookupsOver({ dialect, rows }, { head, ...listing })
      },
    }
  }

  return {
    now,
    refresh: enter,
    renew: leave,
    async inSnapshot(work) {
      for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
        const begun = enter()
        try {
          const result = await work(snapshotOf(begun))
          if (enter() === begun) return result
        } catch (error) {
          if (error !== changed) throw error
        }
      }
      throw new Error(`the store has changed during each of ${attemptsMax} attempts to read it`)
    },
  }
}

/** What a read throws if another process has committed since the work began. */
const changed = new Error('the store has changed')

/**
 * Transactions of reads: one for all requests of a turn of the event loop, since beginning and
 * ending one costs as much as a read. All of them had begun to arrive before the turn, so each sees
 * everything that was committed before it was sent. None stays open while the process waits: later
 * requests would read an old state, and the log could not be emptied. Work that waits goes on in
 * another one, if no other process has committed meanwhile; else it is done again.
 *
 * @param forget is called when another process has committed.
 */
function createTransactions(db: DatabaseSync, forget: () => void) {
  const begin = db.prepare('begin')
  const commit = db.prepare('commit')
  const rollback = db.prepare('rollback')
  const version = prepareRow(db, 'pragma data_version')
  let isOpen = false
  let state = NaN

  /** A failed read may have ended the transaction, and the store may have been closed. */
  function end(statement: StatementSync): void {
    if (db.isOpen && db.isTransaction) statement.run()
  }

  function leave(): void {
    isOpen = false
    try {
      end(commit)
    } catch {
      end(rollback)
    }
  }

  /** Returns the state of the transaction under way, or of a new one. */
  function enter(): number {
    if (isOpen) return state
    begin.run()
    isOpen = true
    setImmediate(leave)
    return now(() => {
      const [found] = version.get() as unknown as [number]
      if (found !== state) forget()
      return (state = found)
    })
  }

  function now<T>(read: () => T): T {
    enter()
    try {
      return read()
    } catch (error) {
      leave()
      throw error
    }
  }

  return { enter, leave, now }
}
