// Presents files in DuckDB's SQL: each as a table, and all as the view `source` of a mapping. Every
// column of a CSV, TSV or JSON file is text, exactly as in the file; types are not guessed (a
// nested JSON value is its JSON text). Parquet keeps its types.
//
// Names of files and folders have no meaning: no hive partitioning, no patterns.

import { OperatorError } from '../../config/operator-error.ts'
import { likeNames } from '../check-columns.ts'
import { placeColumns } from '../../resources/resource.ts'
import { type Column, columnsOf, type Database, literal, quoted, rowsOf } from './database.ts'
import { recordBytesMax } from '../read-csv.ts'
import type { TextRules } from '../source-file.ts'
import { vectorRows, wideBytes } from './pieces.ts'
import { numberColumn, type TableFile } from './table-file.ts'

/** A file, and how it is read in a FROM clause. */
export interface FileTable {
  readonly file: TableFile
  readonly table: string
  readonly columns: readonly Column[]
}

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
    .filter(({ type }) => type === 'VARCHAR')
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

// What String.prototype.trim removes.
const blanks =
  '\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a' +
  '\u2028\u2029\u202f\u205f\u3000\ufeff'

/** The SELECT of one file's part of the view. */
export function viewSelect({ file, table, columns }: FileTable, texts: TextRules): string {
  const own = columns.filter(({ name }) => name !== numberColumn)
  // Members of objects have no order.
  if (file.kind === 'json') own.sort((a, b) => (a.name < b.name ? -1 : 1))
  const names = freeNames(own.map(({ name }) => name))
  const cells = own.map((column, at) => `${cell(column, texts)} as ${quoted(names[at] ?? '')}`)
  const number = file.kind === 'parquet' ? 'row_number() over ()' : quoted(numberColumn)
  const [fileColumn, rowColumn] = placeColumns
  return `select ${cells.join(', ')}, ${literal(file.name)} as ${fileColumn},
    ${number} as ${rowColumn} from ${table}`
}

/** Columns named like the place columns, in any case, get other names: with `_1` etc. */
function freeNames(names: readonly string[]): string[] {
  const places: readonly string[] = placeColumns
  const used = new Set([...places, ...names.map((name) => name.toLowerCase())])
  return names.map((name) => {
    if (!places.includes(name.toLowerCase())) return name
    let n = 1
    while (used.has(`${name}_${n}`.toLowerCase())) n++
    return `${name}_${n}`
  })
}

function cell({ name, type }: Column, { isTrimmed, nulls }: TextRules): string {
  const column = quoted(name)
  if (type !== 'VARCHAR') return column
  const text = isTrimmed ? `trim(${column}, ${literal(blanks)})` : column
  if (nulls.length === 0) return text
  return `case when ${text} in (${nulls.map(literal).join(', ')}) then null else ${text} end`
}
