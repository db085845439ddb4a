// Importing in tests: real files, a real store, the importer as the command line drives it.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import type { TestContext } from 'node:test'
import {
  type ImportReport,
  type ImportRequest,
  importFiles,
} from '../../src/import/import-files.ts'
import { findSourceFiles } from '../../src/import/source-file.ts'
import { resources } from '../../src/resources/index.ts'
import type { Resource } from '../../src/resources/resource.ts'
import { openStoreWriter } from '../../src/store/open-store.ts'

/** A folder that is gone when the test ends. */
export function makeFolder(t: Pick<TestContext, 'after'>): string {
  const folder = mkdtempSync(join(tmpdir(), 'dossier-test-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** What a test says of an import; the rest is as the command line has it by default. */
export type ImportOptions = Partial<Omit<ImportRequest, 'resource' | 'files'>> & {
  /** The resources that the store is opened with; all declared ones if not given. */
  readonly resources?: readonly Resource[]
}

/** Imports files into the store at `db`, as `dossier import TARGET FILE…` would. */
export async function importInto(
  db: string,
  target: string,
  words: readonly string[],
  options: ImportOptions = {},
): Promise<ImportReport> {
  const known = options.resources ?? resources
  const store = openStoreWriter(db, known)
  try {
    return await importFiles(store, {
      resource: known.find(({ name }) => name === target),
      files: findSourceFiles(words),
      mapping: undefined,
      source: 'default',
      isSnapshot: false,
      asOf: undefined,
      recordIn: undefined,
      isDryRun: false,
      knownCompaniesOnly: false,
      onRejected: undefined,
      onProgress: () => undefined,
      onWait: () => undefined,
      signal: new AbortController().signal,
      ...options,
    })
  } finally {
    await store.close()
  }
}

/** Imports rows, by way of an NDJSON file beside the store. */
export async function importRows(
  db: string,
  target: string,
  rows: readonly object[],
  options: ImportOptions = {},
): Promise<ImportReport> {
  const path = `${db}.rows.ndjson`
  writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  return importInto(db, target, [path], options)
}

/** The rows of a query over a store. */
export function query(db: string, sql: string): Record<string, SQLOutputValue>[] {
  const connection = new DatabaseSync(db, { readOnly: true })
  try {
    return connection.prepare(sql).all()
  } finally {
    connection.close()
  }
}

/** The one value that a query over a store gives. */
export function queryValue(db: string, sql: string): SQLOutputValue | undefined {
  return Object.values(query(db, sql)[0] ?? {})[0]
}
