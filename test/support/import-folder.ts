// A folder with files and a store, and imports of the files into it.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, type TestContext } from 'node:test'
import { DuckDBInstance } from '@duckdb/node-api'
import { OperatorError } from '../../src/config/operator-error.ts'
import type { FileOptions } from '../../src/files/source-file.ts'
import type { ImportReport } from '../../src/import/import-files.ts'
import { resources } from '../../src/resources/index.ts'
import type { Resource } from '../../src/resources/resource.ts'
import { importInto, type ImportOptions, makeFolder, query } from './import-rows.ts'
import { controls } from './terminal-controls.ts'

type Files = Readonly<Record<string, string | Buffer>>

/** Writes files into a new folder; returns functions that import them, usually into its store. */
export function folderWith(t: TestContext, files: Files, shared?: string) {
  const folder = makeFolder(t, files)
  const db = shared ?? join(folder, 'test.db')
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
    records: (target: string): StoredRecord[] => {
      const rows = query(db, `select company_id, record from ${target}_records`)
      const resource = resources.find(({ name }) => name === target)
      assert.ok(resource, target)
      return rows
        .map((row) => ({ company: Number(row['company_id']), record: recordOf(row['record']) }))
        .sort((a, b) => a.company - b.company || compareRecords(resource, a.record, b.record))
        .map(({ record }) => record)
    },
  }
}

type StoredRecord = Readonly<Record<string, unknown>>

const recordOf = (text: unknown) => JSON.parse(String(text)) as StoredRecord

/** In the order of listings. */
function compareRecords({ order }: Resource, a: StoredRecord, b: StoredRecord): number {
  const isAfter = order.direction === 'ascending' ? 1 : -1
  const [one, other] = [String(a[order.by]), String(b[order.by])]
  if (order.by !== 'id' && one !== other) return one > other ? isAfter : -isAfter
  return (Number(a['id']) - Number(b['id'])) * isAfter
}

/** For `assert.rejects`: a mistake of the operator, told in one line that matches. */
export function toldAs(says: RegExp) {
  return (error: unknown): true => {
    assert.ok(error instanceof OperatorError, String(error))
    assert.match(error.message, says)
    assert.ok(!error.message.includes('\n'), error.message)
    assert.doesNotMatch(error.message, controls)
    return true
  }
}

/** What is refused changes nothing: the tests of a file share the store that it is refused by. */
const refusing = join(makeFolder({ after }), 'refusing.db')

/** Checks that a file of rights is refused in one line that names it, and nothing loaded. */
export async function refuseFile(
  t: TestContext,
  name: string,
  [bytes, says, file = {}]: RefusedFile,
): Promise<void> {
  const { db, load } = folderWith(t, { [name]: bytes }, refusing)
  const error: unknown = await load('rights', [name], { file }).catch((told: unknown) => told)
  toldAs(says)(error)
  assert.ok(String(error).includes(name), String(error))
  assert.deepEqual(query(db, 'select version from imports'), [])
}

/** A file that is refused, what is said of it, and how it was to be read. */
export type RefusedFile = readonly [bytes: string | Buffer, says: RegExp, file?: FileOptions]

/** Writes the result of a SELECT as a Parquet file; returns its path. */
export async function writeParquet(
  path: string,
  select: string,
  option = 'row_group_size 122880',
): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' })
  const connection = await instance.connect()
  await connection.run(`copy (${select}) to '${path}' (format parquet, ${option})`)
  connection.closeSync()
  instance.closeSync()
}
