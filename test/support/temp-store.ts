// A store in its own folder, filled by the importer from files as by an operator.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { resources as allResources } from '../../src/resources/index.ts'
import type { Resource } from '../../src/resources/resource.ts'
import { openStoreWriter } from '../../src/store/open-store.ts'
import type { ImportReport } from '../../src/import/import-files.ts'
import { issueKey } from './issue-key.ts'
import { type ImportOptions, importWith, writeRows } from './import-rows.ts'
import type { WireRecord } from './make-record.ts'
import { storeAt } from './store-at.ts'
import { leaveSchemas, lookAtSchema, reuseSchema } from './used-schemas.ts'

/** The scope of clean-up: a test context, or `node:test` itself for a whole file. */
export interface Scope {
  after(work: () => Promise<void>): void
}

/** Some of a company's records. */
export interface CompanyRecords {
  readonly resource: Resource
  readonly company: number
  readonly records: readonly WireRecord[]
}

/** A key to issue; without scopes it grants everything. */
export interface KeyOptions {
  readonly name: string
  readonly scopes?: readonly string[]
  readonly expiresAt?: number
  readonly rate?: string
}

export interface TempStore {
  /** The file, or the URL. */
  readonly db: string
  /** The path that names it, on any kind of store. */
  readonly path: string
  /** A folder that is removed at the end. */
  readonly folder: string
  /** Imports records; with `isSnapshot` they are all records of their resource. */
  load(parts: readonly CompanyRecords[], options?: { isSnapshot?: boolean }): Promise<void>
  /** Imports companies by their ids. */
  loadCompanies(ids: readonly number[]): Promise<void>
  /** Imports rows as `dossier import` would. */
  importRows(
    target: string,
    rows: readonly unknown[],
    options?: ImportOptions,
  ): Promise<ImportReport>
  /** Deletes all that was replaced. */
  prune(): Promise<void>
  issueKey(options: KeyOptions): Promise<string>
  revokeKey(name: string): Promise<void>
}

const patient = { onWait: () => undefined }
const alone = { onWait: () => assert.fail('nobody else writes') }

export async function makeTempStore(
  scope: Scope,
  resources: readonly Resource[],
): Promise<TempStore> {
  const folder = await mkdtemp(join(tmpdir(), 'dossier-test-'))
  const path = join(folder, 'registry.db')
  if (resources === allResources) await reuseSchema(path)
  const db = storeAt(path)
  const writer = await openStoreWriter(db, resources)
  if (resources === allResources) await lookAtSchema(path)
  scope.after(async () => {
    await writer.close()
    await rm(folder, { recursive: true })
    leaveSchemas(folder)
  })

  const importRows: TempStore['importRows'] = async (target, rows, options) => {
    const file = writeRows(join(folder, 'rows.ndjson'), rows)
    return importWith(writer, target, [file], { resources, ...alone, ...options })
  }

  async function importValid(target: string, rows: readonly unknown[], isSnapshot = false) {
    const options = { source: 'test', isSnapshot, permissions: { accepted: true } }
    const { problems } = await importRows(target, rows, options)
    assert.deepEqual(problems, [], 'the records of a test are valid')
  }

  return {
    db,
    path,
    folder,
    importRows,
    async load(parts, { isSnapshot } = {}) {
      const byResource = Map.groupBy(parts, ({ resource }) => resource)
      for (const [resource, listings] of byResource) {
        const rows = listings.flatMap(({ company, records }) =>
          records.map((record) => ({ company_id: company, ...record })),
        )
        await importValid(resource.name, rows, isSnapshot)
      }
    },
    async loadCompanies(ids) {
      const rows = ids.map((id) => ({ id, jurisdiction: 'XX', identifier: String(id) }))
      await importValid('companies', rows)
    },
    prune: () => writer.prune(Date.now() + 1, alone).then(() => undefined),
    issueKey({ name, scopes, expiresAt, rate }) {
      const createdAt = Date.now()
      return issueKey(writer, { name, scopes, expiresAt, rate, createdAt }, patient)
    },
    async revokeKey(name) {
      assert.ok(await writer.revokeKey(name, Date.now(), patient), `${name} was in use`)
    },
  }
}
