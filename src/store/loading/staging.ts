// The rows of an import, in a temporary file beside the process: they are sorted and compared with
// each other there, whatever the registry's database is.

import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import type { Place, RefusedRow, StagedRow } from '../importing.ts'

export type StagedValue = SQLInputValue
export type StagedValues = Readonly<Record<string, StagedValue>>

/** What is known of the staged rows without reading them again. */
export interface StagedFacts {
  /** The rows that were not refused. */
  rows: number
  /** The length of their contents together, in UTF-16 code units. */
  length: number
  /** Whether a row names its company by its register. */
  hasNames: boolean
  /** Whether a row has a natural key. */
  hasKeys: boolean
}

/** A temporary database, deleted when it is closed. */
export interface Staging {
  readonly facts: StagedFacts
  write(place: Place, row: StagedRow): void
  /** Stages a refused row, which only identifies its record. */
  writeRefused(place: Place, row: RefusedRow): void
  /** Stages a record that the store itself has made: it is not compared with others. */
  append(row: StagedRow): void
  /** Completes the table `stage`, which may be read from now on; more rows may follow. */
  flush(): void
  /** Runs statements in their order, with values by name. */
  run(sql: string | readonly string[], values?: StagedValues): number
  /** The rows of a query as arrays of their columns. */
  readonly rows: (sql: string, ...values: readonly StagedValue[]) => (readonly StagedValue[])[]
  /** The same, one after another. */
  readonly iterate: (
    sql: string,
    ...values: readonly StagedValue[]
  ) => Iterable<readonly StagedValue[]>
  /** The first column of the first row. */
  value(sql: string, ...values: readonly StagedValue[]): StagedValue | undefined
  close(): void
}

/**
 * stage         the checked rows, in the order read
 * given         the ids by which rows name companies, and whether some row has nothing else
 * companies     the registry's companies that rows name, and those that the import makes
 * forgotten     former names of companies that the registry does not know any more
 * keys          the ids of natural keys
 * placed        the staged rows with their company and id; without a digest if refused. Narrow,
 *               so that what compares rows does not read their contents
 * refused       the rows that only a comparison with others or the registry could refuse
 * change        the records that are new or differ, by company
 * removal       what a snapshot lacks
 */
const tables = (filters: number) => `
  create table stage (
    seq integer primary key,
    file integer not null, number integer not null,
    company_id integer, company_jurisdiction text, company_identifier text,
    id integer, key text, sort text, digest blob,
    content blob, -- null for a refused row
    as_of text
    ${filterNames(filters)
      .map((name) => `, ${name}`)
      .join('')}
  );
  create table given (company_id integer primary key, is_alone integer);
  create table companies (
    id integer primary key, jurisdiction text, identifier text,
    is_new integer not null default 0, is_named integer not null default 0, version integer,
    unique (identifier, jurisdiction)
  );
  create table forgotten (company_id integer, jurisdiction text, identifier text);
  create table keys (key text primary key, id integer, is_new integer) without rowid;
  create table placed (
    seq integer primary key, company_id integer, id integer, digest blob
  );
  create table refused (seq integer primary key, field text, value, reason text);
  create table change (
    company_id integer, id integer, seq integer,
    is_known integer, -- whether the listing has the record already
    is_staged integer, -- whether a row of the import says so
    was text, -- the type that meta counts, before
    primary key (company_id, id)
  ) without rowid;
  create table removal (
    company_id integer, id integer, was text, primary key (company_id, id)
  ) without rowid;
`

/** The stage's columns of filter values. */
export function filterNames(count: number): readonly string[] {
  return Array.from({ length: count }, (_, n) => `filter${n + 1}`)
}

/** @param filters the number of filter values in a staged row. */
export function openStaging(filters: number): Staging {
  // A database without a name is a temporary file, of which little is in memory.
  const db = new DatabaseSync('')
  db.exec('pragma journal_mode = off; pragma synchronous = off; pragma locking_mode = exclusive')
  db.exec('pragma cache_size = -16384; pragma threads = 2; pragma temp_store = file')
  db.exec(tables(filters))
  db.exec('begin')
  const prepared = new Map<string, StatementSync>()
  const prepare = (sql: string) => {
    let statement = prepared.get(sql)
    if (statement === undefined) {
      statement = db.prepare(sql)
      statement.setReturnArrays(true)
      statement.setAllowUnknownNamedParameters(true)
      prepared.set(sql, statement)
    }
    return statement
  }
  const rows = (sql: string, ...values: readonly StagedValue[]) =>
    prepare(sql).all(...values) as unknown as (readonly StagedValue[])[]
  return {
    ...createStage(db, filters),
    run(sql, values = {}) {
      let changed = 0
      for (const one of typeof sql === 'string' ? [sql] : sql) {
        changed += Number(prepare(one).run(values).changes)
      }
      return changed
    },
    rows,
    // A statement of its own: a prepared one can only be at one row.
    iterate(sql, ...values) {
      const statement = db.prepare(sql)
      statement.setReturnArrays(true)
      return statement.iterate(...values) as unknown as Iterable<readonly StagedValue[]>
    },
    value: (sql, ...values) => rows(sql, ...values)[0]?.[0],
    close: () => db.close(),
  }
}

