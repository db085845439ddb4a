// Stages the rows of an import outside the registry's database: in a file in the order read
// (`spool.ts`) and, unless that is the order of the listings, in a temporary database that sorts
// them and compares them with each other. The rows of a first load in that order are only in the
// file of `cut-listings.ts`, as long as nothing else needs them.

import type { Place, RefusedRow, StagedRow } from '../../importing.ts'
import type { ListingCutter } from './cut-listings.ts'
import {
  companyIdIn,
  createSpool,
  digestIn,
  idIn,
  orNull,
  placeIn,
  type SpooledRow,
  textIn,
  textsIn,
} from './spool.ts'
import {
  openTemporaryDatabase,
  type StagedValue,
  type TemporaryDatabase,
} from './temporary-database.ts'

/** What is known of the staged rows without reading them again. */
interface StagedFacts {
  /** The rows that were not refused. */
  rows: number
  /** Whether a row names its company by its register. */
  hasNames: boolean
  /** Whether a row has a natural key. */
  hasKeys: boolean
  /** Whether all rows have ids of companies and records, in ascending order of both. */
  isSorted: boolean
  /** Whether each row's id is greater than that of the row before, as in most extracts. */
  isAscending: boolean
  /** The latest day of a row, in wire form. */
  lastDay: string | null
}

/** The columns of a query, and the bytes of the staged row that it has found. */
export type StagedRowBytes = readonly [columns: readonly StagedValue[], row: Buffer]

/**
 * companies     the registry's companies that rows name, and those that the import makes
 * forgotten     former names of companies that are no longer known, or are known without a name
 * keys          the ids of natural keys
 * stage         the rows, as given and with their company and id; without a digest if refused, and
 *               without a place in the file if they were refused before. All rows or, if they came
 *               in order, only those of changed records
 * refused       the rows that only a comparison with others or the registry could refuse
 * change        the records that are new or differ, or that a snapshot lacks, by company
 * carried       changed records in listings that the rows do not give them for
 */
const tables = `
  create table companies (
    id integer primary key on conflict ignore, jurisdiction text, identifier text,
    is_new integer not null default 0, is_named integer not null default 0, version integer,
    unique (identifier, jurisdiction) on conflict ignore
  );
  create table forgotten (company_id integer, jurisdiction text, identifier text);
  create table keys (key text primary key, id integer, is_new integer) without rowid;
  create table stage (
    seq integer primary key, file integer, number integer,
    given_company integer, jurisdiction text, identifier text, key text, sort text,
    as_of text, company_id integer, id integer, digest blob, at integer, length integer
  );
  create table refused (seq integer primary key, field text, value, reason text);
  create table change (
    company_id integer, id integer,
    seq integer, -- null for what a snapshot lacks
    is_known integer, -- whether the listing has the record already
    is_staged integer, -- whether a row of the import gives the record for the company
    was text, -- the day of what the source said of a company before
    leaf integer, -- which of the listing's segments has it
    at integer, length integer, -- where its row is in the file
    primary key (company_id, id)
  ) without rowid;
  create table carried (
    company_id integer, id integer, seq integer, primary key (company_id, id)
  ) without rowid;
`

// Records made by the store have no place in a file.
const nowhere: Place = { file: 0, number: 0 }

export type Staging = ReturnType<typeof openStaging>

/**
 * Makes empty temporary files, which are deleted when they are closed.
 *
 * @param cutter is given the rows, and closed.
 */
