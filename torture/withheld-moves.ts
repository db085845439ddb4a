// `kill -9` of an import that brings a withheld person to other companies and under another name:
// afterwards the store and its list agree, and whom the list tells of is nowhere.

import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { writeRows } from '../test/support/import-rows.ts'
import { storeBytes } from '../test/support/store-state.ts'
import type { Stores } from './cases.ts'
import { fileStores } from './file-stores.ts'
import { harmOften, type Moment, type Trial } from './moments.ts'
import { type Campaign, faultOfVerify, firstFault, type Ground, type Outcome } from './outcome.ts'
import { type Cluster, onCluster } from './postgres-cluster.ts'
import { sessionsOf } from './postgres-steps.ts'
import { createPostgresStores } from './postgres-stores.ts'
import { describeEnd, mustRun, runHere, startDossier } from './processes.ts'

const person = '770412345678'
const [name, later] = ['Zsofia Nemespataki', 'Z. Aranyosmaroti']
/** What tells who she is, as a store has it: words of names are in lower case. */
const tells = [person, 'nemespataki', 'aranyosmaroti']

/** Stores of one kind, and their lists. */
interface Place extends Pick<Stores, 'at' | 'clear' | 'copy' | 'faultOfRest'> {
  /** The list of a store, as text. */
  list(db: string): Promise<string>
  /** Whether the import has added to the list, and has not ended. */
  isCommitting(db: string): Promise<boolean>
}

/** Kills such imports into a file. */
export const moveWithheld: Campaign = (ground) => {
  const listOf = (db: string) => db.replace(/\.db$/, '-withheld.ndjson')
  const list = (db: string) => (existsSync(listOf(db)) ? readFileSync(listOf(db), 'utf8') : '')
  return killMoves(ground, {
    ...fileStores,
    async copy(from, to) {
      await fileStores.copy(from, to)
      copyFileSync(listOf(from), listOf(to))
    },
    list: (db) => Promise.resolve(list(db)),
    async isCommitting(db) {
      await nextTurn()
      return list(db).includes('"finds"')
    },
  })
}

/** Kills such imports into PostgreSQL. */
export const moveWithheldInPostgres: Campaign = (ground) =>
  onCluster('an import of a withheld person into PostgreSQL', (cluster) =>
    killMoves(ground, placeIn(cluster)),
  )

function placeIn(cluster: Cluster): Place {
  return {
    ...createPostgresStores(cluster),
    async list(db) {
      const { out } = await mustRun(['withhold', 'list', '--json', '--db', db])
      return out
    },
    async isCommitting(db) {
      const sessions = await sessionsOf(cluster, db)
      return sessions.some(({ query }) => /^\s*(insert into \S+\.entries|commit)\b/i.test(query))
    },
  }
}

/** A store with an order on a person, and the import that brings her elsewhere. */
interface Move extends Place {
  readonly kind: string
  readonly db: string
  readonly args: readonly string[]
  reset(): Promise<void>
}

async function* killMoves(ground: Ground, place: Place): AsyncGenerator<Outcome> {
  const { random, isShort } = ground
  const moves: Move[] = []
  for (const kind of isShort ? [random.pick(['mask', 'erase'])] : ['mask', 'erase']) {
    moves.push(await makeMove(ground, place, kind))
  }
  const [move] = moves
  if (move === undefined) return
  await move.reset()
  const { ms } = isShort ? { ms: 0 } : await startDossier(move.args).ended
  const phases = [
    { name: 'its start', chance: isShort ? 0 : 40, spanMs: ms },
    { name: 'it told its list', chance: isShort ? 100 : 60, spanMs: 30 },
  ] as const
  yield* harmOften(random, ground.kills, phases, (moment) =>
    killOnce(random.pick(moves), moment, random.pick(['migrate', 'import'])),
  )
}

async function makeMove({ folder, rows }: Ground, place: Place, kind: string): Promise<Move> {
  const own = join(folder, `moves-${kind}`)
  mkdirSync(own, { recursive: true })
  const of = (file: string) => join(own, file)
  const [prepared, db] = [place.at(own, 'prepared'), place.at(own, 'registry')]
  await place.clear(prepared)
  const load = (target: string, file: string, month: number, at: string) => [
    ...['import', target, of(file), '--as-of', `2026-0${month}-01`, '--accept', '--db', at],
    ...(target === 'employees' ? ['--history'] : []),
  ]
  writeRows(of('registers.ndjson'), companies())
  writeRows(of('first.ndjson'), employees(rows, 1))
  writeRows(of('second.ndjson'), employees(rows, 2))
  await mustRun(load('companies', 'registers.ndjson', 1, prepared))
  await mustRun(load('employees', 'first.ndjson', 1, prepared))
  const subject = ['employees', `identifier=${person}`, '--reason', 'a trial', '--by', 'torture']
  await mustRun(['withhold', kind, ...subject, '--yes', '--db', prepared])
  const args = load('employees', 'second.ndjson', 2, db)
  const reset = async () => {
    await place.copy(prepared, db)
  }
  return { ...place, kind, db, args, reset }
}

