// The imports under test: a first load, an update with removals and the revert of that, of
// companies and of records, and a restore, a prune and a compaction; each with the state before and
// after it.

import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { writeExtract } from './extracts.ts'
import type { Ground } from './outcome.ts'
import { mustRun } from './processes.ts'
import type { StoreState } from './store-state.ts'

/** The timing of an undisturbed import. */
export interface Course {
  readonly durationMs: number
}

/** Prepares and reads stores of one kind. */
export interface Stores {
  /** The path or URL of a store of the case in this folder. */
  at(folder: string, name: string): string
  /** Removes the store's contents, as before a first load. */
  clear(db: string): void | Promise<void>
  /** Makes `to` what would be left of `from` after a reboot. */
  copy(from: string, to: string): void | Promise<void>
  /**
   * Reads the whole committed state of a store.
   *
   * @param isMadeAnew leaves out what differs between two first loads, such as a random id.
   */
  readState(db: string, isMadeAnew: boolean): Promise<StoreState>
  /** Describes resources that ended imports still hold; undefined if there are none. */
  faultOfRest(db: string): Promise<string | undefined>
}

/** Stores on which the progress of an import can be observed. */
export interface WatchedStores<C extends Course> extends Stores {
  /** Runs an import undisturbed, and measures it. */
  measure(db: string, args: readonly string[]): Promise<C>
  /** The cases that have been made for these stores. */
  readonly cases: Map<string, Promise<ImportCase<C>>>
}

/** An import that can be repeated from the same state any number of times. */
export interface ImportCase<C extends Course = Course> {
  readonly name: string
  /** A first load starts without a store. */
  readonly isFirstLoad: boolean
  readonly before: StoreState
  readonly after: StoreState
  readonly course: C
  /** The folder of its files. */
  readonly folder: string
  readonly stores: Stores
  /** The store for the trials. */
  readonly db: string
  /** The arguments of `dossier` for this import into a store. */
  args(db: string): string[]
  /** Restores the state before the import. */
  reset(): Promise<void>
}

type Target = 'companies' | 'events'
export type CaseName =
  | `${Target}, ${'first load' | 'update' | 'revert'}`
  | `events, ${'restore' | 'prune' | 'compact'}`

/** Those of which each writes to files in its own way: for faults of the disk. */
export const writingCases: readonly CaseName[] = [
  'events, first load',
  'events, update',
  'events, revert',
  'companies, first load',
  'companies, update',
]

/**
 * Makes a case, once for each folder: writes its files, prepares the state before, and runs the
 * import once for the state after.
 */
export function makeCase<C extends Course>(
  ground: Ground,
  name: CaseName,
  stores: WatchedStores<C>,
): Promise<ImportCase<C>> {
  const key = `${ground.folder} ${name}`
  const known = stores.cases.get(key) ?? makeAnew(ground, name, stores)
  stores.cases.set(key, known)
  return known
}

async function makeAnew<C extends Course>(
  ground: Ground,
  name: CaseName,
  stores: WatchedStores<C>,
): Promise<ImportCase<C>> {
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
    ...(target === 'companies' ? ['--as-of', dateOf(extract)] : []),
  ]
  const prepared = stores.at(folder, 'prepared')
  const db = stores.at(folder, 'registry')
  await stores.clear(prepared)
  if (!isFirstLoad) await mustRun(load('first')(prepared))
  const [taken, backup] = [join(folder, 'taken.db'), join(folder, 'backup.db')]
  rmSync(taken, { force: true })
  if (kind === 'restore') await mustRun(['backup', taken, '--db', prepared])
  // All can be repeated, like an import.
  const revert = (store: string) => ['revert', '--to', '1', '--db', store]
  const restore = (store: string) => ['restore', backup, '--yes', '--db', store]
  const prune = (store: string) => ['prune', '--keep', '0d', '--yes', '--db', store]
  const compact = (store: string) => ['compact', '--db', store]
  const commands: Readonly<Record<string, typeof revert>> = { revert, restore, prune, compact }
  if (kind in commands) await mustRun(load('second')(prepared))
  if (kind === 'compact') await mustRun(prune(prepared))
  const args = commands[kind] ?? load(isFirstLoad ? 'first' : 'second')
  const reset = async () => {
    if (kind === 'restore') {
      for (const name of readdirSync(folder)) {
        if (name.startsWith('registry-replaced-')) rmSync(join(folder, name))
      }
      // A killed restore leaves the backup's log, and the next one would make fewer calls.
      await stores.copy(taken, backup)
    }
    await stores.copy(prepared, db)
  }
  await reset()
  const before = await stores.readState(db, isFirstLoad)
  const course = await stores.measure(db, args(db))
  const after = await stores.readState(db, isFirstLoad)
  return { name, isFirstLoad, before, after, course, folder, stores, db, args, reset }
}

function dateOf(extract: 'first' | 'second'): string {
  return extract === 'first' ? '2025-02-27' : '2025-02-28'
}