export function openStaging(cutter?: ListingCutter) {
  const db = openTemporaryDatabase(tables)
  const rows = openRows(cutter)
  const facts = factsOfNone()
  const note = createNotes(facts)
  let staged = 0
  let isLoaded = false
  const spooled = () => rows.file().rows(staged)
  function read(sql: string, ...values: readonly StagedValue[]): Iterable<StagedRowBytes> {
    const places = Iterator.from(db.iterate(sql, ...values)).map((columns) => {
      const [at, length] = columns.slice(-2)
      return { columns, at: Number(at), length: Number(length) }
    })
    return rows.spool.read(places).map(([{ columns }, row]) => [columns, row] as const)
  }
  return {
    ...db,
    facts,
    stage(place: Place, row: StagedRow): void {
      note(row)
      staged += 1
      rows.add(place, row, facts.isSorted)
    },
    /** Stages a refused row, which only identifies its record. */
    stageRefused(place: Place, row: RefusedRow): void {
      rows.file().write(place, row)
      staged += 1
      facts.hasNames ||= row.companyIdentifier !== null
      facts.hasKeys ||= row.key !== null
      facts.isSorted = false
    },
    cut: () => rows.cut(),
    /** The rows of a query that ends with `at` and `length` of `stage`, each with its bytes. */
    read,
    /** The staged rows in the order read, without appended ones: as `rows` of the file. */
    spooled,
    /** Writes some staged rows to table `stage`. @param sql selects their numbers and places. */
    load(sql: string): void {
      for (const [[seq, at], bytes] of read(sql)) {
        loadRow(db, { seq: Number(seq), at: Number(at), bytes })
      }
    },
    /** Writes all staged rows to that table. */
    loadAll(): void {
      for (const row of spooled()) loadRow(db, row)
      isLoaded = true
    },
    isLoaded: () => isLoaded,
    /** Writes what replaces a row to the file; returns where it is. */
    rewrite(former: Buffer, row: StagedRow) {
      const { at, bytes } = rows.file().write(placeIn(former), row)
      return { digest: Buffer.from(digestIn(bytes)), at, length: bytes.length }
    },
    /** The number of the last staged row; appended rows have greater ones. */
    staged: () => staged,
    /** Adds a record that the store has made to the table: it is not compared with others. */
    append: (row: StagedRow) => loadRow(db, rows.file().write(nowhere, row)),
    close(): void {
      db.close()
      rows.close()
    },
  }
}

/** The rows in the order read: as cut listings as long as that can be, else in a file. */
function openRows(cutter: ListingCutter | undefined) {
  const spool = createSpool()
  let cutting = cutter
  /** The file, with all rows; from now on, no listings are cut. */
  function file() {
    if (cutting !== undefined) {
      for (const [place, row] of cutting.rows()) spool.write(place, row)
      cutting.close()
      cutting = undefined
    }
    return spool
  }
  return {
    spool,
    file,
    add(place: Place, row: StagedRow, isSorted: boolean): void {
      if (isSorted && cutting?.isWhole() === true) cutting.add(place, row)
      else file().write(place, row)
    },
    /** The cut listings, if all rows are in their order and may be the first of the resource. */
    cut(): ListingCutter | undefined {
      cutting?.finish()
      return cutting?.isWhole() === true ? cutting : undefined
    },
    close(): void {
      spool.close()
      cutting?.close()
    },
  }
}

function loadRow({ insert }: TemporaryDatabase, { seq, at, bytes }: SpooledRow): void {
  const { file, number } = placeIn(bytes)
  const { jurisdiction, identifier, key, sort, asOf } = textsIn(bytes)
  const company = orNull(companyIdIn(bytes))
  const id = orNull(idIn(bytes))
  const isRow = textIn(bytes).length > 0
  const given = [company, jurisdiction, identifier, key, sort, asOf]
  const found = [identifier === null ? company : null, id]
  const kept = isRow ? [digestIn(bytes), at, bytes.length] : [null, null, null]
  insert('stage', seq, file, number, ...given, ...found, ...kept)
}

const factsOfNone = (): StagedFacts => ({
  rows: 0,
  hasNames: false,
  hasKeys: false,
  isSorted: true,
  isAscending: true,
  lastDay: null,
})

/** Collects facts about rows. */
function createNotes(facts: StagedFacts) {
  let lastId = 0
  let lastCompany = 0
  return (row: StagedRow): void => {
    const { companyId, companyIdentifier, id, key, asOf } = row
    const isAlone = companyIdentifier === null
    facts.rows += 1
    facts.hasNames ||= !isAlone
    facts.hasKeys ||= key !== null
    if (asOf !== null && asOf > (facts.lastDay ?? '')) facts.lastDay = asOf
    facts.isAscending &&= id !== null && id > lastId
    lastId = id ?? 0
    facts.isSorted &&= facts.isAscending && isAlone && (companyId ?? 0) >= lastCompany
    lastCompany = companyId ?? 0
  }
}
