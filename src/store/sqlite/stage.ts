// Stages checked rows in a temporary table, several with one statement.

import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { Place, StagedRow } from '../importing.ts'
import { filterNames, type Stage } from '../sql/stage.ts'

/** Temporary tables are in a separate database that SQLite deletes when the connection closes. */
export const createStage = (filters: number) => `
  create temp table stage (
    seq integer primary key,
    file integer not null, number integer not null,
    company_id integer, company_jurisdiction text, company_identifier text,
    id integer, key text, sort text, digest text,
    content text, -- null for a refused row, which only identifies its record
    as_of text
    ${filterNames(filters)
      .map((name) => `, ${name}`)
      .join('')}
  )`

const ownColumns = 11

// One statement per row takes 1.3 us of processor time per row, one per sixteen takes 0.9.
const rowsPerStatement = 16

/** Opens the connection's table `stage`, which has this number of filter values. */
export function openStage(db: DatabaseSync, filterCount: number): Stage {
  const columns = ownColumns + filterCount
  const rowOfValues = `(null${', ?'.repeat(columns)})`
  const noFilters = Array<null>(filterCount).fill(null)
  const prepare = (rows: number) =>
    db.prepare(`insert into stage values ${Array(rows).fill(rowOfValues).join(', ')}`)
  const insertOne = prepare(1)
  const insertMany = prepare(rowsPerStatement)
  let buffered: SQLInputValue[] = []

  function writeIfFull(): void {
    if (buffered.length < rowsPerStatement * columns) return
    insertMany.run(...buffered)
    buffered = []
  }

  function write({ file, number }: Place, row: StagedRow): undefined {
    const { companyId, companyJurisdiction, companyIdentifier, id, key } = row
    const { sort, digest, content, asOf, filters } = row
    buffered.push(file, number, companyId, companyJurisdiction, companyIdentifier, id, key)
    buffered.push(sort, digest, content, asOf)
    for (let n = 0; n < filterCount; n++) buffered.push(filters[n] ?? null)
    writeIfFull()
  }

  function flush(): void {
    for (let at = 0; at < buffered.length; at += columns) {
      insertOne.run(...buffered.slice(at, at + columns))
    }
    buffered = []
  }

  return {
    write,
    writeRefused({ file, number }, { companyJurisdiction, companyIdentifier, id, key }) {
      buffered.push(file, number, null, companyJurisdiction, companyIdentifier, id, key)
      buffered.push(null, null, null, null, ...noFilters)
      writeIfFull()
      return undefined
    },
    end: flush,
    append(rows) {
      for (const row of rows) write(recordedPlace, row)
      flush()
    },
  }
}

// Records made by the store have no place in a file.
const recordedPlace: Place = { file: 0, number: 0 }
