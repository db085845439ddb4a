// The imports that are tortured: a first load and an update with removals, of companies and of
// records; each with the state before it and the state after it.

import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { verifyStore } from '../test/support/verify-store.ts'
import { writeExtract } from './extracts.ts'
import { hasAsOf, hasVerify } from './interfaces.ts'
import type { Ground } from './outcome.ts'
import { describeEnd, mustRun, runDossier, startDossier } from './processes.ts'
import { copyStore, removeStore, sizeOf } from './store-files.ts'
import { isSameRegistry, readState, type StoreState, whichState } from './store-state.ts'

/** An import that can be begun any number of times from the same state. */
export interface ImportCase {
  readonly name: string
  /** A first load begins without a store. */
  readonly isFirstLoad: boolean
  readonly before: StoreState
  readonly after: StoreState
  /** The size of the store after it. */
  readonly bytes: number
  /** How long it takes undisturbed, in milliseconds. */
  readonly durationMs: number
  /** When it begins to write what it has merged, in milliseconds after its start. */
  readonly writingMs: number
  /** How far the store's log has grown by then, in bytes: larger means that it is writing. */
  readonly writingBytes: number
  /** Its files, and nothing else. */
  readonly folder: string
  /** The store that it is tried on. */
  readonly db: string
  /** The arguments of `dossier` for this import into a store. */
  args(db: string): string[]
  /** Puts the state before it in place. */
  reset(): void
}

type Target = 'companies' | 'events'
export type CaseName = `${Target}, ${'first load' | 'update'}`

const made = new Map<string, Promise<ImportCase>>()

/** A case: its files, the state before, and by doing it once the state after; once for a folder. */
export function makeCase(ground: Ground, name: CaseName): Promise<ImportCase> {
  const key = `${ground.folder} ${name}`
  const known = made.get(key) ?? makeAnew(ground, name)
  made.set(key, known)
  return known
}

async function makeAnew(ground: Ground, name: CaseName): Promise<ImportCase> {
  const [target, kind] = name.split(', ') as [Target, string]
  const isFirstLoad = kind === 'first load'
  const folder = join(ground.folder, name.replace(/\W+/g, '-'))
  mkdirSync(folder, { recursive: true })
  const file = (extract: 'first' | 'second') => join(folder, `${extract}.ndjson`)
  for (const extract of ['first', 'second'] as const) {
    if (!existsSync(file(extract))) writeExtract(file(extract), target, extract, ground.rows)
  }
  const load = (extract: 'first' | 'second') => (store: string) => [
    ...['import', target, file(extract), '--source', 'register', '--db', store],
    ...(extract === 'second' ? ['--snapshot'] : []),
    ...(hasAsOf && target === 'companies' ? ['--as-of', dateOf(extract)] : []),
  ]
  const prepared = join(folder, 'prepared.db')
  const db = join(folder, 'registry.db')
  removeStore(prepared)
  if (!isFirstLoad) await mustRun(load('first')(prepared))
  const args = load(isFirstLoad ? 'first' : 'second')
  const reset = () => copyStore(prepared, db)
  reset()
  const before = await readState(db, isFirstLoad)
  const timing = await measure(db, args(db))
  const after = await readState(db, isFirstLoad)
  const bytes = sizeOf(db)
  return { name, isFirstLoad, before, after, bytes, ...timing, folder, db, args, reset }
}

function dateOf(extract: 'first' | 'second'): string {
  return extract === 'first' ? '2025-02-27' : '2025-02-28'
}

/** Runs an import undisturbed, and watches when its log grows. */
async function measure(db: string, args: readonly string[]) {
  const startedAt = performance.now()
  const sizes: { readonly atMs: number; readonly bytes: number }[] = []
  const { child, ended } = startDossier(args)
  while (child.exitCode === null) {
    sizes.push({ atMs: performance.now() - startedAt, bytes: sizeOf(`${db}-wal`) })
    await sleep(1)
  }
  const { code, ms, err } = await ended
  if (code !== 0) throw new Error(`the undisturbed import ended with ${String(code)}: ${err}`)
  // A first load makes the tables at its start: that is not yet what is looked for.
  const writingBytes = Math.max(...sizes.map(({ bytes }) => bytes)) / 3
  const writingMs = sizes.find(({ bytes }) => bytes > writingBytes)?.atMs ?? ms / 2
  return { durationMs: ms, writingMs, writingBytes }
}

/** What a trial found of a store. */
export interface Finding {
  readonly found: string
  readonly fault: string | undefined
  readonly which: 'before' | 'after' | undefined
}

/**
 * Looks at what a trial has left: the state before or the state after, whole; and the next import
 * succeeds and gives the state after. It is tried on a copy of the files as they were left, so that
 * nobody has recovered anything before it.
 */
export async function examine(tried: ImportCase): Promise<Finding> {
  const next = `${tried.db}.next`
  copyStore(tried.db, next)
  const state = await readState(tried.db, tried.isFirstLoad)
  const which = whichState(state, tried)
  const fault =
    (state.integrity === 'ok' ? undefined : `integrity_check: ${state.integrity}`) ??
    (which === undefined ? `neither state: ${difference(state, tried)}` : undefined) ??
    (await faultOfVerify(tried.db, state)) ??
    (await faultOfNext(tried, next))
  removeStore(next)
  return { found: `the state ${which ?? 'of neither'}`, fault, which }
}

function difference(state: StoreState, { before, after }: ImportCase): string {
  const parts = ['tables', 'log', 'served', 'schema', 'version'] as const
  const unlike = (other: StoreState) => parts.filter((part) => state[part] !== other[part])
  return `not before (${unlike(before).join(', ')}), not after (${unlike(after).join(', ')})`
}

async function faultOfVerify(db: string, { schema }: StoreState): Promise<string | undefined> {
  if (!hasVerify || schema === '') return undefined
  // In this process: starting another one would take longer than what it has to look at.
  const { faults } = await verifyStore(db)
  return faults.length === 0 ? undefined : `verify: ${faults.join('; ')}`
}

async function faultOfNext(tried: ImportCase, db: string): Promise<string | undefined> {
  const ended = await runDossier(tried.args(db))
  if (ended.code !== 0) return `the next import ${describeEnd(ended)}`
  const state = await readState(db, tried.isFirstLoad)
  if (state.integrity !== 'ok') return `integrity_check after the next import: ${state.integrity}`
  if (isSameRegistry(state, tried.after)) return undefined
  return `the next import gives another state: ${difference(state, tried)}`
}
