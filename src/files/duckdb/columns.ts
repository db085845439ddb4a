// Reads columnar and mapped sources with DuckDB, in batches of rows: a table, or a SELECT over the
// view `source` of all files.
//
// Memory is bounded even with wide rows: if 2,048 rows are too much at once, the file is read in
// pieces.

import { rmSync } from 'node:fs'
import { OperatorError } from '../../config/operator-error.ts'
import { likeNames, refuseColumns } from '../check-columns.ts'
import type { TextRules } from '../source-file.ts'
import { makeTemporaryFolder, removeTemporaryFolder } from '../temporary-folder.ts'
import { bounded, readBatches, rowsAsJson } from './batches.ts'
import {
  type Column,
  columnsOf,
  type Database,
  literal,
  openDatabase,
  quoted,
  rowsOf,
} from './database.ts'
import { explain, isOutOfMemory } from './explain.ts'
import { parseMapping } from './mapping.ts'
import { vectorRows } from './pieces.ts'
import type { TableFile } from './table-file.ts'
import { parquetExtent, parquetTable, tableOf } from './tables.ts'
import { type FileTable, viewSelect } from './view.ts'

/** A mapping, and what its view has. */
interface MappingRequest {
  readonly select: string
  readonly texts: TextRules
  /** Limits the rows to the first ones, and shows those of the view; undefined for all rows. */
  readonly showing: Showing | undefined
}

/** What to show of a mapping. */
export interface Showing {
  readonly rows: number
  /** Receives the columns of the view and its first rows, each as JSON, before the mapping runs. */
  readonly onView: (columns: readonly string[], rows: readonly string[]) => void
}

/** Reads files with one DuckDB instance. */
export type ColumnarReader = Awaited<ReturnType<typeof openColumnarReader>>

/**
 * Opens a reader.
 *
 * @param folders folders whose files a mapping may read besides its source.
 * @param signal aborts all reading.
 */
export async function openColumnarReader(folders: readonly string[], signal: AbortSignal) {
  const folder = makeTemporaryFolder('import')
  const database = await openDatabase(signal)
  return {
    /** For the files that it reads; removed at the end. */
    folder,
    /** The rows of a Parquet file, unmapped. */
    readFile: (file: TableFile) => explained([file], false, () => openFile(database, file)),
    /** The SELECT of a mapping. @throws OperatorError if it is not one, or not allowed. */
    parseMapping: (mapping: string) =>
      explained([], true, () => parseMapping(database, mapping, folders.length > 0)),
    /** The rows that a mapping makes from the files. The reader can do nothing else afterwards. */
    mapFiles: (files: readonly TableFile[], mapping: MappingRequest) =>
      explained(files, true, () => openMapping(database, files, mapping, folders)),
    async [Symbol.asyncDispose]() {
      try {
        await database.close()
      } finally {
        removeTemporaryFolder(folder)
      }
    },
  }
}

async function explained<T>(
  files: readonly TableFile[],
  isMapped: boolean,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw explain(error, files, isMapped)
  }
}

/**
 * A SELECT with bytes as UTF-8 texts, since many programs write texts to Parquet in this way, and
 * with short floats by their digits: as a number of JSON, 0.1 would be 0.10000000149011612.
 */
async function asWritten(database: Database, select: string) {
  const columns = await columnsOf(database, select)
  const written = columns.flatMap(({ name, isBytes, isFloat }) => {
    const column = quoted(name)
    if (isBytes) return [`decode(${column}) as ${column}`]
    return isFloat ? [`${column}::varchar::double as ${column}`] : []
  })
  if (written.length === 0) return { select, columns }
  return { select: `select * replace (${written.join(', ')}) from (${select})`, columns }
}

