// Which store the suite runs on: `DOSSIER_TEST_STORE` is `sqlite` (the default) or `postgres`.
//
// A test names its store by a file path. On PostgreSQL that path stands for a schema of the
// server that the run has started, so that each test works on every store.

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { isServerStore } from '../../src/config/setting-kinds.ts'
import type { ServingBounds } from '../../src/store/postgres/connect.ts'

export const storeKinds = ['sqlite', 'postgres'] as const
export type StoreKind = (typeof storeKinds)[number]

const chosen = process.env['DOSSIER_TEST_STORE'] ?? 'sqlite'

export const storeKind: StoreKind =
  storeKinds.find((kind) => kind === chosen) ?? assert.fail(`DOSSIER_TEST_STORE is ${chosen}`)

/** For `skip`, of a test that Citus cannot run. */
export const onCitus =
  storeKind === 'postgres' && process.env['DOSSIER_TEST_CITUS'] !== undefined
    ? 'not where Citus spreads the store'
    : false

/** For `skip`, of a test in a file that runs on both stores, but whose rule no store decides. */
export const aboveStores = storeKind === 'sqlite' ? false : 'no store decides this: see SQLite'

/**
 * Some of the resources where each costs a store time: of every order, with and without meta. What
 * a store does with a resource follows from its declaration, and the run on SQLite has them all.
 */
export function someOf<R extends { readonly name: string }>(resources: readonly R[]): R[] {
  const isShown = ({ name }: R) => !['employees', 'jobs', 'pos_terminals'].includes(name)
  return resources.filter((resource) => storeKind === 'sqlite' || isShown(resource))
}

/** The URL of the server of the run, as its superuser, and with options of its sessions. */
export function testServerUrl(options?: string): string {
  const server = process.env['DOSSIER_TEST_POSTGRES_URL']
  assert.ok(server, 'no PostgreSQL: run with --test-global-setup=test/support/postgres-setup.ts')
  const url = new URL(server)
  if (options !== undefined) url.searchParams.set('options', options)
  return url.href
}

/** The prefix of every schema of this run. */
export const schemaPrefix = `dossier_test_${process.env['DOSSIER_TEST_RUN'] ?? 'own'}_`

/** The URL of a schema of this run. */
export function schemaUrl(name: string): string {
  return inSchema(testServerUrl(), name)
}

/** The server through its pooler, if it has one. */
function poolerUrl(): string {
  return process.env['DOSSIER_TEST_POOLER_URL'] ?? testServerUrl()
}

function inSchema(server: string, name: string): string {
  const url = new URL(server)
  url.searchParams.set('schema', `${schemaPrefix}${name}`)
  return url.href
}

/** The schemas that file paths stand for. */
const named = new Map<string, string>()

/** The store that a file path stands for, if the suite runs on another kind. */
export function storeAt(path: string, kind = storeKind): string {
  if (kind === 'sqlite' || isServerStore(path)) return path
  const url = named.get(path) ?? inSchema(poolerUrl(), digestOf(path))
  named.set(path, url)
  return url
}

function digestOf(path: string): string {
  return hash('sha256', path).slice(0, 16)
}

/** Whether a path already stands for a schema. */
export function isNamed(path: string): boolean {
  return isServerStore(path) || named.has(path)
}

/** Makes a path stand for a schema. */
export function nameStore(path: string, url: string): void {
  named.set(path, url)
}

/** Forgets the stores in a folder that has been removed; returns their URLs. */
export function forgetStores(folder: string): string[] {
  const inFolder = [...named].filter(([path]) => path.startsWith(`${folder}/`))
  for (const [path] of inFolder) named.delete(path)
  return inFolder.map(([, url]) => url)
}

/** The seed of random tests, which are named after it: `SEED=N` repeats a failure. */
export const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)

/** Generous request limits for tests of other things, so that a slow machine does not fail them. */
export const patientBounds: ServingBounds = { pool: 10, statementMs: 20_000, waitMs: 20_000 }

/**
 * The number of runs of a random test: a quarter of those with DOSSIER_TEST_RUNS=all, and fewer
 * if every statement goes to a server: most of what they show is above the seam, which SQLite shows
 * at a tenth of the cost. Each run of the suite has others.
 */
export function runsOf(runs: number): number {
  if (process.env['DOSSIER_TEST_RUNS'] === 'all') return runs
  return Math.ceil(runs / (storeKind === 'sqlite' ? 4 : 20))
}
