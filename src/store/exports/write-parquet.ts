// Makes a Parquet file with typed columns from a file of NDJSON.

import { createHash } from 'node:crypto'
import { chmodSync, createReadStream, statSync } from 'node:fs'
import { basename } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { OperatorError, reasonOf } from '../../config/operator-error.ts'
import { literal, openDatabase } from '../../files/duckdb/database.ts'
import { isOutOfMemory } from '../../files/duckdb/explain.ts'
import { flush, privateMode } from '../../files/new-file.ts'
import type { WrittenFile } from './manifest.ts'
import type { ColumnKind, RowWriter } from './row-writer.ts'

const types: Readonly<Record<ColumnKind, string>> = {
  id: 'BIGINT',
  integer: 'BIGINT',
  text: 'VARCHAR',
  timestamp: 'TIMESTAMP',
  timestamp_ms: 'TIMESTAMP',
  text_list: 'VARCHAR[]',
  json: 'VARCHAR',
}

/** DuckDB's memory limit, in MB, besides what the copy itself needs. */
const memoryMb = 160
/** Larger groups of rows take more memory. */
const groupMax = { rows: 20_000, bytes: 8_388_608 }

/** A row has no upper bound: a company has what all of its sources say. */
const isTooLarge = (error: unknown): boolean =>
  isOutOfMemory(error) || /maximum_object_size/.test(reasonOf(error))

const tooLarge = (name: string) =>
  `${name} would have a row that is too large for Parquet; export other formats`

/**
 * @param from an NDJSON file, compressed with zstd.
 * @throws OperatorError for a row that needs too much memory.
 */
export async function writeParquet(
  from: string,
  to: string,
  { columns }: RowWriter,
  signal: AbortSignal,
): Promise<WrittenFile> {
  const db = await openDatabase(signal)
  const run = (sql: string) => db.run(db.connection.run(sql))
  try {
    const typed = columns.map(({ name, kind }) => `${literal(name)}: ${literal(types[kind])}`)
    await db.tune('wide')
    await run(`set memory_limit = '${memoryMb}MB'`)
    // Groups have a maximum size only without this; one thread writes rows in their order anyway.
    await run('set preserve_insertion_order = false')
    await run(
      `copy (
         select * from read_json(${literal(from)}, format = 'newline_delimited',
           compression = 'zstd', columns = {${typed.join(', ')}})
       ) to ${literal(to)} (format parquet, compression zstd,
         row_group_size ${groupMax.rows}, row_group_size_bytes ${groupMax.bytes})`,
    )
  } catch (error) {
    throw isTooLarge(error) ? new OperatorError(tooLarge(basename(to)), { cause: error }) : error
  } finally {
    await db.close()
  }
  chmodSync(to, privateMode)
  flush(to)
  const digest = createHash('sha256')
  await pipeline(createReadStream(to), digest)
  return { name: basename(to), bytes: statSync(to).size, sha256: digest.digest('hex') }
}
