// Prepares files for DuckDB. The rows of a text file are copied as CSV in one form, so that faults
// that DuckDB would skip silently, or stop at, are found; a Parquet file is linked or decompressed.
//
// DuckDB always gets paths of our own: it may read a file's name as a pattern, a URL or columns.

import { randomBytes } from 'node:crypto'
import { closeSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { refuseColumns } from '../check-columns.ts'
import { isCsv, withDoubleQuotes } from '../csv-record.ts'
import { openContent, type Reading } from '../file-content.ts'
import { textOfJson } from '../json/exact-number.ts'
import { readText } from '../read-text.ts'
import { type PlacedRow, Refusal, type SourceRow } from '../refusal.ts'
import type { SourceFile } from '../source-file.ts'
import { isWellFormed } from '../../text/well-formed.ts'
import { createTemporaryFile, linkTemporary, writeTemporary } from '../temporary-folder.ts'
import { createPieces, type Pieces } from './pieces.ts'

/** A file for DuckDB. */
export interface TableFile extends Pieces {
  /** Its name, as the operator gave it. */
  readonly name: string
  readonly kind: 'csv' | 'json' | 'parquet'
  /** The names of its columns, or of the members of its objects; none for Parquet. */
  readonly columns: readonly string[]
  /** All rows, including refused ones; for Parquet, known only later. */
  readonly rows: number | undefined
}

// No file can know the names of these columns.
export const unknowable = (name: string) => `${name} ${randomBytes(6).toString('hex')}`
/** The first column of CSV and JSON, before their own: the number of a row. */
export const numberColumn = unknowable('n')

interface Preparing {
  /** The index of the file. */
  readonly at: number
  /** Receives the files for DuckDB. */
  readonly folder: string
  readonly reading: Reading
}

/**
 * Reads a whole file.
 *
 * @returns the file, after the rows that are refused.
 * @throws OperatorError for a truncated file, invalid UTF-8, a row of CSV that is too long, or an
 *   invalid header.
 */
export async function* prepareTable(
  file: SourceFile,
  preparing: Preparing,
): AsyncGenerator<PlacedRow[], TableFile> {
  if (file.format === 'parquet') return await prepareParquet(file, preparing)
  return yield* copyRows(file, preparing)
}

/** Links a Parquet file, or decompresses it. */
export async function prepareParquet(
  file: SourceFile,
  { folder, reading }: Omit<Preparing, 'at'>,
): Promise<TableFile> {
  const { chunks, isStored } = await openContent(file, reading)
  const path = join(folder, `${crypto.randomUUID()}.parquet`)
  if (isStored) linkTemporary(resolve(file.name), path)
  let copy: number | undefined
  let bytes = 0
  try {
    // A link is read through as well, for its digest.
    for await (const chunk of chunks) {
      bytes += chunk.length
      if (isStored) continue
      // Not before: only within the loop does a failure close the file, which may be a pipe.
      copy ??= createTemporaryFile(path)
      writeTemporary(copy, chunk)
    }
  } finally {
    if (copy !== undefined) closeSync(copy)
  }
  return {
    name: file.name,
    kind: 'parquet',
    columns: [],
    paths: [path],
    bytes,
    rows: undefined,
    isWide: false,
  }
}

/**
 * Writes the valid rows to files of CSV, with a cell for each column or, of JSON, for each member
 * that a row before or the row itself has; yields those that are refused.
 */
async function* copyRows(
  file: SourceFile,
  { at, folder, reading }: Preparing,
): AsyncGenerator<PlacedRow[], TableFile> {
  const kind = isCsv(file) ? 'csv' : 'json'
  /** Their places, by their names. */
  const columns = new Map<string, number>()
  function addColumn(name: string): number {
    const at = columns.size
    columns.set(name, at)
    refuseColumns(file.name, columns.size)
    return at
  }
  using pieces = createPieces(folder)
  let rows = 0
  for await (const batch of readText(file, at, reading, (names) => names.forEach(addColumn))) {
    const lines: string[] = []
    const refused: PlacedRow[] = []
    for (const { row, text } of batch) {
      rows += 1
      // Only escapes make halves of surrogate pairs, and a row with its bytes has none.
      const sound = kind === 'csv' || text !== undefined ? row : refuseHalves(row)
      if (sound instanceof Refusal) refused.push({ file: at, number: rows, row: sound })
      else lines.push(csvLine(rows, cellsOf(sound, columns, addColumn)))
    }
    if (lines.length > 0) pieces.add(Buffer.from(lines.join('')), lines.length)
    if (refused.length > 0) yield refused
  }
  return { name: file.name, kind, columns: [...columns.keys()], ...pieces.end(), rows }
}

/** Texts have quotes, between which DuckDB finds the same text; nulls at the end are left out. */
function csvLine(number: number, cells: readonly (string | null)[]): string {
  let line = String(number)
  let commas = 1
  for (const cell of cells) {
    if (cell !== null) {
      line += `${commas === 1 ? ',' : ','.repeat(commas)}"${withDoubleQuotes(cell)}"`
      commas = 0
    }
    commas += 1
  }
  return `${line}\n`
}

/** The texts of members, and the JSON of other values; null for a member that is not there. */
function cellsOf(
  row: SourceRow,
  columns: ReadonlyMap<string, number>,
  addColumn: (name: string) => number,
): (string | null)[] {
  const cells = new Array<string | null>(columns.size).fill(null)
  for (const name in row) {
    // An empty name cannot be that of a column.
    if (name === '') continue
    const at = columns.get(name) ?? addColumn(name)
    const value = row[name] ?? null
    cells[at] = value === null || typeof value === 'string' ? value : textOfJson(value)
  }
  return cells
}

/** No text in UTF-8 has halves of surrogate pairs, which escapes of JSON may make. */
function refuseHalves(row: SourceRow | Refusal): SourceRow | Refusal {
  if (row instanceof Refusal || isWellFormed(row)) return row
  const [name = '', value] = Object.entries(row).find((member) => !isWellFormed(member)) ?? []
  return new Refusal('contains an unpaired surrogate', name.toWellFormed(), value, { row })
}
