// The opener: the one place that knows which store is behind the seam (invariant 2).

import type { Resource } from '../resources/resource.ts'
import { backUp } from './sqlite/backup.ts'
import { beginImport } from './sqlite/import.ts'
import { findCompany, listImports } from './sqlite/inspect.ts'
import { addKey, listKeys, revokeKey, rotateKey } from './sqlite/keys.ts'
import { openForReading, openForWriting, storeError } from './sqlite/open.ts'
import { prune } from './sqlite/prune.ts'
import { createReader } from './sqlite/read.ts'
import { openUsage, readUsage } from './sqlite/usage.ts'
import { verify } from './sqlite/verify.ts'
import type { StoreInspector, StoreReader, StoreWriter } from './store.ts'
import type { KeyUsage, UsageWriter } from './usage.ts'

/**
 * Opens the store at `db`, a file's path, for serving.
 *
 * @throws OperatorError with one line that says what to do, where it cannot be served from.
 */
export function openStoreReader(db: string, resources: readonly Resource[]): StoreReader {
  return createReader(openForReading(db, resources), resources)
}

/**
 * Opens the store at `db` for an operator who looks at it; nothing can be changed.
 *
 * @throws OperatorError as `openStoreReader`.
 */
export function openStoreInspector(db: string, resources: readonly Resource[]): StoreInspector {
  const connection = openForReading(db, resources)
  return {
    listImports: (limit) => listImports(connection, limit),
    findCompany: (name) => findCompany(connection, name),
    verify: (checks, onStep) => verify(connection, resources, checks, onStep),
    backup: (path) => backUp(connection, path),
    close: () => connection.close(),
  }
}

/**
 * Opens the store at `db` for a command that changes it, and makes it on first use.
 *
 * @throws OperatorError with one line that says what to do, where it cannot be written.
 */
export function openStoreWriter(db: string, resources: readonly Resource[]): StoreWriter {
  const connection = openForWriting(db, resources)
  return {
    storeId: String(connection.prepare('select id from store').get()?.['id']),
    beginImport: (plan) => beginImport(connection, plan),
    addKey: (key, onWait) => addKey(connection, key, onWait),
    rotateKey: (name, now, rotate, onWait) => rotateKey(connection, name, now, rotate, onWait),
    listKeys: () => listKeys(connection),
    revokeKey: (name, now, onWait) => revokeKey(connection, name, now, onWait),
    prune: (before, onWait) => prune(connection, resources, before, onWait),
    close: () => connection.close(),
  }
}

/** A driver's error as a OperatorError that says what to do, where one is known; else itself. */
export function explainStoreError(db: string, error: unknown): unknown {
  return storeError(db, error)
}

/** The paths that belong to a store, some of them only while it is written to. */
export function storeFiles(path: string): readonly string[] {
  const endings = ['', '-wal', '-shm', '-journal']
  return [path, usageFile(path)].flatMap((file) => endings.map((ending) => file + ending))
}

/** The file beside a store that has the uses of its keys: `registry-usage.db` of `registry.db`. */
export function usageFile(db: string): string {
  return `${db.replace(/\.db$/, '')}-usage.db`
}

/**
 * Opens the file with the uses of a store's keys, and makes it on first use.
 *
 * @throws as `UsageWriter.add`.
 */
export function openUsageWriter(path: string, storeId: string): UsageWriter {
  return openUsage(path, storeId)
}

/**
 * What is known of the use of each key of a store, from the file that its servers write.
 *
 * @param now in milliseconds since 1970.
 * @throws OperatorError where the file cannot be read.
 */
export function readKeyUsage(path: string, storeId: string, now: number): readonly KeyUsage[] {
  return readUsage(path, storeId, now)
}
