// A folder with files and a store, and imports of the files into it.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { DuckDBInstance } from '@duckdb/node-api'
import type { ImportReport } from '../../src/import/import-files.ts'
import { importInto, type ImportOptions, makeFolder, query } from './import-rows.ts'

type Files = Readonly<Record<string, string | Buffer>>

/** Writes files into a new folder; returns functions that import them into a store there. */
export function folderWith(t: TestContext, files: Files) {
  const folder = makeFolder(t)
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(folder, name), bytes)
  const db = join(folder, 'test.db')
  return {
    db,
    folder,
    load: (
      target: string,
      names: readonly string[],
      options?: ImportOptions,
    ): Promise<ImportReport> => {
      const paths = names.map((name) => join(folder, name))
      return importInto(db, target, paths, options)
    },
    records: (target: string): unknown[] => {
      const rows = query(db, `select record from ${target}_records order by company_id, position`)
      return rows.map(({ record }) => JSON.parse(String(record)) as unknown)
    },
  }
}

/** Writes the result of a SELECT as a Parquet file; returns its path. */
export async function writeParquet(path: string, select: string): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  await connection.run(`copy (${select}) to '${path}' (format parquet)`)
  connection.closeSync()
  instance.closeSync()
}
