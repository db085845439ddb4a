// Reads a source as batches of rows, whatever its format: text files by our own code, Parquet and
// everything with a mapping by DuckDB.

import { isNestedTooDeep } from '../text/nested-json.ts'
import { placeColumns } from '../resources/resource.ts'
import { readMapping, readParquet, type Showing } from './duckdb/columns.ts'
import { type Database, openDatabase } from './duckdb/database.ts'
import { parseMapping } from './duckdb/mapping.ts'
import { prepareParquet, prepareTable, type TableFile } from './duckdb/table-file.ts'
import { checkColumns, type ColumnRules } from './check-columns.ts'
import type { Reading } from './file-content.ts'
import { withLongNumbers } from './json/exact-number.ts'
import { tooDeep } from './json/parse-row.ts'
import { readText } from './read-text.ts'
import { type PlacedRow, Refusal, type Rows, type SourceRow } from './refusal.ts'
import { type ImportedFile, refuseChanged, type SourceFile, type TextRules } from './source-file.ts'

export interface Source {
  readonly unit: 'line' | 'row'
  readonly batches: AsyncIterable<Rows>
  readonly found: Found
}

/** What reading has found out about the files so far. */
interface Found {
  /** The files that have been read. */
  readonly files: ImportedFile[]
  /** The columns of tables that are read without a mapping. */
  readonly columns: string[]
  /** The rows of the files that a mapping has read; undefined without one. */
  rows: number | undefined
}

interface SourceOptions extends Omit<Reading, 'onFile'> {
  readonly files: readonly SourceFile[]
  /** The text of a mapping; undefined if the columns already have the specification's names. */
  readonly mapping: string | undefined
  readonly target: ColumnRules
  /** How texts of the files are prepared for the mapping. */
  readonly texts: TextRules
  /** Folders whose files a mapping may read besides the source. */
  readonly mappingFolders: readonly string[]
  /** Limits a mapping to its first rows, and shows its view; undefined for all rows. */
  readonly showing?: Showing | undefined
}

/** Opens a source; reading its batches throws an OperatorError if the source is faulty. */
export function openSource(options: SourceOptions): Source {
  const { files, mapping, showing, onBytes, signal } = options
  const isByLine = mapping === undefined && files.every(({ format }) => format === 'ndjson')
  const found: Found = { files: [], columns: [], rows: undefined }
  const reading: Reading = { onBytes, onFile: (file) => found.files.push(file), signal }
  async function* read(): AsyncGenerator<Rows> {
    if (mapping === undefined) yield* readFiles(options, reading, found)
    else yield* readMapped(options, mapping, reading, found)
    if (showing === undefined) files.forEach(refuseChanged)
  }
  return { unit: isByLine ? 'line' : 'row', batches: read(), found }
}

async function* readFiles(
  { files, target, showing, signal }: SourceOptions,
  reading: Reading,
  found: Found,
): AsyncGenerator<Rows> {
  await using opened = new AsyncDisposableStack()
  let database: Database | undefined
  for (const [at, file] of files.entries()) {
    const onColumns = (columns: readonly string[]) => {
      // With --show, each row shows what is wrong with its columns.
      if (!showing) checkColumns(file.name, columns, target, false)
      found.columns.push(...columns)
    }
    if (file.format === 'parquet') {
      database ??= opened.use(await openDatabase(signal))
      const prepared = await prepareParquet(file, { folder: database.folder, reading })
      const batches = readParquet(database, prepared, onColumns)
      yield* placeRows(batches, (row, number) => ({ file: at, number, row }))
    } else yield* readText(file, at, reading, onColumns)
  }
}

async function* readMapped(
  { files, target, texts, showing, mappingFolders: folders, signal }: SourceOptions,
  mapping: string,
  reading: Reading,
  found: Found,
): AsyncGenerator<Rows> {
  await using database = await openDatabase(signal)
  const select = await parseMapping(database, mapping, folders.length > 0)
  const prepared: TableFile[] = []
  for (const [at, file] of files.entries()) {
    prepared.push(yield* prepareTable(file, { at, folder: database.folder, reading }))
  }
  // If no JSON row is valid, there are no columns that a mapping could name.
  const filled = prepared.filter(({ kind, bytes }) => kind !== 'json' || bytes > 0)
  if (filled.length === 0) return
  const batches = readMapping(database, filled, {
    ...{ select, texts, folders, showing },
    onColumns(columns, rows) {
      found.rows = rows
      checkColumns('the mapping', columns, target, true)
    },
  })
  const indexOfName = new Map(files.map(({ name }, index) => [name, index]))
  yield* placeRows(batches, (row, count) => placeMapped(row, count, indexOfName))
}

/** The rows of batches, each with its place, which depends on how many rows there were so far. */
async function* placeRows(
  batches: AsyncIterable<readonly string[]>,
  place: (row: SourceRow | Refusal, count: number) => PlacedRow,
): AsyncGenerator<Rows> {
  let count = 0
  function* placed(texts: readonly string[]): Generator<PlacedRow> {
    for (const text of texts) yield place(parseJson(text) as SourceRow | Refusal, (count += 1))
  }
  for await (const texts of batches) yield placed(texts)
}

const [fileColumn, rowColumn] = placeColumns

/** A row with the file and row number that a mapping passes on; without them, rows are counted. */
function placeMapped(
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

// A string of JSON, or a number that DuckDB's doubles have but JSON lacks. An unclosed string runs
// to the end of the text, so that the search does not start again at each quote in it.
const stringOrNoNumber = /"(?:[^"\\]|\\.)*(?:"|\\?$)|-?(?:NaN|Infinity)/gs

/** A value of DuckDB; a Refusal if it is nested too deep. */
export function parseJson(text: string): unknown {
  if (isNestedTooDeep(text)) return tooDeep()
  try {
    return withLongNumbers(text, JSON.parse(text))
  } catch {
    // It has a number that is none of JSON.
  }
  const quoted = text.replace(stringOrNoNumber, (part) => (part[0] === '"' ? part : `"${part}"`))
  return withLongNumbers(quoted, JSON.parse(quoted))
}