async function openFile(database: Database, given: TableFile) {
  const file = await cutParquet(database, given)
  await database.tune(file.isWide ? 'wide' : 'ordinary')
  const { isWide } = file
  const { select, columns } = await asWritten(database, `select * from ${parquetTable(file)}`)
  refuseColumns(file.name, columns.length)
  const batches = readBatches(database, { select, isWide, isMapped: false }, [file])
  return { columns: columns.map(({ name }) => name), batches }
}

/**
 * Splits a Parquet file with wide rows into files with fewer rows, because DuckDB reads 2,048 rows
 * of a file at once. If the estimate from its metadata was too high, fewer rows are tried.
 */
async function cutParquet(database: Database, file: TableFile): Promise<TableFile> {
  const { connection, run } = database
  const extent = await parquetExtent(database, file)
  let atOnce = extent.rowsAtOnce
  if (atOnce >= vectorRows) return { ...file, rows: extent.rows }
  await database.tune('wide')
  // As an option, DuckDB refuses a file that has such a column.
  const numbered = parquetTable(file, ', file_row_number=true')
  const paths: string[] = []
  for (let first = 0; first < extent.rows;) {
    const path = `${file.paths[0] ?? ''}-${paths.length}.parquet`
    // Rows are counted from 0.
    const some = `file_row_number >= ${first} and file_row_number < ${first + atOnce}`
    const select = `select * exclude (file_row_number) from ${numbered} where ${some}`
    try {
      await run(connection.run(`copy (${select}) to ${literal(path)} (format parquet)`))
      paths.push(path)
      first += atOnce
    } catch (error) {
      if (!isOutOfMemory(error) || atOnce === 1) throw explain(error, [file], false)
      atOnce = Math.ceil(atOnce / 4)
    }
  }
  for (const path of file.paths) rmSync(path, { force: true })
  return { ...file, paths, rows: extent.rows, isWide: true }
}

async function openMapping(
  database: Database,
  files: readonly TableFile[],
  { select, texts, showing }: MappingRequest,
  folders: readonly string[],
) {
  const tables: FileTable[] = []
  for (const given of files) {
    const file = given.kind === 'parquet' ? await cutParquet(database, given) : given
    const table = tableOf(file)
    const columns = await columnsOf(database, `select * from ${table}`)
    if (file.kind === 'parquet') refuseColumns(file.name, columns.length)
    tables.push({ file, table, columns })
  }
  const isWide = tables.some(({ file }) => file.isWide)
  await database.tune(isWide ? 'wide' : 'ordinary')
  const selects = tables.map((table) => viewSelect(table, texts))
  await database.connection.run(`create view source as ${selects.join(' union all by name ')}`)
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  const paths = tables.flatMap(({ file }) => file.paths)
  await database.lock({ paths, folders, tempBytes: 10 * bytes + (256 << 20) })
  if (showing !== undefined) await showView(database, showing)
  const some = showing === undefined ? select : `select * from (${select}) limit ${showing.rows}`
  const result = await asWritten(database, some)
  const { columns } = result
  refuseDoubled(columns)
  const batches = readBatches(database, { ...result, isWide, isMapped: true }, files)
  return {
    columns: columns.map(({ name }) => name),
    fileRows: tables.reduce((sum, { file }) => sum + (file.rows ?? 0), 0),
    batches: bounded(batches, 100 * bytes + (256 << 20)),
  }
}

/** DuckDB would call the second one `name_1`. */
function refuseDoubled(columns: readonly Column[]): void {
  const like = likeNames(columns.map(({ name }) => name))
  if (like === undefined) return
  const [, name] = like
  throw new OperatorError(
    `the mapping returns the column ${name} twice; rename one of them, or leave it ` +
      `out of a star: * exclude (${quoted(name)})`,
  )
}

async function showView(database: Database, { rows, onView }: Showing): Promise<void> {
  const columns = await columnsOf(database, 'select * from source')
  const json = rowsAsJson(`select * from source limit ${rows}`)
  const texts = (await rowsOf(database, json)).map(([text]) => String(text))
  onView(
    columns.map(({ name }) => name),
    texts,
  )
}
