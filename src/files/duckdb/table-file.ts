// Prepares files for DuckDB. The rows of a text file are copied, so that faults that DuckDB would
// skip silently, or stop at, are found; a Parquet file is linked or decompressed.
//
// DuckDB always gets paths of our own: it may read a file's name as a pattern, a URL or columns.

import { isUtf8 } from 'node:buffer'
import { closeSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { refuseColumns } from '../check-columns.ts'
import { withDoubleQuotes } from '../csv-record.ts'
import { openContent, type Reading } from '../file-content.ts'
import { plainNumbers } from '../json/exact-number.ts'
import { tooLong } from '../json/parse-row.ts'
import { type CsvRow, openCsv } from '../read-csv.ts'
import { parseLines, type PlacedRow, rowLines } from '../json/read-json.ts'
import { Refusal, type SourceRow } from '../refusal.ts'
import type { FileDigest, SourceFile } from '../source-file.ts'
import { isWellFormed } from '../../text/well-formed.ts'
import { refuseBytes } from '../encoding.ts'
import { createTemporaryFile, linkTemporary, writeTemporary } from '../temporary-folder.ts'
import { createPieces, type Pieces } from './pieces.ts'

/** A file for DuckDB. */
export interface TableFile extends Omit<Pieces, 'rows'> {
  /** Its name, as the operator gave it. */
  readonly name: string
  readonly kind: 'csv' | 'json' | 'parquet'
  /** The names of its columns, or of the members of its objects; none for Parquet. */
  readonly columns: readonly string[]
  /** Between the cells of CSV. */
  readonly delimiter: string
  /** All rows, including refused ones; for Parquet, known only later. */
  readonly rows: number | undefined
  /** How many of its rows are refused; in files of JSON, each leaves a `hole`. */
  readonly holes: number
}

// No file can know the names of these columns.
export const unknowable = (name: string) => `${name} ${crypto.randomUUID()}`
/** The first column of CSV, before its own: the number of a row. */
export const numberColumn = unknowable('row number')
/** The column that only refused rows of JSON have. */
export const holeColumn = unknowable('hole')
const hole = Buffer.from(`{"${holeColumn}":""}`)

interface Preparing {
  /** The index of the file. */
  readonly at: number
  /** Receives the files for DuckDB. */
  readonly folder: string
  readonly digest: FileDigest
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
  const isCsv = file.format === 'csv' || file.format === 'tsv'
  return isCsv ? yield* copyCsv(file, preparing) : yield* copyJson(file, preparing)
}

/** Links a Parquet file, or decompresses it. */
export async function prepareParquet(
  file: SourceFile,
  { folder, digest, reading }: Omit<Preparing, 'at'>,
): Promise<TableFile> {
  const { chunks, isStored } = await openContent(file, digest, reading)
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
    delimiter: '',
    paths: [path],
    bytes,
    rows: undefined,
    holes: 0,
    isWide: false,
  }
}

/** The valid rows, each with its number as its first cell. */
async function* copyCsv(
  file: SourceFile,
  { at, folder, digest, reading }: Preparing,
): AsyncGenerator<PlacedRow[], TableFile> {
  const { chunks } = await openContent(file, digest, reading)
  const { header, rows } = await openCsv(file, chunks)
  const { columns, delimiter } = header
  using pieces = createPieces(folder, 'csv', '')
  let count = 0
  for await (const some of rows) {
    count += some.length
    const refused: PlacedRow[] = []
    const lines: string[] = []
    for (const row of some) {
      const { number, refusal } = row
      if (refusal !== undefined) refused.push({ file: at, number, row: refusal })
      else lines.push(`"${number}"${delimiter}${plainText(row, delimiter)}\n`)
    }
    if (lines.length > 0) pieces.add(Buffer.from(lines.join('')), lines.length)
    if (refused.length > 0) yield refused
  }
  const { name } = file
  return { name, kind: 'csv', columns, delimiter, ...pieces.end(), rows: count, holes: 0 }
}

/** A row in which DuckDB finds the same cells: it treats quotes between blanks differently. */
function plainText({ text, cells }: CsvRow, delimiter: string): string {
  if (!text.includes('"')) return text
  return cells.map((cell) => `"${withDoubleQuotes(cell)}"`).join(delimiter)
}

/** The valid rows; others become empty ones with the member `hole`, so that rows are counted. */
async function* copyJson(
  file: SourceFile,
  { at, folder, digest, reading }: Preparing,
): AsyncGenerator<PlacedRow[], TableFile> {
  const check = createRowCheck(file.name, at)
  using pieces = createPieces(folder, 'json', '\n')
  let holes = 0
  for await (const lines of rowLines(file, await openContent(file, digest, reading))) {
    const { bytes, rows, refused } = check.add(lines)
    pieces.add(bytes, rows)
    holes += refused.length
    if (refused.length > 0) yield refused
  }
  const columns = [...check.names].sort()
  return { name: file.name, kind: 'json', columns, delimiter: '', ...pieces.end(), holes }
}

/**
 * Refuses faulty rows, and collects the names of members. DuckDB would take some of them: objects
 * that end with a comma, two objects on a line, and a value that is not an object as a column's.
 */
function createRowCheck(name: string, file: number) {
  const names = new Set<string>()
  let number = 0
  let line = 1
  return {
    names,
    /** @param given undefined for a row that is too long. */
    add(given: Buffer | undefined) {
      if (given !== undefined && !isUtf8(given)) refuseBytes(name, line, given)
      const bytes = given === undefined ? hole : withPlainNumbers(given)
      const hasEscapes = given?.includes('\\u') === true
      const before = number
      const holes = new Set<number>()
      const refused: PlacedRow[] = []
      let at = 0
      for (const row of given === undefined ? [tooLong()] : parseLines(bytes)) {
        line += 1
        at += 1
        if (row === undefined) continue
        number += 1
        const refusal = row instanceof Refusal ? row : hasEscapes ? refuseHalves(row) : undefined
        if (refusal === undefined) addNames(row as SourceRow)
        else {
          holes.add(at)
          refused.push({ file, number, row: refusal })
        }
      }
      return { bytes: withHoles(bytes, holes), rows: number - before, refused }
    },
  }
  function addNames(row: SourceRow): void {
    for (const name in row) {
      // An empty name cannot be that of a column.
      if (name !== '') names.add(name)
    }
    refuseColumns(name, names.size)
  }
}

/** DuckDB rounds decimals, and writes `1e3` as `1000.0`. */
function withPlainNumbers(rows: Buffer): Buffer {
  const text = rows.toString()
  const plain = plainNumbers(text)
  return plain === text ? rows : Buffer.from(plain)
}

/** Lines, some of which are replaced. */
function withHoles(rows: Buffer, holes: ReadonlySet<number>): Buffer {
  if (holes.size === 0) return rows
  const lines = rows.toString().split('\n')
  return Buffer.from(lines.map((line, n) => (holes.has(n + 1) ? hole : line)).join('\n'))
}

/** DuckDB refuses halves of surrogate pairs, which only escapes can make. */
function refuseHalves(row: SourceRow): Refusal | undefined {
  const [name, value] = Object.entries(row).find((member) => !isWellFormed(member)) ?? []
  if (name === undefined) return undefined
  return new Refusal('contains an unpaired surrogate', name.toWellFormed(), value, { row })
}
