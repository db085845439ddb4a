// Imports in tests: real files, a real store, the importer as the command line uses it.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import {
  type ImportReport,
  type ImportRequest,
  importFiles,
} from '../../src/import/import-files.ts'
import { importTargets } from '../../src/import/import-targets.ts'
import { type FileOptions, findSourceFiles } from '../../src/files/source-file.ts'
import { resources } from '../../src/resources/index.ts'
import type { Resource } from '../../src/resources/resource.ts'
import { isServerStore } from '../../src/config/setting-kinds.ts'
import { openStoreWriter } from '../../src/store/open-store.ts'
import { withSession } from '../../src/store/postgres/connect.ts'
import type { StoreWriter } from '../../src/store/writing.ts'
import { queryServer } from './query-server.ts'
import { storeAt, type StoreKind } from './store-at.ts'
import { leaveSchemas, lookAtSchema, reuseSchema } from './used-schemas.ts'

/** A folder with these files, which is removed when the test ends. */
export function makeFolder(
  t: { after(work: () => void): void },
  files: Readonly<Record<string, string | Buffer>> = {},
): string {
  const folder = mkdtempSync(join(tmpdir(), 'dossier-test-'))
  t.after(() => {
    rmSync(folder, { recursive: true, force: true })
    leaveSchemas(folder)
  })
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(folder, name), bytes)
  return folder
}

/** A folder as of `makeFolder`, and the path of a store in it; commands use `dossier.db` by default. */
export function makePlace(t: Parameters<typeof makeFolder>[0], name = 'dossier.db') {
  const folder = makeFolder(t)
  return { folder, db: join(folder, name) }
}

/** Options of an import in a test; the others have the defaults of the command line. */
export type ImportOptions = Partial<Omit<ImportRequest, 'target' | 'files'>> & {
  /** How the files are read. */
  readonly file?: FileOptions
  /** The resources of the store; all declared ones by default. */
  readonly resources?: readonly Resource[]
  /** The kind of store that the path names; by default that of the suite. */
  readonly kind?: StoreKind
  /** The URL of a store, instead of the one that the path names. */
  readonly at?: string
}

/** Imports files into the store at `db`, as `dossier import TARGET FILE…` would. */
export async function importInto(
  db: string,
  target: string,
  words: readonly string[],
  options: ImportOptions = {},
): Promise<ImportReport> {
  const known = options.resources ?? resources
  const isUsual = options.at === undefined && options.kind !== 'sqlite' && known === resources
  if (isUsual) await reuseSchema(db)
  await using store = await openStoreWriter(options.at ?? storeAt(db, options.kind), known)
  if (isUsual) await lookAtSchema(db)
  return await importWith(store, target, words, options)
}

/** As `importInto`, into a store that is open. */
export async function importWith(
  store: StoreWriter,
  target: string,
  words: readonly string[],
  options: ImportOptions = {},
): Promise<ImportReport> {
  return importFiles(store, {
    target:
      importTargets(options.resources ?? resources).find(({ name }) => name === target) ??
      assert.fail(`${target} cannot be imported`),
    files: await findSourceFiles(words, options.file),
    mapping: undefined,
    mappingFolders: [],
    texts: { isTrimmed: false, nulls: [] },
    source: 'default',
    isSnapshot: false,
    asOf: undefined,
    recordIn: undefined,
    isDryRun: false,
    // Tests of the command line show what it does not permit.
    permissions: { future: true, accepted: true, noRows: true, noDay: true },
    knownCompaniesOnly: false,
    onRejected: undefined,
    onProgress: () => undefined,
    onWait: () => undefined,
    signal: new AbortController().signal,
    ...options,
  })
}

/** Writes rows as NDJSON; returns the path. */
export function writeRows(path: string, rows: readonly unknown[]): string {
  writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  return path
}

/** Imports rows through an NDJSON file next to the store. */
export async function importRows(
  db: string,
  target: string,
  rows: readonly object[],
  options: ImportOptions = {},
): Promise<ImportReport> {
  const path = writeRows(`${db}.rows.ndjson`, rows)
  try {
    return await importInto(db, target, [path], options)
  } finally {
    rmSync(path)
  }
}

/** The rows of a query over a store, in SQL valid for both kinds. */
export function query(db: string, sql: string): Record<string, SQLOutputValue>[] {
  const at = storeAt(db)
  if (isServerStore(at)) return queryServer(at, sql)
  using connection = new DatabaseSync(at, { readOnly: true })
  return connection.prepare(sql).all()
}

/** The same, asynchronously in this process. */
export async function queryStore(db: string, sql: string): Promise<Record<string, unknown>[]> {
  const at = storeAt(db)
  if (!isServerStore(at)) return query(at, sql)
  return withSession(at, async (client) => {
    const { rows } = await client.query<Record<string, unknown>>(sql)
    return rows
  })
}

/** The single value that a query over a store returns. */
export function queryValue(db: string, sql: string): SQLOutputValue | undefined {
  return Object.values(query(db, sql)[0] ?? {})[0]
}
