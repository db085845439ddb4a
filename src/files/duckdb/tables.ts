// Presents a file as a table in DuckDB's SQL. Every column of a CSV, TSV or JSON file is text,
// exactly as in the file; types are not guessed (a nested JSON value is its JSON text). Parquet
// keeps its types.
//
// Names of files and folders have no meaning: no hive partitioning, no patterns.

import { OperatorError } from '../../config/operator-error.ts'
import { likeNames } from '../check-columns.ts'
import { columnsOf, type Database, literal, quoted, rowsOf } from './database.ts'
import { recordBytesMax } from '../read-csv.ts'
import { vectorRows, wideBytes } from './pieces.ts'
import { numberColumn, type TableFile } from './table-file.ts'

/** A file as a table, for a FROM clause. */
export function tableOf(file: TableFile): string {
  if (file.kind === 'parquet') return parquetTable(file)
  if (file.kind === 'json') refuseNames(file)
  // A copied line may have each of its quotes twice, and begins with its number.
  const lineBytes = (file.isWide ? 2 * recordBytesMax : wideBytes) + (64 << 10)
  // A row ends with its last cell that is no null. Empty texts are no nulls.
  return `read_csv(${listOf(file.paths)}, auto_detect=false, header=false, new_line='\\n',
    delim=',', quote='"', escape='"', comment='', hive_partitioning=false, parallel=false,
    null_padding=true, allow_quoted_nulls=false,
    max_line_size=${lineBytes}, buffer_size=${lineBytes},
    columns=${columnsAsText(file)})`
}

/** Refuses a file of JSON whose members cannot be columns. */
function refuseNames({ name, columns }: TableFile): void {
  if (columns.length === 0) throw new OperatorError(`${name} has only empty JSON objects`)
  refuseLikeNames(name, columns)
  const withNul = columns.find((column) => column.includes('\0'))
  if (withNul === undefined) return
  throw new OperatorError(
    `${name} has a member whose name contains a NUL character: ${JSON.stringify(withNul)}; ` +
      'rename it in the file',
  )
}

function listOf(paths: readonly string[]): string {
  return `[${paths.map(literal).join(', ')}]`
}

function columnsAsText({ columns }: TableFile): string {
  const texts = columns.map((name) => `${literal(name)}: 'VARCHAR'`)
  return `{${[`${literal(numberColumn)}: 'BIGINT'`, ...texts].join(', ')}}`
}

/** The maximum number of digits of a decimal. */
const digitsMax = 38

/** The maximum size of 2,048 rows of Parquet, in bytes. */
const vectorBytesMax = 16 << 20

/**
 * The number of rows in a Parquet file, and how many of them may be held at once: an estimate from
 * its metadata and its first rows, since the metadata alone is not enough, because a repeated text
 * may be stored only once.
 */
export async function parquetExtent(database: Database, file: TableFile) {
  await refuseSchema(database, file)
  const [rows = 0, storedBytes = 0] = await numbersOf(
    database,
    `select sum(rows)::double, max(bytes / greatest(rows, 1))::double from (
      select any_value(row_group_num_rows) as rows, sum(total_uncompressed_size) as bytes
      from parquet_metadata(${literal(file.paths[0] ?? '')}) group by row_group_id)`,
  )
  const isKnown = storedBytes * vectorRows > vectorBytesMax
  const rowBytes = isKnown ? storedBytes : await firstRowsBytes(database, file)
  return { rows, rowsAtOnce: Math.max(1, Math.floor(vectorBytesMax / Math.max(rowBytes, 1))) }
}

/**
 * DuckDB reads decimals that are too long for it as different numbers, and would rename the second
 * of two columns whose names differ only in case.
 */
async function refuseSchema(database: Database, { name, paths }: TableFile): Promise<void> {
  const nodes = await rowsOf(
    database,
    `select name, coalesce(num_children, 0)::double, coalesce(precision > ${digitsMax}, false)
     from parquet_schema(${literal(paths[0] ?? '')})`,
  )
  const long = nodes.find(([, , isLong]) => isLong === true)
  if (long !== undefined) {
    throw new OperatorError(
      `${name}: the column ${String(long[0])} has decimals of more than ${digitsMax} digits, ` +
        'which cannot be read; write them as texts',
    )
  }
  const columns: string[] = []
  // A column's own parts follow it.
  let within = 0
  for (const [node, children] of nodes.slice(1)) {
    if (within === 0) columns.push(String(node))
    else within -= 1
    within += Number(children)
  }
  refuseLikeNames(name, columns)
}

function refuseLikeNames(name: string, columns: readonly string[]): void {
  const like = likeNames(columns)
  if (like === undefined) return
  throw new OperatorError(
    `${name}: the columns ${like.join(' and ')} differ only in case; ` +
      'rename one of the two in the file',
  )
}

/** The length of the texts in a row, in bytes, averaged over the first rows. */
async function firstRowsBytes(database: Database, file: TableFile): Promise<number> {
  const table = parquetTable(file)
  const lengths = (await columnsOf(database, `select * from ${table}`))
    .filter(({ isText }) => isText)
    .map(({ name }) => `coalesce(strlen(${quoted(name)}), 0)`)
  if (lengths.length === 0) return 0
  const sample = `select * from ${table} limit ${vectorRows / 16}`
  const average = `select avg(${lengths.join(' + ')})::double from (${sample})`
  const [bytes = 0] = await numbersOf(database, average)
  return bytes
}

async function numbersOf(database: Database, select: string): Promise<number[]> {
  const [row = []] = await rowsOf(database, select)
  return row.map((value) => Number(value ?? 0))
}

export function parquetTable({ paths }: TableFile, options = ''): string {
  return `read_parquet(${listOf(paths)}, hive_partitioning=false${options})`
}
