// The rows of a SELECT in batches. Rows of files with wide rows are read by column, since a JSON
// object would hold each text a second time.

import type { DuckDBDataChunk } from '@duckdb/node-api'
import { OperatorError } from '../../config/operator-error.ts'
import { collectGarbage } from './collect-garbage.ts'
import { type Column, type Database, quoted } from './database.ts'
import { explain } from './explain.ts'
import { type TableFile, unknowable } from './table-file.ts'

/** Rows as JSON texts, or as columns of cells: JSON text in columns with `isJson`, else text. */
export type Batch =
  | { readonly texts: readonly string[] }
  | { readonly columns: readonly Cells[]; readonly rows: number }

export interface Cells {
  readonly name: string
  readonly isJson: boolean
  readonly cells: readonly (string | null)[]
}

/** A SELECT and its columns. */
interface Query {
  readonly select: string
  readonly columns: readonly Column[]
  readonly isWide: boolean
  readonly isMapped: boolean
}

/**
 * Reads all rows. When DuckDB fails far inside a file, its stream ends as if it were complete, so a
 * marker row is requested after all others: without it, rows are missing.
 */
export async function* readBatches(
  database: Database,
  query: Query,
  files: readonly TableFile[],
): AsyncGenerator<Batch> {
  const { connection, run } = database
  const rows = query.isWide ? cellsOf(query) : rowsAsJson(query.select)
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
    await run(connection.run(`select count(*) from (${rows}) ${row} where hash(${row}) = 0`))
  } catch (error) {
    throw explain(error, files, query.isMapped)
  }
  throw new OperatorError('the source could not be read completely; try again')
}

/** No column has this name; one that had it would be taken for the row. */
const row = quoted(unknowable('row'))

export function rowsAsJson(select: string): string {
  return `select to_json(${row}) as json from (${select}) ${row}`
}

/** Every column as text or JSON, after a column that is true in the marker row. */
function cellsOf({ select, columns }: Query): string {
  const cells = columns.map(({ name, isText }) =>
    isText ? markedTwice(`${row}.${quoted(name)}`) : `to_json(${row}.${quoted(name)})::varchar`,
  )
  return `select ${['false', ...cells].join(', ')} from (${select}) ${row}`
}

/** The driver removes one byte order mark at the start of a text, so such a text gets another. */
function markedTwice(text: string): string {
  return `case when starts_with(${text}, '\uFEFF') then '\uFEFF' || ${text} else ${text} end`
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

/** Stops a mapping that returns far too many rows. */
export async function* bounded(
  batches: AsyncIterable<Batch>,
  lengthMax: number,
): AsyncGenerator<Batch> {
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
