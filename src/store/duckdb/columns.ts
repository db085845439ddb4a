// Columnar and mapped sources, read by DuckDB: a view `source` over the files, a SELECT over it,
// and each row of the result as the text of a JSON object.
//
// In the view every column of a CSV, TSV or JSON file is text, as the file has it; nothing is
// guessed (a nested JSON value is its JSON text). Parquet keeps its types.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import { OperatorError } from '../../operator-error.ts'
import { placeColumns } from '../../resources/resource.ts'

/** A file for DuckDB: uncompressed and, where it is text, valid UTF-8. */
export interface ColumnarFile {
  /** What the operator calls it. */
  readonly name: string
  /** Where its unpacked bytes lie. */
  readonly path: string
  readonly format: 'ndjson' | 'json' | 'csv' | 'tsv' | 'parquet'
  /** The first record of a CSV or TSV file. */
  readonly header: CsvHeader | undefined
}

/** How a CSV file's columns are called and kept apart. */
export interface CsvHeader {
  readonly columns: readonly string[]
  readonly delimiter: string
}

/** The rows of a columnar or mapped source. */
interface ColumnarSource {
  readonly columns: readonly string[]
  /** The JSON texts of the rows, in batches. */
  readonly rows: AsyncIterable<string[]>
  close(): void
}

const rowBytesMax = 16 << 20

/**
 * Opens files as one source.
 *
 * @param mapping is a SELECT over the view `source`; undefined takes the view as it is.
 * @throws OperatorError with what DuckDB says of the mapping or of a file.
 */
export async function openColumnarSource(
  files: readonly ColumnarFile[],
  mapping: string | undefined,
): Promise<ColumnarSource> {
  const folder = mkdtempSync(join(tmpdir(), 'dossier-duckdb-'))
  // Loaded here, where it is needed: the server does not carry it.
  const { DuckDBInstance } = await import('@duckdb/node-api')
  const instance = await DuckDBInstance.create(':memory:', {
    threads: '2',
    memory_limit: '512MB',
    temp_directory: folder,
    // Nothing is ever fetched from the network.
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  })
  const connection = await instance.connect()
  const close = () => {
    connection.closeSync()
    instance.closeSync()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await createView(connection, files)
    const select = mapping === undefined ? 'select * from source' : withoutSemicolon(mapping)
    const columns = await readColumns(connection, select)
    return { columns, rows: readRows(connection, select), close }
  } catch (error) {
    close()
    throw explain(error)
  }
}

// A string, a quoted name, a comment or one character of an SQL text.
const sqlPart = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\w*)\$[^]*?\$\1\$|--[^\n]*|\/\*[^]*?\*\/|[^]/g

/**
 * A mapping may end as any statement does, but within another one it must not. The line's end
 * closes a comment that ends it.
 */
function withoutSemicolon(mapping: string): string {
  const parts = mapping.match(sqlPart) ?? []
  const end = parts.findLastIndex((part) => !/^(?:;|\s|--|\/\*)/.test(part))
  if (end < 0) throw new OperatorError('the mapping holds no SELECT')
  return `${parts.slice(0, end + 1).join('')}\n`
}

async function createView(
  connection: DuckDBConnection,
  files: readonly ColumnarFile[],
): Promise<void> {
  const selects: string[] = []
  for (const file of files) {
    const table = await tableOf(connection, file)
    const [fileColumn, rowColumn] = placeColumns
    selects.push(
      `select *, ${literal(file.name)} as ${fileColumn}, row_number() over () as ${rowColumn}
       from ${table}`,
    )
  }
  await connection.run(`create view source as ${selects.join(' union all by name ')}`)
}

async function tableOf(connection: DuckDBConnection, file: ColumnarFile): Promise<string> {
  const path = literal(file.path)
  if (file.format === 'parquet') return `read_parquet(${path})`
  if (file.header !== undefined) {
    const { columns, delimiter } = file.header
    return `read_csv(${path}, auto_detect=false, header=true, delim=${literal(delimiter)},
      quote='"', escape='"', comment='', max_line_size=${rowBytesMax},
      columns=${textColumns(columns)})`
  }
  const options = `format='auto', maximum_object_size=${rowBytesMax}`
  const keys = await connection.runAndReadAll(
    `select distinct unnest(json_keys(json)) from read_json_objects(${path}, ${options})`,
  )
  // A key without a name cannot be a column; nothing could ask for it.
  const names = keys
    .getRows()
    .map(([name]) => String(name))
    .filter((name) => name !== '')
  if (names.length === 0) throw new OperatorError(`${file.name} holds no JSON object`)
  return `read_json(${path}, ${options}, columns=${textColumns(names.sort())})`
}

function textColumns(names: readonly string[]): string {
  return `{${names.map((name) => `${literal(name)}: 'VARCHAR'`).join(', ')}}`
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

async function readColumns(connection: DuckDBConnection, select: string): Promise<string[]> {
  const described = await connection.runAndReadAll(`describe ${select}`)
  return described.getRows().map(([name]) => String(name))
}

/**
 * A stream that DuckDB breaks off, at a fault far inside a file, ends as one that is done does. So
 * one null is asked for behind all rows: without it, rows are missing.
 */
async function* readRows(connection: DuckDBConnection, select: string): AsyncGenerator<string[]> {
  try {
    const rows = `select to_json(t) as json from (${select}) t`
    const result = await connection.stream(`${rows} union all select null`)
    let isWhole = false
    for (;;) {
      const chunk = await result.fetchChunk()
      if (chunk === null || chunk.rowCount === 0) break
      const texts = chunk.getColumnValues(0) as (string | null)[]
      isWhole ||= texts.includes(null)
      yield texts.filter((text) => text !== null)
    }
    if (isWhole) return
    // To read it again without a stream tells why.
    await connection.run(`select sum(length(json::varchar)) from (${rows})`)
  } catch (error) {
    throw explain(error)
  }
  throw new OperatorError('the source could not be read to its end; try again')
}

/** DuckDB's first lines say what is wrong and where; the rest are its own settings. */
function explain(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof OperatorError) return error
  const lines = error.message.split('\n').map((line) => line.trim())
  const end = lines.findIndex((line) => /^(Possible fixes|LINE \d|file = )/.test(line))
  const told = lines.slice(0, end < 0 ? 3 : end).filter((line) => line !== '')
  const file = lines.find((line) => line.startsWith('file = '))?.slice('file = '.length)
  // Our own words around a mapping, and a view that is ours alone, tell an operator nothing.
  const near = lines
    .find((line) => /^LINE \d/.test(line) && !/\bread_\w+\(/.test(line))
    ?.replace(/^(LINE 1: )describe /, '$1')
  const message = [file, told.join('; ').slice(0, 400), file ? undefined : near]
  return new OperatorError(message.filter((part) => part).join(': '), { cause: error })
}