// Records made by the store have no place in a file.
const nowhere: Place = { file: 0, number: 0 }

const ownColumns = 11
const placedColumns = 3
// One statement per row takes 1.3 us of processor time per row, one per sixteen takes 0.9.
const rowsPerStatement = 16

/** Inserts rows of so many columns after a row number, several with one statement. */
function createInserter(db: DatabaseSync, table: string, columns: number) {
  const rowOfValues = `(null${', ?'.repeat(columns)})`
  const prepare = (rows: number) =>
    db.prepare(`insert into ${table} values ${Array(rows).fill(rowOfValues).join(', ')}`)
  const insertOne = prepare(1)
  const insertMany = prepare(rowsPerStatement)
  let buffered: StagedValue[] = []
  return {
    /** Takes the values of one row, to be followed by `end`. */
    push: (...values: readonly StagedValue[]) => void buffered.push(...values),
    end(): void {
      if (buffered.length < rowsPerStatement * columns) return
      insertMany.run(...buffered)
      buffered = []
    },
    flush(): void {
      for (let at = 0; at < buffered.length; at += columns) {
        insertOne.run(...buffered.slice(at, at + columns))
      }
      buffered = []
    },
  }
}

function createStage(db: DatabaseSync, filterCount: number) {
  const stage = createInserter(db, 'stage', ownColumns + filterCount)
  const placed = createInserter(db, 'placed', placedColumns)
  const give = db.prepare(`
    insert into given values (?, ?)
    on conflict do update set is_alone = max(is_alone, excluded.is_alone)`)
  const noFilters = Array<null>(filterCount).fill(null)
  const facts: StagedFacts = { rows: 0, length: 0, hasNames: false, hasKeys: false }
  let lastCompany: number | null = null
  let wasAlone = false

  function noteCompany(companyId: number | null, isAlone: boolean): void {
    if (companyId === null || (companyId === lastCompany && isAlone === wasAlone)) return
    give.run(companyId, Number(isAlone))
    lastCompany = companyId
    wasAlone = isAlone
  }

  function writeStage({ file, number }: Place, row: StagedRow, digest: Uint8Array): void {
    const { companyId, companyJurisdiction, companyIdentifier, id, key } = row
    stage.push(file, number, companyId, companyJurisdiction, companyIdentifier, id, key)
    stage.push(row.sort, digest, Buffer.from(row.content), row.asOf)
    for (let n = 0; n < filterCount; n++) stage.push(row.filters[n] ?? null)
    stage.end()
  }

  return {
    facts,
    append: (row: StagedRow) => writeStage(nowhere, row, Buffer.from(row.digest, 'base64')),
    write(place: Place, row: StagedRow): void {
      const { companyId, companyIdentifier, id, key } = row
      const digest = Buffer.from(row.digest, 'base64')
      writeStage(place, row, digest)
      placed.push(companyIdentifier === null ? companyId : null, id, digest)
      placed.end()
      facts.rows += 1
      facts.length += row.content.length
      facts.hasNames ||= companyIdentifier !== null
      facts.hasKeys ||= key !== null
      noteCompany(companyId, companyIdentifier === null)
    },
    writeRefused({ file, number }: Place, row: RefusedRow): void {
      const { companyJurisdiction, companyIdentifier, id, key } = row
      stage.push(file, number, null, companyJurisdiction, companyIdentifier, id, key)
      stage.push(null, null, null, null, ...noFilters)
      stage.end()
      placed.push(null, id, null)
      placed.end()
      facts.hasNames ||= companyIdentifier !== null
      facts.hasKeys ||= key !== null
    },
    flush(): void {
      stage.flush()
      placed.flush()
    },
  }
}

/** Cuts what a query returns into lists of a length, for batches of look-ups. */
export function* inBatches<T>(values: Iterable<T>, length: number): Generator<T[]> {
  let batch: T[] = []
  for (const value of values) {
    batch.push(value)
    if (batch.length < length) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}
