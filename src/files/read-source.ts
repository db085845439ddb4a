// Reads a source as batches of rows, whatever its format. NDJSON and JSON are read here, row by
// row; other formats, and everything with a mapping, by DuckDB.

import { rmSync } from 'node:fs'
import { isNestedTooDeep, mayNestTooDeep } from '../text/nested-json.ts'
import { placeColumns } from '../resources/resource.ts'
import { type ColumnarReader, openColumnarReader, type Showing } from './duckdb/columns.ts'
import { prepareParquet, prepareTable, type TableFile } from './duckdb/table-file.ts'
import { makeTemporaryFolder } from './temporary-folder.ts'
import { checkColumns, type ColumnRules } from './check-columns.ts'
import { openCsv, rowMaker } from './read-csv.ts'
import { openContent } from './file-content.ts'
import { tooDeep } from './parse-row.ts'
import { type PlacedRow, readJson, type Rows } from './read-json.ts'
import { Refusal, type SourceRow } from './refusal.ts'
import type { FileDigest, ImportedFile, SourceFile, TextRules } from './source-file.ts'

/** An opened source. What it has is known as far as it has been read. */
export interface Source {
  readonly unit: 'line' | 'row'
  /** The files that have been read to their end. */
  readonly files: ImportedFile[]
  readonly batches: AsyncIterable<Rows>
  /** The names of the columns of its tables. */
  readonly header: Set<string>
  /** The rows of the files that a mapping has read; undefined without one. */
  rowsOfFiles: number | undefined
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
  const source: Source = {
    unit: isByLine ? 'line' : 'row',
    files: [],
    header: new Set(),
    rowsOfFiles: undefined,
    batches: withReader(options, (openReader, folderOf) =>
      mapping === undefined
        ? readFiles(options, source, openReader, folderOf)
        : readMapped(options, source, openReader, folderOf),
    ),
  }
  return source
}

/** Runs `work` with a DuckDB reader and a temporary folder, both made on demand and removed. */
async function* withReader<T>(
  { mappingFolders, signal }: SourceOptions,
  work: (openReader: OpenReader, folderOf: () => string) => AsyncIterable<T>,
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

type OpenReader = () => Promise<ColumnarReader>

async function* readFiles(
  options: SourceOptions,
  found: Source,
  openReader: OpenReader,
  folderOf: () => string,
): AsyncGenerator<Rows> {
  // Shown rows say for themselves what is wrong with their columns.
  const check = options.showing === undefined ? checkColumns : () => undefined
  for (const [file, sourceFile] of options.files.entries()) {
    const digest: FileDigest = { bytes: 0, sha256: '' }
    const { name, format } = sourceFile
    if (format === 'csv' || format === 'tsv') {
      const { chunks } = await openContent(sourceFile, digest, options)
      const { header, rows } = await openCsv(sourceFile, chunks)
      for (const column of header.columns) found.header.add(column)
      check(name, header.columns, options)
      const rowOf = rowMaker(header.columns)
      for await (const some of rows) {
        yield some.map(({ number, cells, refusal }) => ({
          ...{ file, number, row: refusal ?? rowOf(cells) },
        }))
      }
    } else if (format === 'ndjson' || format === 'json') {
      yield* readJson(sourceFile, await openContent(sourceFile, digest, options), file)
    } else {
      const preparing = { folder: folderOf(), digest, reading: options }
      const prepared = await prepareParquet(sourceFile, preparing)
      const reader = await openReader()
      const { columns, batches } = await reader.readFile(prepared)
      check(name, columns, options)
      yield* placed(batches, (row, number) => ({ file, number, row }))
      for (const path of prepared.paths) rmSync(path, { force: true })
    }
    found.files.push({ name, ...digest })
  }
}

async function* readMapped(
  options: SourceOptions,
  found: Source,
  openReader: OpenReader,
  folderOf: () => string,
): AsyncGenerator<Rows> {
  const { files, mapping = '', texts, showing } = options
  const reader = await openReader()
  const select = await reader.parseMapping(mapping)
  const prepared: TableFile[] = []
  for (const [at, file] of files.entries()) {
    const digest: FileDigest = { bytes: 0, sha256: '' }
    const table = yield* prepareTable(file, { at, folder: folderOf(), digest, reading: options })
    prepared.push(table)
    if (table.kind === 'csv') for (const column of table.columns) found.header.add(column)
    found.files.push({ name: file.name, ...digest })
  }
  const { columns, fileRows, batches } = await reader.mapFiles(prepared, { select, texts, showing })
  found.rowsOfFiles = fileRows
  checkColumns('the mapping', columns, options)
  const indexOfName = new Map(files.map(({ name }, index) => [name, index]))
  yield* placed(batches, (row, count) => placeOf(row, count, indexOfName))
}

/** Parses rows, and places each, which is told how many they are. */
async function* placed(
  batches: AsyncIterable<readonly string[]>,
  place: (row: SourceRow | Refusal, count: number) => PlacedRow,
): AsyncGenerator<Rows> {
  let count = 0
  function* rowsOf(texts: readonly string[]): Generator<PlacedRow> {
    for (const row of parseTexts(texts)) yield place(row, (count += 1))
  }
  for await (const texts of batches) yield rowsOf(texts)
}

const [fileColumn, rowColumn] = placeColumns

/** The file and row number that a mapping passes on; without them, rows are counted. */
function placeOf(
  row: SourceRow | Refusal,
  count: number,
  indexOfName: ReadonlyMap<unknown, number>,
): PlacedRow {
  if (row instanceof Refusal) return { file: 0, number: count, row }
  const { [fileColumn]: file, [rowColumn]: place, ...rest } = row
  const number = place == null ? count : wholeNumber(place)
  if (number === undefined) {
    const refusal = new Refusal('must be a whole number', rowColumn, place)
    return { file: 0, number: count, row: refusal }
  }
  const index = file == null ? 0 : indexOfName.get(file)
  if (index !== undefined) return { file: index, number, row: rest }
  const refusal = new Refusal('is not a file of this import', fileColumn, file)
  return { file: 0, number, row: refusal }
}

function wholeNumber(value: unknown): number | undefined {
  const isDigits = typeof value === 'string' && /^\d{1,16}$/.test(value)
  const number = isDigits ? Number(value) : value
  return typeof number === 'number' && Number.isSafeInteger(number) && number > 0
    ? number
    : undefined
}

/** So many rows are parsed at once: most are gone before memory is next cleaned up. */
const rowsAtOnce = 32

function* parseTexts(texts: readonly string[]): Generator<SourceRow | Refusal> {
  for (let at = 0; at < texts.length; at += rowsAtOnce) {
    const some = texts.slice(at, at + rowsAtOnce)
    // Together takes less time than one by one.
    const isFlat = !some.some(({ length }) => mayNestTooDeep(length))
    const rows = (isFlat && tryParse(`[${some.join()}]`)) || some.map(parseJson)
    for (const row of rows as readonly (SourceRow | Refusal)[]) yield row
  }
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
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
