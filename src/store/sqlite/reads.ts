// The reads that serve requests from SQLite, over one connection that all requests share. What
// stays the same until another process commits is cached.

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { type ListingReads, MissingSegmentError } from '../listing/tables.ts'
import type { RegistryState } from '../reading.ts'
import type { ServingReads } from '../serving/reads.ts'
import {
  createVersionReads,
  registryStateOf,
  type RegistryRow,
  registrySql,
} from '../sql/versions.ts'
import { firstSegmentOf, firstTexts, headOf, headSql, type ReadHead } from '../sql/head-tables.ts'
import { lookupsOver } from '../sql/tables.ts'
import { prepareRow } from './statements.ts'
import type { RowReader } from '../sql/dialect.ts'
import type { Snapshot } from '../sql/database.ts'
import { dialect, writerOf } from './tables.ts'

/** Reads listings over a connection. */
export function listingReadsOf(db: DatabaseSync) {
  return {
    texts: readColumn(db, 'texts'),
    entries: readColumn(db, 'entries'),
    // Each blob has memory of its own. If that waited for the garbage collector, along with that of
    // 100 other pages, new blobs would get memory that is in no cache of the processor.
    free(texts) {
      for (const { buffer } of texts) {
        // Indexes that were read together share their memory.
        if (buffer.byteLength > 0) (buffer as ArrayBuffer).transfer(0)
      }
    },
  } satisfies ListingReads
}

/** How often work is tried; imports are seconds apart, the work takes milliseconds. */
const attemptsMax = 5

export type FileReads = ReturnType<typeof createReads>

/**
 * Reads over one connection, which all requests share.
 *
 * @param forget is called when another process has committed.
 */
export function createReads(db: DatabaseSync, forget: () => void) {
  const registryRow = prepareRow(db, registrySql)
  const queries = writerOf(db)
  const versions = createVersionReads(queries.rows)
  const listings = listingReadsOf(db)
  let kept: RegistryState | undefined
  const { enter, leave, now } = createTransactions(db, () => {
    kept = undefined
    forget()
  })

  const registry = () =>
    (kept ??= registryStateOf(registryRow.get() as unknown as RegistryRow | undefined))

  const reads = {
    ...listings,
    now,
    headIn: headReader(db, registry),
    change: versions.change,
    knownSince: versions.knownSince,
  } satisfies ServingReads

  /** One for all work in a state. */
  let last: { readonly begun: number; readonly snapshot: Snapshot } | undefined

  /** Reads that fail once another process has committed. */
  function createSnapshot(begun: number): Snapshot {
    const checked =
      <A extends unknown[], T>(read: (...args: A) => T) =>
      (...args: A): T => {
        if (enter() !== begun) throw changed
        return read(...args)
      }
    const rows = checked(queries.rows) as RowReader['rows']
    const { texts, entries } = listings
    const own = { ...listings, texts: checked(texts), entries: checked(entries) }
    return {
      dialect,
      rows,
      registry: checked(() => registry()),
      tables: lookupsOver({ dialect, rows }, own),
      change: checked(versions.change),
    }
  }

  return {
    reads,
    registry,
    /** Forgets what is kept if another process has committed before this turn of the event loop. */
    refresh: enter,
    /** Lets the next read see what is there now. */
    renew: leave,
    /** Does work that may wait between its reads. */
    inSnapshot: async <T>(work: (snapshot: Snapshot) => Promise<T>): Promise<T> => {
      for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
        const begun = enter()
        if (last?.begun !== begun) last = { begun, snapshot: createSnapshot(begun) }
        try {
          const result = await work(last.snapshot)
          if (enter() === begun) return result
        } catch (error) {
          if (error !== changed) throw error
        }
      }
      throw new Error(`the store has changed during each of ${attemptsMax} attempts to read it`)
    },
  }
}

