// Opening a store in PostgreSQL, for serving and for the commands that write.

import type { Client } from 'pg'
import type { Resource } from '../../resources/resource.ts'
import type { StoreInspector } from '../inspecting.ts'
import type { StoreReader } from '../reading.ts'
import type { StoreWriter } from '../writing.ts'
import { defaultBounds, openPool, openSession, type ServingBounds } from './connect.ts'
import { storeError } from './errors.ts'
import { beginImport } from './import.ts'
import { findCompany, findNames, listImports, noBackup } from './inspect.ts'
import { addKey, listKeys, revokeKey, rotateKey } from './keys.ts'
import { checkSchema, isOutdated, migrate as migrateTables } from './migrate.ts'
import { prune } from './prune.ts'
import { createReader } from './read.ts'
import { verify } from './verify.ts'

export { isThere, migrate } from './migrate.ts'

/**
 * Opens a store for serving. Nothing is made, and the sessions may not write.
 *
 * @throws OperatorError where there is no store that this version can read, saying what to do.
 */
export async function openForReading(
  db: string,
  resources: readonly Resource[],
  bounds: ServingBounds = defaultBounds,
): Promise<StoreReader> {
  return explained(db, async () => {
    const storeId = await withSession(db, async (client) => {
      await checkSchema(client, db, resources)
      return readStoreId(client)
    })
    return createReader(openPool(db, bounds), resources, storeId)
  })
}

/**
 * Opens a store for an operator who looks at it. Each look has a session of its own, which may not
 * write.
 *
 * @throws OperatorError as `openForReading`.
 */
export async function openForInspecting(
  db: string,
  resources: readonly Resource[],
): Promise<StoreInspector> {
  const look = <T>(work: (client: Client) => Promise<T>) => withSession(db, work, readOnly)
  return explained(db, async () => {
    await look((client) => checkSchema(client, db, resources))
    return {
      listImports: (limit) => look((client) => listImports(client, limit)),
      findCompany: (name) => look((client) => findCompany(client, name)),
      findNames: (names, limit) => look((client) => findNames(client, names, limit)),
      verify: (checks, onStep) => look((client) => verify(client, resources, checks, onStep)),
      backup: (path) => Promise.reject(noBackup(db, path)),
      close: () => undefined,
    }
  })
}

const readOnly = { default_transaction_read_only: 'on' }

/**
 * Opens a store for a command that writes, and makes or upgrades its tables where they need it.
 * Each of its operations has a session of its own: between them nothing is open.
 *
 * @throws OperatorError as `openForReading`.
 */
export async function openForWriting(
  db: string,
  resources: readonly Resource[],
): Promise<StoreWriter> {
  return explained(db, async () => {
    if (await isOutdated(db, resources)) await migrateTables(db, resources)
    return {
      readStoreId: () => withSession(db, readStoreId),
      beginImport: (plan) => beginImport(db, plan),
      addKey: (key) => withSession(db, (client) => addKey(client, db, key)),
      rotateKey: (name, now, rotate) =>
        withSession(db, (client) => rotateKey(client, db, name, now, rotate)),
      listKeys: () => withSession(db, listKeys),
      prune: (before, turn) =>
        withSession(db, (client) => prune(client, db, resources, before, turn)),
      revokeKey: (name, now) => withSession(db, (client) => revokeKey(client, db, name, now)),
      close: () => undefined,
    }
  })
}

async function readStoreId(client: Client): Promise<string> {
  const { rows } = await client.query<{ id: string }>('select id from store')
  return rows[0]?.id ?? ''
}

async function withSession<T>(
  db: string,
  work: (client: Client) => Promise<T>,
  settings: Readonly<Record<string, string>> = {},
): Promise<T> {
  const client = await openSession(db, settings)
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

async function explained<T>(db: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw storeError(db, error)
  }
}
