// `kill -9` and failing disks during `dossier withhold`: afterwards the store and its list agree,
// or the store is behind the list, and the next command that writes brings it up. `kill -9` of the
// lift of an order, and of the restore of a backup from before it.

import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { writeRows } from '../test/support/import-rows.ts'
import { storeBytes } from '../test/support/store-state.ts'
import { type Campaign, faultOfVerify, firstFault, type Ground, type Outcome } from './outcome.ts'
import { describeEnd, faultOfRefusal, isDone, mustRun, runDossier, runHere } from './processes.ts'
import { copyStore, removeStore } from './store-files.ts'
import { type Met, metAtCalls } from './traced-calls.ts'

const person = '770412345678'

/** A store with a person in several companies, and a copy of it. */
interface Held {
  readonly what: string
  readonly db: string
  readonly list: string
  readonly folder: string
  args(db: string): string[]
  reset(): Promise<void>
}

/** Kills a withholding, and makes its writes fail; kills what comes after it. */
export const disturbWithholding: Campaign = async function* (ground) {
  const held = await makeHeld(ground)
  const calls = ['pwrite64', 'fsync', 'ftruncate']
  const chosen = ground.isShort ? [ground.random.pick(calls)] : calls
  const effects = Object.fromEntries(
    chosen.map((call) => [call, ['kill', 'EIO', 'ENOSPC'] as const]),
  )
  yield* metAtCalls(ground, held, effects, (met) => disturb(held, met))
  if (ground.isShort) return
  const killing = {
    write: ['kill'],
    pwrite64: ['kill'],
    fsync: ['kill'],
    rename: ['kill'],
  } as const
  for (const later of await makeLater(held)) {
    yield* metAtCalls(ground, later, killing, (met) => disturb(later, met))
  }
}

const told = ['--reason', 'a trial', '--by', 'torture']

async function makeHeld({ folder: parent, rows }: Ground): Promise<Held> {
  const folder = join(parent, 'withholding')
  mkdirSync(folder, { recursive: true })
  const of = (name: string) => join(folder, name)
  const [db, base, list] = [of('store.db'), of('base.db'), of('store-withheld.ndjson')]
  for (const round of [1, 2]) {
    const path = writeRows(of(`${round}.ndjson`), employees(rows, round))
    const history = ['--as-of', `2026-0${round}-01`, '--history']
    await mustRun(['import', 'employees', path, '--db', base, ...history, '--accept'])
  }
  return {
    ...{ what: 'withholding', db, list, folder },
    args: (at) => [
      ...['withhold', 'erase', 'employees', `identifier=${person}`, '--db', at, ...told, '--yes'],
    ],
    reset() {
      removeStore(db)
      copyStore(base, db)
      rmSync(list, { force: true })
      return Promise.resolve()
    },
  }
}

/** The lift, and the restore of a backup that has the person in another company, too. */
async function makeLater(held: Held): Promise<Held[]> {
  const { db, list, folder } = held
  const of = (name: string) => join(folder, name)
  const [backup, taken, ordered] = [of('backup.db'), of('taken.db'), of('ordered.db')]
  const moved = { key: 'moved', company_jurisdiction: 'GB', company_identifier: 'C99' }
  const path = writeRows(of('3.ndjson'), [{ ...moved, identifier: person, name: 'Jane Doe' }])
  await held.reset()
  await mustRun(['import', 'employees', path, '--db', db, '--no-history'])
  await mustRun(['backup', taken, '--db', db])
  await held.reset()
  await mustRun(held.args(db))
  copyStore(db, ordered)
  copyFileSync(list, of('list'))
  const reset = () => {
    for (const name of readdirSync(folder)) if (name.includes('-replaced-')) rmSync(of(name))
    copyStore(taken, backup)
    copyStore(ordered, db)
    copyFileSync(of('list'), list)
    return Promise.resolve()
  }
  const lift = (at: string) => ['withhold', 'lift', '1', '--db', at, ...told]
  const restore = (at: string) => ['restore', backup, '--yes', '--db', at]
  return [
    { ...held, what: 'lift', args: lift, reset },
    { ...held, what: 'restore', args: restore, reset },
  ]
}

function employees(rows: number, round: number): object[] {
  return Array.from({ length: rows }, (_, n) => {
    const isPerson = n % 97 === 5
    return {
      key: `${isPerson ? person : n}/${n}`,
      ...{ company_jurisdiction: 'GB', company_identifier: `C${n % 40}` },
      ...{ identifier: isPerson ? person : String(n), name: isPerson ? 'Jane Doe' : `Person ${n}` },
      position: `Position ${round} ${'x'.repeat(n % 300)}`,
    }
  })
}

async function disturb(held: Held, { what, wrapper }: Met): Promise<Outcome> {
  const known = new Set(readdirSync(held.folder))
  const ended = await runDossier(held.args(held.db), { wrapper })
  const isListed = existsSync(held.list) && readFileSync(held.list, 'utf8').split('\n').length > 2
  const before = await runHere(['imports', '--json', '--db', held.db])
  const isBehind = before.err.includes('is behind')
  const next = await runHere(['migrate', '--db', held.db])
  // Pages of the file may keep bytes that no row has, as the command says.
  if (next.code === 0) await runHere(['compact', '--db', held.db])
  const isGone = !(await storeBytes(held.db)).includes(person)
  const left = readdirSync(held.folder).filter(
    (name) =>
      !known.has(name) &&
      !name.startsWith('store.db-') &&
      readFileSync(join(held.folder, name)).includes(person),
  )
  return {
    what: `${held.what}: ${what}`,
    found: `${describeEnd(ended)}; ${isListed ? 'listed' : 'not listed'}${isBehind ? ', behind' : ''}`,
    fault: firstFault(
      next.code === 0 ? undefined : `the next command ${describeEnd(next)}`,
      await faultOfVerify(held.db),
      isGone === isListed ? undefined : `it is ${isGone ? '' : 'not '}gone from the store`,
      left.length === 0 ? undefined : `it is left in ${left.join(', ')}`,
      isBehind && !isListed ? 'it is behind a list without the order' : undefined,
      isDone(ended) && !isListed ? 'it said that it had withheld' : undefined,
      isDone(ended) || ended.signal === 'SIGKILL' ? undefined : faultOfRefusal(ended),
    ),
  }
}
