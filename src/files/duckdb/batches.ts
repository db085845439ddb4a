// The rows of a SELECT in batches, as JSON texts.

import type { DuckDBDataChunk } from '@duckdb/node-api'
import { OperatorError } from '../../config/operator-error.ts'
import { collectGarbage } from './collect-garbage.ts'
import type { Database } from './database.ts'
import { explain } from './explain.ts'
import { findFaultyRow } from './faulty-row.ts'
import type { TableFile } from './table-file.ts'

interface Query {
  readonly select: string
  /** Whether a few rows may take much memory. */
  readonly isWide: boolean
  /** The column with the lines of rows; undefined without a mapping. */
  readonly lineColumn?: string
}

/**
 * Reads all rows. When DuckDB fails far inside a file, its stream ends as if it were complete, so a
 * marker row is requested after all others: without it, rows are missing.
 */
export async function* readBatches(
  database: Database,
  query: Query,
  files: readonly TableFile[],
): AsyncGenerator<readonly string[]> {
  const { connection, run } = database
  const rows = `select to_json(t) as json from (${query.select}) t`
  try {
    const result = await run(connection.stream(`${rows} union all select null`))
    const fetch = () => database.begin(result.fetchChunk())
    let isWhole = false
    let next = fetch()
    for (;;) {
      let texts = textsIn(await run(next))
      if (texts.length === 0) break
      isWhole ||= texts.includes(null)
      // DuckDB reads ahead while rows are checked, unless a few of them would fill its memory.
      if (!query.isWide) next = fetch()
      const isLarge = query.isWide && lengthOf(texts) > 1 << 20
      if (isLarge) await collectGarbage()
      yield texts.filter((text) => text !== null)
      if (!query.isWide) continue
      texts = []
      if (isLarge) await collectGarbage()
      next = fetch()
    }
    if (isWhole) return
    // Reading again without a stream throws the error.
    await run(connection.run(`select count(*) from (${rows}) t where hash(t) = 0`))
  } catch (error) {
    const { lineColumn } = query
    const isMapped = lineColumn !== undefined
    throw explain(
      error,
      files,
      isMapped,
      isMapped ? await findFaultyRow(database, error, lineColumn) : '',
    )
  }
  throw new OperatorError('the source could not be read completely; try again')
}

/** The texts of a chunk, which is then free; the marker row is null. */
function textsIn(chunk: DuckDBDataChunk | null): (string | null)[] {
  if (chunk === null || chunk.rowCount === 0) return []
  const texts = chunk.getColumnValues(0) as (string | null)[]
  chunk.reset()
  return texts
}

const lengthOf = (texts: readonly (string | null)[]) =>
  texts.reduce((length, text) => length + (text?.length ?? 0), 0)

/** Stops a mapping that returns far too many rows. */
export async function* bounded(
  batches: AsyncIterable<readonly string[]>,
  lengthMax: number,
): AsyncGenerator<readonly string[]> {
  let length = 0
  for await (const texts of batches) {
    length += lengthOf(texts)
    if (length > lengthMax) {
      throw new OperatorError(
        `the mapping returns more than ${lengthMax >> 20} MiB of rows, the limit for its files ` +
          '(256 MiB plus a hundred times their size); does it join without a condition?',
      )
    }
    yield texts
  }
}
