// The opener: the one place that knows which store is behind the seam (invariant 2).

import type { Resource } from '../resources/resource.ts'
import { beginImport } from './sqlite/import.ts'
import { addKey, listKeys, revokeKey } from './sqlite/keys.ts'
import { openForReading, openForWriting, storeError } from './sqlite/open.ts'
import { createReader } from './sqlite/read.ts'
import type { StoreReader, StoreWriter } from './store.ts'

/**
 * Opens the store at `db`, a file's path, for serving.
 *
 * @throws OperatorError with one line that says what to do, where it cannot be served from.
 */
export function openStoreReader(db: string, resources: readonly Resource[]): StoreReader {
  return createReader(openForReading(db, resources), resources)
}

/**
 * Opens the store at `db` for a command that changes it, and makes it on first use.
 *
 * @throws OperatorError with one line that says what to do, where it cannot be written.
 */
export function openStoreWriter(db: string, resources: readonly Resource[]): StoreWriter {
  const connection = openForWriting(db, resources)
  return {
    beginImport: (plan) => beginImport(connection, plan),
    addKey: (key, onWait) => addKey(connection, key, onWait),
    listKeys: () => listKeys(connection),
    revokeKey: (name, now, onWait) => revokeKey(connection, name, now, onWait),
    close: () => connection.close(),
  }
}

/** A driver's error as a OperatorError that says what to do, where one is known; else itself. */
export function explainStoreError(db: string, error: unknown): unknown {
  return storeError(db, error)
}
