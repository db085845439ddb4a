// The rows of a SELECT in batches, as JSON texts.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { DuckDBDataChunk } from '@duckdb/node-api'
import { OperatorError } from '../../config/operator-error.ts'
import { type Database, quoted } from './database.ts'
import { unknowable } from './table-file.ts'

/** How much text is worth a garbage collection of its own. */
const longLength = 1 << 20

/**
 * Reads all rows. When DuckDB fails far inside a file, its stream ends as if it were complete, so a
 * null is requested after all rows: without it, rows are missing.
 */
export async function* readBatches(
  { connection, run, begin }: Database,
  select: string,
  isWide: boolean,
): AsyncGenerator<readonly string[]> {
  const rows = rowsAsJson(select)
  const result = await run(connection.stream(`${rows} union all select null`))
  const fetch = () => begin(result.fetchChunk())
  let isWhole = false
  let next = fetch()
  for (;;) {
    const fetched = textsOf(await run(next))
    if (fetched.length === 0) break
    isWhole ||= fetched.includes(null)
    // DuckDB reads ahead while rows are checked, unless a few of them would fill its memory.
    if (!isWide) next = fetch()
    let texts = fetched.filter((text) => text !== null)
    fetched.length = 0
    const isLong = lengthOf(texts) > longLength
    if (isLong) await collectGarbage()
    yield texts
    if (!isWide) continue
    texts = []
    if (isLong) await collectGarbage()
    next = fetch()
  }
  if (isWhole) return
  // Reading again without a stream throws the error.
  await run(connection.run(`select count(*) from (${rows}) ${row} where hash(${row}) = 0`))
  throw new OperatorError('the source could not be read completely; try again')
}

/** No column has this name; one that had it would be taken for the row. */
const row = quoted(unknowable('row'))

export function rowsAsJson(select: string): string {
  return `select to_json(${row}) as json from (${select}) ${row}`
}

/** The texts of a chunk, which gives up its memory; none at the end. */
function textsOf(chunk: DuckDBDataChunk | null): (string | null)[] {
  if (chunk === null || chunk.rowCount === 0) return []
  const texts = chunk.getColumnValues(0) as (string | null)[]
  chunk.reset()
  return texts
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, { length }) => sum + length, 0)
}

let collect: (() => void) | undefined

/**
 * Collects all garbage now, including memory outside V8's heap: DuckDB's chunks take megabytes
 * there that V8 does not count, so it would keep a dozen of them.
 */
async function collectGarbage(): Promise<void> {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as () => void
  }
  collect()
  await new Promise((done) => setImmediate(done))
}

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