function headReader(db: DatabaseSync, registry: () => RegistryState): ServingReads['headIn'] {
  const headRow = prepareRow(db, headSql())
  const headWithTextsRow = prepareRow(db, headSql(firstSegmentOf(dialect, '$1')))
  return (listing, company, version, wanted) => {
    const state = registry()
    const most = version === undefined ? state.version : Math.min(version, state.version)
    const found = (wanted === 0 ? headRow : headWithTextsRow).get(company, listing, most)
    const row = found as unknown as ReadHead | undefined
    return { registry: state, head: row && headOf(row), first: firstTexts(row?.[6]) }
  }
}

type SegmentColumn = readonly [bytes: Uint8Array | null]

const where = 'from segments where company_id = ?1 and segment'

/** Reads a column of a company's segments; those with consecutive numbers by one statement. */
function readColumn(db: DatabaseSync, column: 'texts' | 'entries') {
  const single = prepareRow(db, `select ${column} ${where} = ?2`)
  const readRange = column === 'entries' ? rangeOfEntries(db) : rangeOfTexts(db)

  function run(company: number, first: number, last: number): readonly (Uint8Array | null)[] {
    if (first < last) return readRange(company, first, last)
    const row = single.get(company, first) as unknown as SegmentColumn | undefined
    return row ?? []
  }

  return (company: number, segments: readonly number[]): Uint8Array[] => {
    const found: Uint8Array[] = []
    for (let at = 0; at < segments.length;) {
      const start = at
      const first = segments[at] ?? 0
      at += 1
      while (segments[at] === first + at - start) at += 1
      const last = first + at - start - 1
      for (const bytes of run(company, first, last)) if (bytes !== null) found.push(bytes)
      if (found.length < at) throw new MissingSegmentError({ companyId: company, segment: first })
    }
    return found
  }
}

/** Reads a column of the segments from one number to another. */
type RangeReader = (company: number, first: number, last: number) => readonly (Uint8Array | null)[]

function rangeOfTexts(db: DatabaseSync): RangeReader {
  const range = prepareRow(db, `select texts ${where} between ?2 and ?3`)
  return (...asked) => (range.all(...asked) as unknown as SegmentColumn[]).map(([bytes]) => bytes)
}

/** Bytes one after another, and their lengths; null if there are none. */
type Joined = readonly [bytes: Uint8Array, lengths: string] | readonly [null, null]

/** A scan reads thousands of short indexes: an object for each takes longer than to join them. */
function rangeOfEntries(db: DatabaseSync): RangeReader {
  const columns = "cast(group_concat(entries, '') as blob), group_concat(length(entries))"
  const joined = prepareRow(db, `select ${columns} ${where} between ?2 and ?3`)
  return (...asked) => {
    const [bytes, lengths] = joined.get(...asked) as unknown as Joined
    if (bytes === null) return []
    let at = 0
    return lengths.split(',').map((length) => bytes.subarray(at, (at += Number(length))))
  }
}

/** How many turns the event loop has begun. */
const countTurns = () => performance.nodeTiming.uvMetricsInfo.loopCount

/** What a read throws if another process has committed since the work began. */
const changed = new Error('the store has changed')

/**
 * Transactions of reads: one for all requests of a turn of the event loop, since beginning and
 * ending one costs as much as a read. All these requests had begun to arrive before the turn, so
 * each sees everything that was committed before it was sent. No transaction stays open while the
 * process waits: later requests would read an old state, and the log could not be emptied. Work
 * that waits continues in another one if no other process has committed meanwhile; else it is
 * repeated.
 *
 * @param forget is called when another process has committed.
 */
function createTransactions(db: DatabaseSync, forget: () => void) {
  const begin = db.prepare('begin')
  const commit = db.prepare('commit')
  const rollback = db.prepare('rollback')
  const version = prepareRow(db, 'pragma data_version')
  let isOpen = false
  let turn = NaN
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
    // What a timer or an immediate has begun is still open when the next requests arrive.
    const turnNow = countTurns()
    if (isOpen && turn === turnNow) return state
    if (isOpen) leave()
    begin.run()
    isOpen = true
    turn = turnNow
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
