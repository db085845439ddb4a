// Prepares files for DuckDB. The rows of a text file are copied as CSV in one form, so that faults
// that DuckDB would skip silently, or stop at, are found; a Parquet file is linked or decompressed.
//
// DuckDB always gets paths of our own: it may read a file's name as a pattern, a URL or columns.

import { randomBytes } from 'node:crypto'
import { closeSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { refuseColumns } from '../check-columns.ts'
import { withDoubleQuotes } from '../csv-record.ts'
import { openContent, type Reading } from '../file-content.ts'
import { textOfJson } from '../json/exact-number.ts'
import { tooLong } from '../json/parse-row.ts'
import { openCsv } from '../read-csv.ts'
import { parseLines, type PlacedRow, rowLines } from '../json/read-json.ts'
import { Refusal, type SourceRow } from '../refusal.ts'
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
  const isCsv = file.format === 'csv' || file.format === 'tsv'
  return isCsv ? yield* copyCsv(file, preparing) : yield* copyJson(file, preparing)
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

/** A row to copy: its cells, or why it is refused. */
interface CopiedRow {
  readonly number: number
  readonly cells: readonly (string | null)[] | Refusal
}

async function* copyCsv(file: SourceFile, preparing: Preparing) {
  const { chunks } = await openContent(file, preparing.reading)
  const { header, rows } = await openCsv(file, chunks)
  const written = yield* writeRows(rows, preparing)
  return { name: file.name, kind: 'csv', columns: header.columns, ...written } as const
}

/** Writes the valid rows to files of CSV; yields those that are refused. */
async function* writeRows(
  batches: AsyncIterable<Iterable<CopiedRow>>,
  { at, folder }: Preparing,
): AsyncGenerator<PlacedRow[], Pieces & { readonly rows: number }> {
  using pieces = createPieces(folder)
  let rows = 0
  for await (const batch of batches) {
    const lines: string[] = []
    const refused: PlacedRow[] = []
    for (const { number, cells } of batch) {
      rows = number
      if (cells instanceof Refusal) refused.push({ file: at, number, row: cells })
      else lines.push(csvLine(number, cells))
    }
    if (lines.length > 0) pieces.add(Buffer.from(lines.join('')), lines.length)
    if (refused.length > 0) yield refused
  }
  return { ...pieces.end(), rows }
}

/** Texts have quotes, between which DuckDB finds the same text; nulls at the end are left out. */
function csvLine(number: number, cells: readonly (string | null)[]): string {
  let line = String(number)
  let commas = 1
  for (const cell of cells) {
    if (cell !== null) {
      line += `${','.repeat(commas)}"${withDoubleQuotes(cell)}"`
      commas = 0
    }
    commas += 1
  }
  return `${line}\n`
}

/** The rows of JSON, with a cell for each member that a row before or the row itself has. */
async function* copyJson(file: SourceFile, preparing: Preparing) {
  const content = await openContent(file, preparing.reading)
  /** Their places, by their names. */
  const columns = new Map<string, number>()
  let number = 0
  function* copied(lines: Buffer): Generator<CopiedRow> {
    // Only escapes can make halves of surrogate pairs.
    const mayBeHalf = lines.includes('\\u')
    for (const row of rowsIn(lines)) {
      if (row === undefined) continue
      number += 1
      const refusal = row instanceof Refusal ? row : mayBeHalf ? refuseHalves(row) : undefined
      for (const name in refusal ? {} : row) {
        // An empty name cannot be that of a column.
        if (name === '' || columns.has(name)) continue
        columns.set(name, columns.size)
        refuseColumns(file.name, columns.size)
      }
      yield { number, cells: refusal ?? cellsOf(row as SourceRow, columns) }
    }
  }
  async function* batches(): AsyncGenerator<Iterable<CopiedRow>> {
    for await (const lines of rowLines(file, content)) {
      yield lines === undefined ? [{ number: (number += 1), cells: tooLong() }] : copied(lines)
    }
  }
  const written = yield* writeRows(batches(), preparing)
  return { name: file.name, kind: 'json', columns: [...columns.keys()], ...written } as const
}

/** The texts of members, and the JSON of other values; null for a member that is not there. */
function cellsOf(row: SourceRow, columns: ReadonlyMap<string, number>): (string | null)[] {
  const cells = new Array<string | null>(columns.size).fill(null)
  for (const name in row) {
    const at = columns.get(name)
    const value = row[name] ?? null
    if (at === undefined || value === null) continue
    cells[at] = typeof value === 'string' ? value : textOfJson(value)
  }
  return cells
}

function* rowsIn(lines: Buffer) {
  for (const { rows } of parseLines(lines)) for (const row of rows) yield row
}

/** No text in UTF-8 has halves of surrogate pairs. */
function refuseHalves(row: SourceRow): Refusal | undefined {
  const [name, value] = Object.entries(row).find((member) => !isWellFormed(member)) ?? []
  if (name === undefined) return undefined
  return new Refusal('contains an unpaired surrogate', name.toWellFormed(), value, { row })
}
