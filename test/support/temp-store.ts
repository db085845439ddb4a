// A store in its own folder, filled by the importer from files as by an operator.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { resources as allResources } from '../../src/resources/index.ts'
import type { Resource } from '../../src/resources/resource.ts'
import { openStoreWriter } from '../../src/store/open-store.ts'
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

export type TempStore = Awaited<ReturnType<typeof makeTempStore>>

const patient = { onWait: () => undefined }
const alone = { onWait: () => assert.fail('nobody else writes') }

export async function makeTempStore(scope: Scope, resources: readonly Resource[]) {
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

  /** Imports rows as `dossier import` would. */
  async function importRows(target: string, rows: readonly unknown[], options?: ImportOptions) {
    const file = writeRows(join(folder, 'rows.ndjson'), rows)
    return importWith(writer, target, [file], { resources, ...alone, ...options })
  }

  async function importValid(target: string, rows: readonly unknown[], isSnapshot = false) {
    const options = { source: 'test', isSnapshot, permissions: { accepted: true } }
    const { problems } = await importRows(target, rows, options)
    assert.deepEqual(problems, [], 'the records of a test are valid')
  }

  return {
    /** The file, or the URL. */
    db,
    /** The path that names it, on any kind of store. */
    path,
    /** A folder that is removed at the end. */
    folder,
    importRows,
    /** Imports records; with `isSnapshot` they are all records of their resource. */
    async load(
      parts: readonly CompanyRecords[],
      { isSnapshot }: { isSnapshot?: boolean } = {},
    ): Promise<void> {
      const byResource = Map.groupBy(parts, ({ resource }) => resource)
      for (const [resource, listings] of byResource) {
        const rows = listings.flatMap(({ company, records }) =>
          records.map((record) => ({ company_id: company, ...record })),
        )
        await importValid(resource.name, rows, isSnapshot)
      }
    },
    /** Imports companies by their ids. */
    async loadCompanies(ids: readonly number[]): Promise<void> {
      const rows = ids.map((id) => ({ id, jurisdiction: 'XX', identifier: String(id) }))
      await importValid('companies', rows)
    },
    /** Deletes all that was replaced. */
    prune: () => writer.prune(Date.now() + 1, alone),
    issueKey({ name, scopes, expiresAt, rate }: KeyOptions): Promise<string> {
      const createdAt = Date.now()
      return issueKey(writer, { name, scopes, expiresAt, rate, createdAt }, patient)
    },
    async revokeKey(name: string): Promise<void> {
      assert.ok(await writer.revokeKey(name, Date.now(), patient), `${name} was in use`)
    },
  }
}
