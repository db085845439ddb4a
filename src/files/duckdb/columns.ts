// Reads columnar and mapped sources with DuckDB, in batches of rows: a table, or a SELECT over the
// view `source` of all files.
//
// Memory is bounded even with wide rows: if 2,048 rows are too much at once, the file is read in
// pieces, and texts as they are, since a JSON object would hold each a second time.

import { rmSync } from 'node:fs'
import type { DuckDBDataChunk } from '@duckdb/node-api'
import { OperatorError } from '../../config/operator-error.ts'
import { collectGarbage } from './collect-garbage.ts'
import { type Database, literal, openDatabase, quoted } from './database.ts'
import { explain, isOutOfMemory } from './explain.ts'
import { findFaultyRow, type LineOf } from './faulty-row.ts'
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

/** Rows as JSON texts, or as columns of cells: JSON text in columns with `isJson`, else text. */
export type Batch =
  | { readonly texts: readonly string[] }
  | { readonly columns: readonly Cells[]; readonly rows: number }

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

/** The cells of a column. */
interface Cells {
  readonly name: string
  readonly isJson: boolean
  readonly cells: readonly (string | null)[]
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
  const batches = read(database, { select, columns, isWide: file.isWide }, [file], false)
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
  const batches = read(database, { select: some, columns, isWide, lineOf }, files, true)
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

/** Stops a mapping that returns far too many rows. */
async function* bounded(batches: AsyncIterable<Batch>, lengthMax: number): AsyncGenerator<Batch> {
  let length = 0
  for await (const batch of batches) {
    const columns = 'texts' in batch ? [batch.texts] : batch.columns.map(({ cells }) => cells)
    for (const cells of columns) for (const cell of cells) length += cell?.length ?? 0
    if (length > lengthMax) {
      throw new OperatorError(
        `the mapping returns more than ${lengthMax >> 20} MiB of rows, the limit for its files ` +
          '(256 MiB plus a hundred times their size); does it join without a condition?',
      )
    }
    yield batch
  }
}

async function describe({ connection, run }: Database, select: string): Promise<Column[]> {
  const described = await run(connection.runAndReadAll(`describe (${select})`))
  return described.getRows().map(([name, type]) => ({
    name: String(name),
    isText: type === 'VARCHAR',
  }))
}

/** A SELECT and its columns. */
interface Query {
  readonly select: string
  readonly columns: readonly Column[]
  readonly isWide: boolean
  /** Undefined without a mapping. */
  readonly lineOf?: LineOf
}

/**
 * Reads all rows. When DuckDB fails far inside a file, its stream ends as if it were complete, so a
 * marker row is requested after all others: without it, rows are missing.
 */
async function* read(
  database: Database,
  query: Query,
  files: readonly ColumnarFile[],
  isMapped: boolean,
): AsyncGenerator<Batch> {
  const { connection, run } = database
  const rows = query.isWide ? cellsOf(query) : `select to_json(t) as json from (${query.select}) t`
  const nulls = query.isWide ? query.columns.map(() => ', null').join('') : ''
  const end = query.isWide ? `select true${nulls}` : 'select null'
  try {
    const result = await run(connection.stream(`${rows} union all ${end}`))
    const fetch = () => database.begin(result.fetchChunk())
    let isWhole = false
    let next = fetch()
    for (;;) {
      const fetched: Fetched = query.isWide
        ? fetchedCells(await run(next), query.columns)
        : fetchedTexts(await run(next))
      if (fetched.batch === undefined) break
      isWhole ||= fetched.isLast
      // DuckDB reads ahead while rows are checked, unless a few of them would fill its memory.
      if (!query.isWide) next = fetch()
      if (fetched.length > 1 << 20) await collectGarbage()
      yield fetched.batch
      if (!query.isWide) continue
      fetched.batch = undefined
      if (fetched.length > 1 << 20) await collectGarbage()
      next = fetch()
    }
    if (isWhole) return
    // Reading again without a stream throws the error.
    await run(connection.run(`select count(*) from (${rows}) t where hash(t) = 0`))
  } catch (error) {
    const row = query.lineOf && (await findFaultyRow(database, error, query.lineOf))
    throw explain(error, files, isMapped, row)
  }
  throw new OperatorError('the source could not be read completely; try again')
}

/** Every column as text or JSON, after one that is true in the marker row. */
function cellsOf({ select, columns }: Query): string {
  const cells = columns.map(({ name, isText }) =>
    isText ? `t.${quoted(name)}` : `to_json(t.${quoted(name)})::varchar`,
  )
  return `select ${['false', ...cells].join(', ')} from (${select}) t`
}

interface Fetched {
  /** Undefined at the end. */
  batch: Batch | undefined
  readonly isLast: boolean
  /** The length of all texts together; 0 for ordinary rows. */
  readonly length: number
}

const nothing: Fetched = { batch: undefined, isLast: false, length: 0 }

function fetchedTexts(chunk: DuckDBDataChunk | null): Fetched {
  if (chunk === null || chunk.rowCount === 0) return nothing
  const texts = chunk.getColumnValues(0) as (string | null)[]
  const isLast = texts.includes(null)
  return { batch: { texts: texts.filter((text) => text !== null) }, isLast, length: 0 }
}

function fetchedCells(chunk: DuckDBDataChunk | null, columns: readonly Column[]): Fetched {
  if (chunk === null || chunk.rowCount === 0) return nothing
  const isLast = (chunk.getColumnValues(0) as boolean[]).includes(true)
  const rows = chunk.rowCount - (isLast ? 1 : 0)
  let length = 0
  const cellColumns = columns.map(({ name, isText }, index) => {
    const cells = (chunk.getColumnValues(index + 1) as (string | null)[]).slice(0, rows)
    for (const cell of cells) length += cell?.length ?? 0
    return { name, isJson: !isText, cells }
  })
  chunk.reset()
  return { batch: { columns: cellColumns, rows }, isLast, length }
}
