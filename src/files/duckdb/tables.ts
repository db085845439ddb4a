// Presents a file as a table in DuckDB's SQL. Every column of a CSV, TSV or JSON file is text,
// exactly as in the file; types are not guessed (a nested JSON value is its JSON text). Parquet
// keeps its types.
//
// Names of files and folders have no meaning: no hive partitioning, no patterns.

import type { DuckDBConnection } from '@duckdb/node-api'
import { formatCount } from '../../text/format-count.ts'
import { OperatorError } from '../../config/operator-error.ts'
import { literal, quoted } from './database.ts'

/** A file for DuckDB: uncompressed and, if it is text, valid UTF-8. */
export interface ColumnarFile {
  /** Its name, as the operator gave it. */
  readonly name: string
  readonly format: 'ndjson' | 'json' | 'csv' | 'tsv' | 'parquet'
  /** Its uncompressed bytes: one piece, or several if its rows are wide. */
  readonly pieces: readonly Piece[]
  /** Whether 2,048 rows, which DuckDB reads at once, may take too much memory. */
  readonly isWide: boolean
  /** The longest row of a text file, in bytes; 0 for Parquet. */
  readonly longestRow: number
  /** Its rows, without the header and blank lines; of Parquet known later. */
  readonly rows: number | undefined
  /** Uncompressed size. */
  readonly bytes: number
  /** The first record of a CSV or TSV file. */
  readonly header: CsvHeader | undefined
  /** A column that is null, except in rows that it refuses; undefined if all rows are sound. */
  readonly refusedColumn?: string | undefined
}

/** A part of a file, in a file of its own. */
export interface Piece {
  readonly path: string
  /** Records of the whole file that precede it, including the header and blank lines. */
  readonly recordsBefore: number
}

/** Names and delimiter of a CSV file's columns. */
export interface CsvHeader {
  readonly columns: readonly string[]
  readonly delimiter: string
}

/** Whether the name of a column is a number or a date, as in a file without a header. */
export function looksLikeData(column: string): boolean {
  return /^\d+([.,]\d+)?$|^\d{4}-\d\d-\d\d/.test(column)
}

/** The maximum number of columns of a file. */
const columnsMax = 1_000

/** The maximum size of 2,048 rows, in bytes; rows are wide if any 2,048 of them take more. */
export const windowBytesMax = 16 << 20

/** A text file as a table, for a FROM clause. */
export async function textTable(connection: DuckDBConnection, file: ColumnarFile): Promise<string> {
  const paths = `[${file.pieces.map(({ path }) => literal(path)).join(', ')}]`
  if (file.header !== undefined) {
    const { columns, delimiter } = file.header
    const lineBytes = Math.max(file.longestRow + 16, 1 << 16)
    // Wide files are cut into pieces without a header.
    return `read_csv(${paths}, auto_detect=false, header=${String(!file.isWide)},
      delim=${literal(delimiter)}, quote='"', escape='"', comment='', hive_partitioning=false,
      max_line_size=${lineBytes}, buffer_size=${Math.max(lineBytes, 8 << 20)},
      columns=${textColumns(columns)})`
  }
  const options = `format='auto', hive_partitioning=false,
    maximum_object_size=${Math.max(file.longestRow + 1_024, 1 << 20)}`
  const objects = `read_json_objects(${paths}, ${options})`
  const keys = await keysOf(connection, file, objects)
  const columns = new Set(keys.map((key) => key.toLowerCase()))
  if (columns.size === keys.length) {
    return `read_json(${paths}, ${options}, columns=${textColumns(keys)})`
  }
  return `(${distinctColumns(keys, objects)})`
}

async function keysOf(
  connection: DuckDBConnection,
  { name }: ColumnarFile,
  objects: string,
): Promise<string[]> {
  const rows = await connection.runAndReadAll(
    `select distinct unnest(json_keys(json)) from ${objects} limit ${columnsMax + 2}`,
  )
  // An empty key cannot be the name of a column.
  const keys = rows
    .getRows()
    .map(([key]) => String(key))
    .filter((key) => key !== '')
  if (keys.length === 0) throw new OperatorError(`${name} contains no JSON object`)
  refuseColumns(name, keys.length)
  const withNul = keys.find((key) => key.includes('\0'))
  if (withNul !== undefined) {
    throw new OperatorError(
      `${name} has a member whose name contains a NUL character: ${JSON.stringify(withNul)}; ` +
        'rename it in the file',
    )
  }
  return keys.sort()
}

