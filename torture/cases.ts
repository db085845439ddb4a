// The imports that are tortured: a first load and an update with removals, of companies and of
// records; each with the state before it and the state after it.

import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { writeExtract } from './extracts.ts'
import type { Ground } from './outcome.ts'
import { mustRun } from './processes.ts'
import type { StoreState } from './store-state.ts'

/** How long an import takes undisturbed, and when it does what. */
export interface Course {
  readonly durationMs: number
}

/** Stores of one kind: how they are put in place, and how they are looked at. */
export interface Stores {
  /** The path or URL of a store of the case in this folder. */
  at(folder: string, name: string): string
  /** Has nothing there, as before a first load. */
  clear(db: string): void | Promise<void>
  /** Makes `to` what a reboot would leave of `from`. */
  copy(from: string, to: string): void | Promise<void>
  /**
   * Reads all of a store, and nothing but its committed state.
   *
   * @param isMadeAnew leaves out what differs between two first loads, such as a random id.
   */
  readState(db: string, isMadeAnew: boolean): Promise<StoreState>
  /** What imports that have ended have not let go of; undefined where there is nothing. */
  faultOfRest(db: string): Promise<string | undefined>
}

/** Stores on which the course of an import can be followed. */
export interface WatchedStores<C extends Course> extends Stores {
  /** Runs an import undisturbed, and watches it. */
  measure(db: string, args: readonly string[]): Promise<C>
  /** The cases that have been made of them. */
  readonly cases: Map<string, Promise<ImportCase<C>>>
}

/** An import that can be begun any number of times from the same state. */
export interface ImportCase<C extends Course = Course> {
  readonly name: string
  /** A first load begins without a store. */
  readonly isFirstLoad: boolean
  readonly before: StoreState
  readonly after: StoreState
  readonly course: C
  /** Its files, and nothing else. */
  readonly folder: string
  readonly stores: Stores
  /** The store that it is tried on. */
  readonly db: string
  /** The arguments of `dossier` for this import into a store. */
  args(db: string): string[]
  /** Puts the state before it in place. */
  reset(): Promise<void>
}

type Target = 'companies' | 'events'
export type CaseName = `${Target}, ${'first load' | 'update'}`

/** A case: its files, the state before, and by doing it once the state after; once for a folder. */
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
  const args = load(isFirstLoad ? 'first' : 'second')
  const reset = async () => stores.copy(prepared, db)
  await reset()
  const before = await stores.readState(db, isFirstLoad)
  const course = await stores.measure(db, args(db))
  const after = await stores.readState(db, isFirstLoad)
  return { name, isFirstLoad, before, after, course, folder, stores, db, args, reset }
}

function dateOf(extract: 'first' | 'second'): string {
  return extract === 'first' ? '2025-02-27' : '2025-02-28'
}
