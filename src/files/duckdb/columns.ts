// Reads columnar and mapped sources with DuckDB, in batches of rows: a table, or a SELECT over the
// view `source` of all files.
//
// Memory is bounded even with wide rows: if 2,048 rows are too much at once, the file is read in
// pieces.

import { rmSync } from 'node:fs'
import { OperatorError } from '../../config/operator-error.ts'
import { likeNames, refuseColumns } from '../check-columns.ts'
import type { TextRules } from '../source-file.ts'
import { bounded, readBatches, rowsAsJson } from './batches.ts'
import { type Column, columnsOf, type Database, literal, quoted, rowsOf } from './database.ts'
import { explain, isOutOfMemory } from './explain.ts'
import { vectorRows } from './pieces.ts'
import type { TableFile } from './table-file.ts'
import { type FileTable, parquetExtent, parquetTable, tableOf, viewSelect } from './tables.ts'

/** A mapping, what its view has, and the folders whose files it may read besides its source. */
interface MappingRequest {
  readonly select: string
  readonly texts: TextRules
  readonly folders: readonly string[]
  /** Limits the rows to the first ones, and shows those of the view; undefined for all rows. */
  readonly showing: Showing | undefined
  /** Receives the columns that it returns, and the number of its files' rows. */
  readonly onColumns: (columns: readonly string[], rows: number) => void
}

/** What to show of a mapping. */
export interface Showing {
  readonly rows: number
  /** Receives the columns of the view and its first rows, each as JSON, before the mapping runs. */
  readonly onView: (columns: readonly string[], rows: readonly string[]) => void
}

/**
 * Reads the rows of a Parquet file, each as JSON, and removes it.
 *
 * @param onColumns receives the names of its columns; throws if they are wrong.
 */
export async function* readParquet(
  database: Database,
  given: TableFile,
  onColumns: (columns: readonly string[]) => void,
): AsyncGenerator<readonly string[]> {
  try {
    const file = await cutParquet(database, given)
    await database.tune(file.isWide ? 'wide' : 'ordinary')
    const { select, columns } = await asWritten(database, `select * from ${parquetTable(file)}`)
    refuseColumns(file.name, columns.length)
    onColumns(namesOf(columns))
    yield* readBatches(database, select, file.isWide)
    removeFiles(file)
  } catch (error) {
    throw explain(error, [given], false)
  }
}

/**
 * Reads the rows that a mapping makes from files, each as JSON. The database can do nothing else
 * afterwards.
 */
export async function* readMapping(
  database: Database,
  files: readonly TableFile[],
  { select, texts, folders, showing, onColumns }: MappingRequest,
): AsyncGenerator<readonly string[]> {
  try {
    const tables = await openTables(database, files)
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
    refuseDoubled(result.columns)
    onColumns(
      namesOf(result.columns),
      tables.reduce((sum, { file }) => sum + (file.rows ?? 0), 0),
    )
    const batches = readBatches(database, result.select, isWide)
    yield* bounded(batches, 100 * bytes + (256 << 20))
  } catch (error) {
    throw explain(error, files, true)
  }
}

/**
 * A SELECT with bytes as UTF-8 texts, since many programs write texts to Parquet in this way, and
 * with short floats by their digits: as a number of JSON, 0.1 would be 0.10000000149011612.
 */
async function asWritten(database: Database, select: string) {
  const columns = await columnsOf(database, select)
  const written = columns.flatMap(({ name, type }) => {
    const column = quoted(name)
    if (type === 'BLOB') return [`decode(${column}) as ${column}`]
    return type === 'FLOAT' ? [`${column}::varchar::double as ${column}`] : []
  })
  if (written.length === 0) return { select, columns }
  return { select: `select * replace (${written.join(', ')}) from (${select})`, columns }
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
  removeFiles(file)
  return { ...file, paths, rows: extent.rows, isWide: true }
}

const namesOf = (columns: readonly Column[]) => columns.map(({ name }) => name)

function removeFiles({ paths }: TableFile): void {
  for (const path of paths) rmSync(path, { force: true })
}

async function openTables(
  database: Database,
  files: readonly TableFile[],
): Promise<readonly FileTable[]> {
  const tables: FileTable[] = []
  for (const given of files) {
    const file = given.kind === 'parquet' ? await cutParquet(database, given) : given
    const table = tableOf(file)
    const columns = await columnsOf(database, `select * from ${table}`)
    if (file.kind === 'parquet') refuseColumns(file.name, columns.length)
    tables.push({ file, table, columns })
  }
  return tables
}

/** DuckDB would call the second one `name_1`. */
function refuseDoubled(columns: readonly Column[]): void {
  const like = likeNames(namesOf(columns))
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
  onView(namesOf(columns), texts)
}
