// Reads a source as batches of rows, whatever its format. NDJSON and JSON are read here, row by
// row; other formats, and everything with a mapping, by DuckDB.

import { rmSync } from 'node:fs'
import { isNestedTooDeep } from '../text/nested-json.ts'
import { placeColumns } from '../resources/resource.ts'
import type { Batch } from './duckdb/batches.ts'
import {
  type ColumnarReader,
  type ColumnarSource,
  openColumnarReader,
  type Showing,
} from './duckdb/columns.ts'
import type { ColumnarFile } from './duckdb/tables.ts'
import { makeTemporaryFolder } from './temporary-folder.ts'
import { checkColumns, type ColumnRules } from './check-columns.ts'
import { openContent } from './file-content.ts'
import { lineOfRow, refusedRecord } from './rewrite-csv.ts'
import { tooDeep } from './parse-row.ts'
import { readJson, readNdjson, type Rows } from './read-json.ts'
import { Refusal, type SourceRow } from './refusal.ts'
import type { FileDigest, ImportedFile, SourceFile, TextRules } from './source-file.ts'
import { prepareColumnarFile } from './unpack.ts'

/** An opened source. Each file is added to `files` when it has been read. */
export interface Source {
  readonly unit: 'line' | 'row'
  readonly files: ImportedFile[]
  readonly batches: AsyncIterable<Rows>
  /** The names of the columns of its tables, as far as they have been read. */
  readonly header: ReadonlySet<string>
  /** The rows of the files that a mapping has read; undefined without one. */
  rowsOfFiles(): number | undefined
}

/** The options of `openSource`. */
interface SourceOptions extends ColumnRules {
  readonly files: readonly SourceFile[]
  /** How texts of the files are prepared for the mapping. */
  readonly texts: TextRules
  /** Folders whose files a mapping may read besides the source. */
  readonly mappingFolders: readonly string[]
  /** Limits a mapping to its first rows, and shows its view; undefined for all rows. */
  readonly showing?: Showing | undefined
  readonly onBytes: (bytes: number) => void
  /** Aborts the reading. */
  readonly signal: AbortSignal
}

/** Opens a source; reading its batches throws an OperatorError if the source is faulty. */
export function openSource(options: SourceOptions): Source {
  const { files, mapping } = options
  const isByLine = mapping === undefined && files.every(({ format }) => format === 'ndjson')
  const digests: ImportedFile[] = []
  const found: Found = { rows: undefined, header: new Set() }
  const batches =
    mapping === undefined ? readFiles(options, digests, found) : readMapped(options, digests, found)
  const unit = isByLine ? 'line' : 'row'
  const { header } = found
  return { unit, files: digests, batches, header, rowsOfFiles: () => found.rows }
}

/** Runs `work` with a DuckDB reader and a temporary folder, both made on demand and removed. */
async function* withReader<T>(
  { mappingFolders, signal }: SourceOptions,
  work: (reader: () => Promise<ColumnarReader>, folder: () => string) => AsyncIterable<T>,
): AsyncGenerator<T> {
  let reader: ColumnarReader | undefined
  let folder: string | undefined
  try {
    yield* work(
      async () => (reader ??= await openColumnarReader(mappingFolders, signal)),
      () => (folder ??= makeTemporaryFolder('import')),
    )
  } finally {
    await reader?.close()
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  }
}

function addHeader({ header }: Found, columns: readonly string[] = []): void {
  for (const column of columns) header.add(column)
}

function readFiles(
  options: SourceOptions,
  digests: ImportedFile[],
  found: Found,
): AsyncGenerator<Rows> {
  return withReader(options, async function* (openReader, folderOf) {
    for (const [file, sourceFile] of options.files.entries()) {
      const digest: FileDigest = { bytes: 0, sha256: '' }
      const { format } = sourceFile
      if (format === 'ndjson' || format === 'json') {
        const { chunks } = await openContent(sourceFile, digest, options)
        yield* format === 'ndjson'
          ? readNdjson(chunks, file)
          : readJson(sourceFile.name, chunks, file)
      } else {
        const folder = folderOf()
        const prepared = await prepareColumnarFile(sourceFile, folder, digest, options)
        addHeader(found, prepared.header?.columns)
        const reader = await openReader()
        const source = await reader.readFile(prepared)
        // Shown rows say for themselves what is wrong with their columns.
        if (!options.showing) checkColumns(sourceFile.name, source.columns, options)
        let number = 0
        for await (const batch of source.batches) {
          const rows = rowsOf(batch).map((row) => withoutRefused(row, source))
          yield rows.map((row) => ({ file, number: (number += 1), row }))
        }
        for (const { path } of prepared.pieces) rmSync(path, { force: true })
      }
      digests.push({ name: sourceFile.name, ...digest })
    }
  })
}

/** What reading finds out about the files. */
interface Found {
  rows: number | undefined
  readonly header: Set<string>
}

