// Reads columnar and mapped sources with DuckDB, in batches of rows: a table, or a SELECT over the
// view `source` of all files.
//
// Memory is bounded even with wide rows: if 2,048 rows are too much at once, the file is read in
// pieces.

import { rmSync } from 'node:fs'
import { OperatorError } from '../../config/operator-error.ts'
import { type Batch, bounded, readBatches } from './batches.ts'
import { type Database, literal, openDatabase, quoted } from './database.ts'
import { explain, isOutOfMemory } from './explain.ts'
import type { LineOf } from './faulty-row.ts'
import { parseMapping } from './mapping.ts'
import {
  type ColumnarFile,
  parquetExtent,
  parquetTable,
  type Piece,
  refuseColumns,
  textTable,
  vectorRows,
} from './tables.ts'
import { type Column, type FileTable, refusedSelect, viewSelect, type ViewTexts } from './view.ts'

/** A row that a file's `refusedColumn` refuses, before a mapping. */
interface RefusedCell {
  /** The index of its file. */
  readonly file: number
  /** The number of the row in its file. */
  readonly number: number
  readonly cell: string
  /** The number of columns of the file. */
  readonly columns: number
}

/** The rows of a columnar or mapped source. */
export interface ColumnarSource {
  /** Without `refusedColumn`. */
  readonly columns: readonly string[]
  /** A column that is null, except in rows that it refuses. */
  readonly refusedColumn?: string | undefined
  readonly batches: AsyncIterable<Batch>
}

/** The result of a mapping. */
interface MappedSource extends ColumnarSource {
  /** The rows of all files. */
  readonly fileRows: number
  /** The rows that are not in the view; to be read before the batches. */
  readonly refused: AsyncIterable<RefusedCell[]>
}

/** A mapping, and what its view has. */
interface MappingRequest {
  readonly sql: string
  readonly texts: ViewTexts
  /** Limits the rows to the first ones, and shows those of the view; undefined for all rows. */
  readonly showing: Showing | undefined
  /** In which line of its file a row begins, for messages. */
  readonly lineOf: LineOf
}

/** What to show of a mapping. */
export interface Showing {
  readonly rows: number
  /** Receives the columns of the view and its first rows, each as JSON, before the mapping runs. */
  readonly onView: (columns: readonly string[], rows: readonly string[]) => void
}

/** Reads files with one DuckDB instance. */
export interface ColumnarReader {
  /** The rows of a file, unmapped. */
  readonly readFile: (file: ColumnarFile) => Promise<ColumnarSource>
  /** Checks a mapping before anything is read. @throws OperatorError if it is not allowed. */
  readonly checkMapping: (mapping: string) => Promise<void>
  /** The rows that a mapping makes from the files. The reader can do nothing else afterwards. */
  readonly mapFiles: (
    files: readonly ColumnarFile[],
    mapping: MappingRequest,
  ) => Promise<MappedSource>
  readonly close: () => Promise<void>
}

/**
 * Opens a reader.
 *
 * @param folders folders whose files a mapping may read besides its source.
 * @param signal aborts all reading.
 */
export async function openColumnarReader(
  folders: readonly string[],
  signal: AbortSignal,
): Promise<ColumnarReader> {
  const database = await openDatabase(signal)
  const parse = (mapping: string) =>
    database.run(parseMapping(database.connection, mapping, folders.length > 0))
  return {
    readFile: (file) => explained([file], false, () => openFile(database, file)),
    checkMapping: async (mapping) => {
      await explained([], true, () => parse(mapping))
    },
    mapFiles: (files, mapping) =>
      explained(files, true, async () => {
        return openMapping(database, files, { ...mapping, sql: await parse(mapping.sql) }, folders)
      }),
    close: database.close,
  }
}

async function explained<T>(
  files: readonly ColumnarFile[],
  isMapped: boolean,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw explain(error, files, isMapped)
  }
}

async function openFile(database: Database, given: ColumnarFile): Promise<ColumnarSource> {
  const file = given.format === 'parquet' ? await cutParquet(database, given) : given
  await database.tune(file.isWide ? 'wide' : 'ordinary')
  const select = `select * from ${await tableOf(database, file)}`
  const columns = await describe(database, select)
  const names = columns.map(({ name }) => name).filter((name) => name !== file.refusedColumn)
  refuseColumns(file.name, names.length)
  const batches = readBatches(database, { select, columns, isWide: file.isWide }, [file], false)
  return { columns: names, refusedColumn: file.refusedColumn, batches }
}

async function tableOf({ connection, run }: Database, file: ColumnarFile): Promise<string> {
  return file.format === 'parquet' ? parquetTable(file) : run(textTable(connection, file))
}