/** @throws OperatorError if a file has too many columns. */
export function refuseColumns(name: string, columns: number): void {
  if (columns <= columnsMax) return
  throw new OperatorError(`${name} has more than the maximum of ${formatCount(columnsMax)} columns`)
}

/** Column names ignore case: of keys that differ only in case, later ones get a number. */
function distinctColumns(keys: readonly string[], objects: string): string {
  const names = freeNames(keys)
  const pointers = keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`)
  const columns = names.map((name, index) => `texts[${index + 1}] as ${quoted(name)}`)
  const texts = `json_extract_string(json, [${pointers.map(literal).join(', ')}]) as texts`
  return `select ${columns.join(', ')} from (select ${texts} from ${objects})`
}

/** Makes names distinct, ignoring case, from each other and from reserved ones, with `_1` etc. */
export function freeNames(names: readonly string[], reserved: readonly string[] = []): string[] {
  const used = new Set([...reserved, ...names].map((name) => name.toLowerCase()))
  const assigned = new Set(reserved.map((name) => name.toLowerCase()))
  return names.map((name) => {
    let free = name
    for (let n = 1; assigned.has(free.toLowerCase()); n++) {
      const next = `${name}_${n}`
      if (!used.has(next.toLowerCase())) free = next
    }
    assigned.add(free.toLowerCase())
    used.add(free.toLowerCase())
    return free
  })
}

function textColumns(names: readonly string[]): string {
  return `{${names.map((name) => `${literal(name)}: 'VARCHAR'`).join(', ')}}`
}

/** The number of rows in a Parquet file, and how many of them may be held at once. */
interface ParquetExtent {
  readonly rows: number
  readonly rowsAtOnce: number
}

/**
 * Estimates the extent from the file's metadata and its first rows: the metadata alone is not
 * enough, because a repeated text may be stored only once.
 */
export async function parquetExtent(
  connection: DuckDBConnection,
  file: ColumnarFile,
): Promise<ParquetExtent> {
  const [rows = 0, storedBytes = 0] = await numbersOf(
    connection,
    `select sum(rows)::double, max(bytes / greatest(rows, 1))::double from (
      select any_value(row_group_num_rows) as rows, sum(total_uncompressed_size) as bytes
      from parquet_metadata(${literal(file.pieces[0]?.path ?? '')}) group by row_group_id)`,
  )
  const isKnown = storedBytes * vectorRows > windowBytesMax
  const rowBytes = isKnown ? storedBytes : await firstRowsBytes(connection, file)
  return { rows, rowsAtOnce: Math.max(1, Math.floor(windowBytesMax / Math.max(rowBytes, 1))) }
}

/** The length of the texts in a row, in bytes, averaged over the first rows. */
async function firstRowsBytes(connection: DuckDBConnection, file: ColumnarFile): Promise<number> {
  const table = parquetTable(file)
  const described = await connection.runAndReadAll(`describe select * from ${table}`)
  const lengths = described
    .getRows()
    .filter(([, type]) => type === 'VARCHAR')
    .map(([name]) => `coalesce(strlen(${quoted(String(name))}), 0)`)
  if (lengths.length === 0) return 0
  const sample = `select * from ${table} limit ${vectorRows / 16}`
  const [bytes = 0] = await numbersOf(
    connection,
    `select avg(${lengths.join(' + ')})::double from (${sample})`,
  )
  return bytes
}

async function numbersOf(connection: DuckDBConnection, select: string): Promise<number[]> {
  const result = await connection.runAndReadAll(select)
  return (result.getRows()[0] ?? []).map((value) => Number(value ?? 0))
}

/** The number of rows that DuckDB reads at once. */
export const vectorRows = 2_048

/** A Parquet file as a table: all of it, or `rows` rows from `first` (counted from 0). */
export function parquetTable({ pieces }: ColumnarFile, first?: number, rows?: number): string {
  const paths = `[${pieces.map(({ path }) => literal(path)).join(', ')}]`
  const file = `read_parquet(${paths}, hive_partitioning=false)`
  if (first === undefined) return file
  const end = rows === undefined ? '' : ` and file_row_number < ${first + rows}`
  return `(select * from ${file} where file_row_number >= ${first}${end})`
}