function readMapped(
  options: SourceOptions,
  digests: ImportedFile[],
  found: Found,
): AsyncGenerator<Rows> {
  return withReader(options, async function* (openReader, folderOf) {
    const { files, mapping = '' } = options
    const reader = await openReader()
    await reader.checkMapping(mapping)
    const prepared = []
    for (const file of files) {
      const digest: FileDigest = { bytes: 0, sha256: '' }
      prepared.push(await prepareColumnarFile(file, folderOf(), digest, options))
      digests.push({ name: file.name, ...digest })
    }
    const lineOf = lineFinder(files, prepared, options.signal)
    const request = { sql: mapping, texts: options.texts, showing: options.showing, lineOf }
    const source = await reader.mapFiles(prepared, request)
    found.rows = source.fileRows
    for (const { header } of prepared) addHeader(found, header?.columns)
    checkColumns('the mapping', source.columns, options)
    for await (const rows of source.refused) {
      yield rows.map(({ file, number, cell, columns }) => {
        return { file, number, row: refusedRecord(cell, columns) }
      })
    }
    yield* placeRows(source, files)
  })
}

/** Finds lines of CSV files as they are, and not of those that were rewritten or cut. */
function lineFinder(
  files: readonly SourceFile[],
  prepared: readonly ColumnarFile[],
  signal: AbortSignal,
) {
  return async (name: string, row: number): Promise<number | undefined> => {
    const at = files.findIndex((file) => file.name === name)
    const { header, pieces = [], isWide = true, refusedColumn } = prepared[at] ?? {}
    const [piece] = pieces
    if (isWide || header === undefined || piece === undefined || refusedColumn !== undefined) {
      return undefined
    }
    const linesBefore = files[at]?.options.skippedLines ?? 0
    return lineOfRow({ name, path: piece.path, header, linesBefore }, row, signal)
  }
}

/** Rows with the file and row number that a mapping passes on; without them, rows are counted. */
async function* placeRows(
  { batches }: ColumnarSource,
  files: readonly SourceFile[],
): AsyncGenerator<Rows> {
  const indexOfName = new Map(files.map(({ name }, index) => [name, index]))
  const [fileColumn, rowColumn] = placeColumns
  let count = 0
  for await (const batch of batches) {
    yield rowsOf(batch).map((row) => {
      count += 1
      if (row instanceof Refusal) return { file: 0, number: count, row }
      const { [fileColumn]: file, [rowColumn]: place, ...rest } = row
      const number = place == null ? count : wholeNumber(place)
      if (number === undefined) {
        const refusal = new Refusal('must be a whole number', rowColumn, place)
        return { file: 0, number: count, row: refusal }
      }
      const index = file == null ? 0 : indexOfName.get(file as string)
      if (index === undefined) {
        const refusal = new Refusal('is not a file of this import', fileColumn, file)
        return { file: 0, number, row: refusal }
      }
      return { file: index, number, row: rest }
    })
  }
}

function wholeNumber(value: unknown): number | undefined {
  const isDigits = typeof value === 'string' && /^\d{1,16}$/.test(value)
  const number = isDigits ? Number(value) : value
  return typeof number === 'number' && Number.isSafeInteger(number) && number > 0
    ? number
    : undefined
}

function rowsOf(batch: Batch): (SourceRow | Refusal)[] {
  if ('texts' in batch) return batch.texts.map(parseRow)
  return Array.from({ length: batch.rows }, (_, index) => {
    const row: Record<string, unknown> = {}
    for (const { name, isJson, cells } of batch.columns) {
      const cell = cells[index] ?? null
      const value = isJson && cell !== null ? parseJson(cell) : cell
      if (value instanceof Refusal) return new Refusal(value.reason, name)
      // Plain assignment to this name would set the prototype instead of adding a column.
      if (name === '__proto__') Object.defineProperty(row, name, { value, enumerable: true })
      else row[name] = value
    }
    return row
  })
}

/** The row without the column that refuses it, or the refusal. */
function withoutRefused(
  row: SourceRow | Refusal,
  { columns, refusedColumn }: ColumnarSource,
): SourceRow | Refusal {
  if (refusedColumn === undefined || row instanceof Refusal) return row
  const { [refusedColumn]: refused, ...rest } = row
  return typeof refused === 'string' ? refusedRecord(refused, columns.length) : rest
}

function parseRow(text: string): SourceRow | Refusal {
  return parseJson(text) as SourceRow | Refusal
}

// A string of JSON, or a number that DuckDB's doubles have but JSON lacks. An unclosed string runs
// to the end of the text, so that the search does not start again at each quote in it.
const stringOrNoNumber = /"(?:[^"\\]|\\.)*(?:"|\\?$)|-?(?:NaN|Infinity)/gs

function parseJson(text: string): unknown {
  if (isNestedTooDeep(text)) return tooDeep()
  try {
    return JSON.parse(text)
  } catch {
    const quoted = text.replace(stringOrNoNumber, (part) => (part[0] === '"' ? part : `"${part}"`))
    return JSON.parse(quoted)
  }
}