/** Companies of which some say who has been there, although no record does yet. */
function companies(): object[] {
  return Array.from({ length: 40 }, (_, n) => ({
    ...{ jurisdiction: 'GB', identifier: `C${n}`, seat: `Road ${n}` },
    name: n === 2 ? `${name} Ltd` : `Company ${n}`,
    ...(n === 1 ? { contact: `c/o ${name}`, [name]: 'owner' } : {}),
    ...(n === 3 ? { contact: [`${later}, 1980`] } : {}),
  }))
}

/** In the second extract, she is in companies 1 and 2, in an unknown one, and is who was in 3. */
function employees(rows: number, round: 1 | 2): object[] {
  const of = (company: string) => ({
    ...{ company_jurisdiction: 'GB', company_identifier: company },
  })
  const others = Array.from({ length: rows }, (_, n) => {
    const key = { key: String(n), identifier: String(n), name: `Person ${n}` }
    return { ...of(`C${n % 40}`), ...key, position: `Position ${round} ${'x'.repeat(n % 300)}` }
  })
  const at = (company: string, called: string, isHer = true) => ({
    ...{ ...of(company), key: `${isHer ? person : 'her'}/${company}`, name: called },
    ...(isHer ? { identifier: person } : {}),
  })
  const own =
    round === 1
      ? [at('C0', name), at('C3', later, false)]
      : ['C0', 'C1', 'C2', 'C99'].map((company) => at(company, name))
  const told = round === 1 ? [] : [{ ...at('C3', later, false), identifier: person }]
  return [...others, ...own, ...told]
}

/** @param next the next command that writes. */
async function killOnce(
  move: Move,
  { phase, delayMs }: Moment<'its start' | 'it told its list'>,
  next: 'migrate' | 'import',
): Promise<Trial> {
  const { kind, db, args } = move
  await move.reset()
  const { child, ended } = startDossier(args)
  while (phase !== 'its start' && child.exitCode === null && !(await move.isCommitting(db)));
  if (delayMs > 0) await Promise.race([sleep(delayMs), ended])
  child.kill('SIGKILL')
  const end = await ended
  const rest = await move.faultOfRest(db)
  const shown = await runHere(['imports', '--json', '--db', db])
  const isBehind = shown.err.includes('is behind')
  const first = await runHere(next === 'migrate' ? ['migrate', '--db', db] : args)
  const isTold = (await move.list(db)).includes('"finds"')
  const faultAfter = await faultOfStore(move, isTold)
  const again = await runHere(args)
  const list = await move.list(db)
  const fault = firstFault(
    rest,
    shown.code === 0 || isBehind ? undefined : describeEnd(shown),
    first.code === 0 ? undefined : `${next} ${describeEnd(first)}`,
    end.out.includes('Committed') && !isTold ? 'it had said Committed' : undefined,
    faultAfter,
    again.code === 0 ? undefined : `the import ${describeEnd(again)}`,
    await faultOfStore(move, true),
    (await runHere(args)).code === 0 ? undefined : 'the same again failed',
    list === (await move.list(db)) ? undefined : 'the list grew although nothing is new',
  )
  const found = `${isTold ? 'told' : 'not told'}${isBehind ? ', behind' : ''}; then ${next}`
  const what = `${kind}: killed ${delayMs.toFixed(1)} ms after ${phase}`
  return { outcome: { what, found, fault }, isLate: end.signal !== 'SIGKILL' }
}

/** @param isTold whether the list tells of her elsewhere; else she may still be there. */
async function faultOfStore({ db }: Move, isTold: boolean): Promise<string | undefined> {
  await mustRun(['compact', '--db', db])
  const text = (await storeBytes(db)).toString('latin1').toLowerCase()
  const left = tells.filter((one) => text.includes(one))
  return firstFault(
    await faultOfVerify(db),
    isTold && left.length > 0 ? `the store has ${left.join(', ')}` : undefined,
    left.includes(person) ? 'the store has her number' : undefined,
  )
}
