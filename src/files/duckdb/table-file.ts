// Prepares files for DuckDB. The rows of a text file are copied, so that faults that DuckDB would
// skip silently, or stop at, are found; a Parquet file is linked or decompressed.
//
// DuckDB always gets paths of our own: it may read a file's name as a pattern, a URL or columns.

import { isUtf8 } from 'node:buffer'
import { closeSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { OperatorError } from '../../config/operator-error.ts'
import { refuseColumns } from '../check-columns.ts'
import { openContent, type Reading } from '../file-content.ts'
import { parseRow, rowBytesMax } from '../parse-row.ts'
import { type CsvRow, openCsv } from '../read-csv.ts'
import { isArray, parseLines, type PlacedRow, splitElements, splitLines } from '../read-json.ts'
import { Refusal, type SourceRow } from '../refusal.ts'
import type { FileDigest, SourceFile } from '../source-file.ts'
import { isWellFormed } from '../../text/well-formed.ts'
import { refuseBytes } from '../encoding.ts'
import { create, createPieces, type Pieces, writeAll, type WrittenRows } from './pieces.ts'

/** A file for DuckDB. */
export interface TableFile extends Omit<Pieces, 'rows'> {
  /** Its name, as the operator gave it. */
  readonly name: string
  readonly kind: 'csv' | 'json' | 'parquet'
  /** The names of its columns, or of the members of its objects; none for Parquet. */
  readonly columns: readonly string[]
  /** Between the cells of CSV. */
  readonly delimiter: string
  /** All of them, also those that are refused; of Parquet known later. */
  readonly rows: number | undefined
}

/** What a file is prepared with. */
interface Preparing {
  /** The index of the file. */
  readonly at: number
  /** Receives the files for DuckDB. */
  readonly folder: string
  readonly digest: FileDigest
  readonly reading: Reading
}

/**
 * Reads a file through.
 *
 * @returns the file, after the rows that are refused.
 * @throws OperatorError for a truncated file, invalid UTF-8, a row that is too long, a row of JSON
 *   that is no sound object, or an invalid header.
 */
export async function* prepareTable(
  file: SourceFile,
  preparing: Preparing,
): AsyncGenerator<PlacedRow[], TableFile> {
  if (file.format === 'parquet') return await prepareParquet(file, preparing)
  const isCsv = file.format === 'csv' || file.format === 'tsv'
  return isCsv ? yield* copyCsv(file, preparing) : await copyJson(file, preparing)
}

/** Links a Parquet file, or decompresses it. */
export async function prepareParquet(
  file: SourceFile,
  { folder, digest, reading }: Omit<Preparing, 'at'>,
): Promise<TableFile> {
  const { chunks, isStored } = await openContent(file, digest, reading)
  const path = join(folder, `${crypto.randomUUID()}.parquet`)
  if (isStored) symlinkSync(resolve(file.name), path)
  const copy = isStored ? undefined : create(folder, path)
  let bytes = 0
  try {
    // A link is read through as well, for its digest.
    for await (const chunk of chunks) {
      bytes += chunk.length
      if (copy !== undefined) writeAll(folder, copy, chunk)
    }
  } finally {
    if (copy !== undefined) closeSync(copy)
  }
  return {
    ...{ name: file.name, kind: 'parquet', columns: [], delimiter: '', paths: [path], bytes },
    ...{ rows: undefined, isWide: false, longestRow: 0 },
  }
}

/** The sound rows, each with its number and its line as its first cells. */
async function* copyCsv(
  file: SourceFile,
  { at, folder, digest, reading }: Preparing,
): AsyncGenerator<PlacedRow[], TableFile> {
  const { chunks } = await openContent(file, digest, reading)
  const { header, rows } = await openCsv(file, chunks)
  const { columns, delimiter } = header
  using pieces = createPieces(folder, 'csv', { open: '', between: '', close: '' })
  let count = 0
  for await (const some of rows) {
    count += some.length
    const refused: PlacedRow[] = []
    const lines: string[] = []
    let longest = 0
    for (const row of some) {
      const { number, line, refusal } = row
      if (refusal === undefined) {
        const text = `"${number}"${delimiter}"${line}"${delimiter}${plainText(row, delimiter)}\n`
        lines.push(text)
        longest = Math.max(longest, text.length)
      } else refused.push({ file: at, number, row: refusal })
    }
    const bytes = Buffer.from(lines.join(''))
    // A character takes at most three bytes in UTF-8.
    const longestRow = Math.min(3 * longest, bytes.length)
    if (lines.length > 0) pieces.add({ bytes, rows: lines.length, longestRow })
    if (refused.length > 0) yield refused
  }
  return { name: file.name, kind: 'csv', columns, delimiter, ...pieces.end(), rows: count }
}

/** A row in which DuckDB finds the same cells: it reads quotes between blanks in another way. */
function plainText({ text, cells }: CsvRow, delimiter: string): string {
  if (!text.includes('"')) return text
  return cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(delimiter)
}

const newline = 0x0a
const comma = Buffer.from(',')

async function copyJson(
  file: SourceFile,
  { folder, digest, reading }: Preparing,
): Promise<TableFile> {
  const { name } = file
  const { start, chunks } = await openContent(file, digest, reading)
  const isOfElements = isArray(file, start)
  const check = createRowCheck(name)
  const marks = isOfElements
    ? { open: '[', between: ',', close: ']' }
    : { open: '', between: '\n', close: '' }
  using pieces = createPieces(folder, 'json', marks)
  const parts = isOfElements
    ? checkedElements(splitElements(file, chunks), check)
    : checkedLines(splitLines(chunks), check)
  for await (const part of parts) pieces.add(part)
  const columns = [...check.names].sort()
  return { name, kind: 'json', columns, delimiter: '', ...pieces.end() }
}

async function* checkedElements(
  batches: AsyncIterable<readonly (Buffer | undefined)[]>,
  check: RowCheck,
): AsyncGenerator<WrittenRows> {
  for await (const elements of batches) {
    const sound = elements.map((element) => check.add(element, (bytes) => [parseRow(bytes)]).bytes)
    const joined = sound.flatMap((element, n) => (n === 0 ? [element] : [comma, element]))
    const longestRow = Math.max(...sound.map(({ length }) => length))
    yield { bytes: Buffer.concat(joined), rows: sound.length, longestRow }
  }
}

async function* checkedLines(
  batches: AsyncIterable<Buffer | undefined>,
  check: RowCheck,
): AsyncGenerator<WrittenRows> {
  for await (const lines of batches) {
    const { bytes, rows } = check.add(lines, parseLines)
    yield { bytes, rows, longestRow: longestLine(bytes) }
  }
}

function longestLine(lines: Buffer): number {
  let longest = 0
  for (let start = 0; start < lines.length;) {
    const at = lines.indexOf(newline, start)
    const end = at < 0 ? lines.length : at + 1
    longest = Math.max(longest, end - start)
    start = end
  }
  return longest
}

type RowCheck = ReturnType<typeof createRowCheck>

/**
 * Refuses faulty rows, and collects the names of members. DuckDB would take some of them: objects
 * that end with a comma, two objects on a line, and a value that is no object as that of a column.
 */
function createRowCheck(file: string) {
  const names = new Set<string>()
  let count = 0
  let line = 1
  return {
    names,
    /** @param bytes undefined for a row that is too long. */
    add(
      bytes: Buffer | undefined,
      parse: (bytes: Buffer) => Iterable<SourceRow | Refusal | undefined>,
    ): { readonly bytes: Buffer; readonly rows: number } {
      if (bytes === undefined) {
        throw new OperatorError(`${file}: row ${count + 1} is longer than ${rowBytesMax >> 20} MiB`)
      }
      if (!isUtf8(bytes)) refuseBytes(file, line, bytes)
      const before = count
      // DuckDB refuses halves of surrogate pairs, which only escapes can make.
      const mayHaveHalves = bytes.includes('\\u')
      for (const row of parse(bytes)) {
        line += 1
        if (row === undefined) continue
        count += 1
        if (row instanceof Refusal) throw refused(row.field, row.reason)
        if (mayHaveHalves) refuseHalves(row)
        addNames(row)
      }
      return { bytes, rows: count - before }
    },
  }
  function refused(field: string | undefined, reason: string): OperatorError {
    const fault = field === undefined ? reason : `${field} ${reason}`
    return new OperatorError(`${file}: row ${count}: ${fault}; correct the file`)
  }
  function refuseHalves(row: SourceRow): void {
    const [name] = Object.entries(row).find((member) => !isWellFormed(member)) ?? []
    if (name !== undefined) throw refused(name.toWellFormed(), 'contains half of a surrogate pair')
  }
  function addNames(row: SourceRow): void {
    for (const name in row) {
      // An empty one cannot be the name of a column.
      if (name !== '') names.add(name)
    }
    refuseColumns(file, names.size)
  }
}