/**
 * Splits a Parquet file with wide rows into files with fewer rows, because DuckDB reads 2,048 rows
 * of a file at once. If the estimate from its metadata was too high, fewer rows are tried.
 */
async function cutParquet(database: Database, file: ColumnarFile): Promise<ColumnarFile> {
  const { connection, run } = database
  const extent = await run(parquetExtent(connection, file))
  let atOnce = extent.rowsAtOnce
  if (atOnce >= vectorRows) return { ...file, rows: extent.rows }
  await database.tune('wide')
  const pieces: Piece[] = []
  for (let first = 0; first < extent.rows;) {
    const path = `${file.pieces[0]?.path ?? ''}-${pieces.length}.parquet`
    const from = parquetTable(file, first, atOnce)
    try {
      await run(connection.run(`copy (select * from ${from}) to ${literal(path)} (format parquet)`))
      pieces.push({ path, recordsBefore: first })
      first += atOnce
    } catch (error) {
      if (!isOutOfMemory(error) || atOnce === 1) throw explain(error, [file], false)
      atOnce = Math.ceil(atOnce / 4)
    }
  }
  for (const { path } of file.pieces) rmSync(path, { force: true })
  return { ...file, pieces, isWide: true }
}

async function openMapping(
  database: Database,
  files: readonly ColumnarFile[],
  { sql: select, texts, showing, lineOf }: MappingRequest,
  folders: readonly string[],
): Promise<MappedSource> {
  const { connection } = database
  const pieces: string[] = []
  let isWide = files.some((file) => file.isWide)
  let fileRows = 0
  const tables: FileTable[] = []
  for (const given of files) {
    const file = given.format === 'parquet' ? await cutParquet(database, given) : given
    pieces.push(...file.pieces.map(({ path }) => path))
    isWide ||= file.isWide
    fileRows += file.rows ?? 0
    const table = await tableOf(database, file)
    const columns = await describe(database, `select * from ${table}`)
    refuseColumns(file.name, columns.length - (file.refusedColumn === undefined ? 0 : 1))
    tables.push({ file, table, columns })
  }
  await database.tune(isWide ? 'wide' : 'ordinary')
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  const selects = tables.map((table) => viewSelect(table, texts))
  await connection.run(`create view source as ${selects.join(' union all by name ')}`)
  await database.lock({ paths: pieces, folders, tempBytes: 10 * bytes + (256 << 20) })
  if (showing !== undefined) await showView(database, showing)
  const columns = await describe(database, select)
  refuseDoubled(columns)
  const some = showing === undefined ? select : `select * from (${select}) limit ${showing.rows}`
  const batches = readBatches(database, { select: some, columns, isWide, lineOf }, files, true)
  return {
    columns: columns.map(({ name }) => name),
    fileRows,
    refused: readRefused(database, tables),
    batches: bounded(batches, 100 * bytes + (256 << 20)),
  }
}

/** DuckDB would call the second one `name_1`. */
function refuseDoubled(columns: readonly Column[]): void {
  const names = columns.map(({ name }) => name)
  const seen = new Set<string>()
  for (const name of names) {
    const word = name.toLowerCase()
    if (seen.has(word)) {
      throw new OperatorError(
        `the mapping returns the column ${name} twice; name one of them otherwise, or leave it ` +
          `out of a star: * exclude (${quoted(name)})`,
      )
    }
    seen.add(word)
  }
}

async function showView(database: Database, { rows, onView }: Showing): Promise<void> {
  const columns = await describe(database, 'select * from source')
  const json = `select to_json(t)::varchar from (select * from source limit ${rows}) t`
  const read = await database.run(database.connection.runAndReadAll(json))
  onView(
    columns.map(({ name }) => name),
    read.getRows().map(([text]) => String(text)),
  )
}

/** The rows of all files that are not in the view. */
async function* readRefused(
  { connection, run, begin }: Database,
  tables: readonly FileTable[],
): AsyncGenerator<RefusedCell[]> {
  for (const [file, table] of tables.entries()) {
    const select = refusedSelect(table)
    if (select === undefined) continue
    const result = await run(connection.stream(select))
    for (;;) {
      const chunk = await run(begin(result.fetchChunk()))
      if (chunk === null || chunk.rowCount === 0) break
      yield chunk.getRows().map(([number, cell]) => ({
        file,
        number: Number(number),
        cell: String(cell),
        columns: table.columns.length - 1,
      }))
    }
  }
}

async function describe({ connection, run }: Database, select: string): Promise<Column[]> {
  const described = await run(connection.runAndReadAll(`describe (${select})`))
  return described.getRows().map(([name, type]) => ({
    name: String(name),
    isText: type === 'VARCHAR',
  }))
}
