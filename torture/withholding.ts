// `kill -9` and failing disks during `dossier withhold`: afterwards the store and its list agree,
// or the store is behind the list, and the next command that writes brings it up.

import { closeSync, existsSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { verifyStore } from '../test/support/verify-store.ts'
import { type Campaign, firstFault, type Ground, type Outcome, spread } from './outcome.ts'
import {
  describeEnd,
  type Ended,
  faultOfRefusal,
  mustRun,
  runDossier,
  runHere,
} from './processes.ts'
import { copyStore, removeStore } from './store-files.ts'
import { canTrace, countCalls, interfere, whyNoTrace } from './traced-calls.ts'

const person = '770412345678'
const calls = ['pwrite64', 'fsync', 'ftruncate'] as const

/** A store with a person in several companies, and a copy of it. */
interface Held {
  readonly db: string
  readonly list: string
  readonly folder: string
  args(db: string): string[]
  reset(): Promise<void>
}

/** Kills a withholding, and makes its writes fail. */
export const disturbWithholding: Campaign = async function* (ground) {
  if (!canTrace) {
    yield { what: 'a withholding that is killed', found: whyNoTrace, isSkipped: true }
    return
  }
  const held = await makeHeld(ground)
  const counts = await countCalls(held, calls)
  const { random, isShort } = ground
  const first = random.pick([0, 1])
  for (const [index, call] of calls.entries()) {
    const count = counts.get(call) ?? 0
    const chosen = (most: number) =>
      isShort ? [random.integer(1, Math.max(1, count))] : spread(1, count, most)
    // In a short form, calls kill and fail in turn.
    const isFor = (turn: 0 | 1) => !isShort || (index + first) % 2 === turn
    for (const n of isFor(0) ? chosen(60) : []) {
      yield await disturb(held, `killed at ${call} ${n} of ${count}`, call, `signal=KILL:when=${n}`)
    }
    for (const n of isFor(1) ? chosen(30) : []) {
      for (const error of isShort ? ['ENOSPC'] : ['EIO', 'ENOSPC']) {
        for (const from of isShort ? [random.pick(['', '+'])] : ['', '+']) {
          const effect = `error=${error}:when=${n}${from}`
          yield await disturb(held, `${call} of ${count} with ${effect}`, call, effect)
        }
      }
    }
  }
}

async function makeHeld({ folder, rows }: Ground): Promise<Held> {
  const of = (name: string) => join(folder, `withholding-${name}`)
  const [db, base, list] = [of('store.db'), of('base.db'), of('store-withheld.ndjson')]
  for (const round of [1, 2]) {
    const path = of(`${round}.ndjson`)
    writeEmployees(path, rows, round)
    const history = ['--as-of', `2026-0${round}-01`, '--history']
    await mustRun(['import', 'employees', path, '--db', base, ...history, '--accept'])
  }
  return {
    ...{ db, list, folder },
    args: (at) => [
      ...['withhold', 'erase', 'employees', `identifier=${person}`, '--db', at],
      ...['--reason', 'a trial', '--by', 'torture', '--yes'],
    ],
    reset() {
      removeStore(db)
      copyStore(base, db)
      rmSync(list, { force: true })
      return Promise.resolve()
    },
  }
}

function writeEmployees(path: string, rows: number, round: number): void {
  const file = openSync(path, 'w')
  for (let n = 0; n < rows; n++) {
    const isPerson = n % 97 === 5
    const row = {
      key: `${isPerson ? person : n}/${n}`,
      ...{ company_jurisdiction: 'GB', company_identifier: `C${n % 40}` },
      ...{ identifier: isPerson ? person : String(n), name: isPerson ? 'Jane Doe' : `Person ${n}` },
      position: `Position ${round} ${'x'.repeat(n % 300)}`,
    }
    writeSync(file, `${JSON.stringify(row)}\n`)
  }
  closeSync(file)
}

async function disturb(held: Held, what: string, call: string, effect: string): Promise<Outcome> {
  await held.reset()
  const ended = await runDossier(held.args(held.db), { wrapper: interfere(call, effect) })
  const isListed = existsSync(held.list) && readFileSync(held.list, 'utf8').split('\n').length > 2
  const before = await runHere(['imports', '--json', '--db', held.db])
  const isBehind = before.err.includes('is behind')
  const next = await runHere(['migrate', '--db', held.db])
  // Pages of the file may keep bytes that no row has, as the command says.
  if (next.code === 0) await runHere(['compact', '--db', held.db])
  const { faults } = await verifyStore(held.db)
  const isGone = !bytesOf(held.db).includes(person)
  return {
    what: `withholding: ${what}`,
    found: `${describeEnd(ended)}; ${isListed ? 'listed' : 'not listed'}${isBehind ? ', behind' : ''}`,
    fault: firstFault(
      next.code === 0 ? undefined : `the next command ${describeEnd(next)}`,
      faults.length === 0 ? undefined : `verify: ${faults.join('; ')}`,
      isGone === isListed ? undefined : `it is ${isGone ? '' : 'not '}gone from the store`,
      isBehind && !isListed ? 'it is behind a list without the order' : undefined,
      faultOfEnd(ended, isListed),
    ),
  }
}

function faultOfEnd(ended: Ended, isListed: boolean): string | undefined {
  if (ended.code === 0) return isListed ? undefined : 'it said that it had withheld'
  return ended.signal === null ? faultOfRefusal(ended) : undefined
}

function bytesOf(db: string): string {
  const files = [db, `${db}-wal`].filter((path) => existsSync(path))
  return files.map((path) => readFileSync(path).toString('latin1')).join('')
}
