// Random courses of an operator with people and companies whose words occur nowhere else: whatever
// is imported, taken back, pruned and restored, what is withheld is in no answer, output or file.

import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createRandom, isoDay, type Random } from '../src/demo/random.ts'
import { writeRows } from '../test/support/import-rows.ts'
import { storeAt } from '../test/support/store-at.ts'
import { keepStore } from '../test/support/store-state.ts'
import { createSearch } from './canary-names.ts'
import { forgetPast, lift, type Order, pickOrder, wordsGone } from './canary-orders.ts'
import {
  findId,
  findShownId,
  searchAnswers,
  searchOutput,
  searchFiles,
  type Site,
  versionOf,
} from './canary-places.ts'
import {
  type Extract,
  extractCompanies,
  extractRecords,
  makeWorld,
  type Person,
  type World,
} from './canary-world.ts'
import type { Campaign, Ground, Outcome } from './outcome.ts'
import { type Cluster, onCluster } from './postgres-cluster.ts'
import { createPostgresStores } from './postgres-stores.ts'
import { describeEnd, type Ended, runHere } from './processes.ts'
import { serve } from './serving.ts'

/** Stores of one kind. */
interface Place {
  /** Returns the path or URL of an empty store. */
  make(folder: string): string | Promise<string>
  /** Copies the store; returns a function that restores the copy. */
  keep(course: Course): Promise<() => Promise<void>>
}

interface Course extends Site {
  readonly random: Random
  readonly place: Place
  /** A folder for what the operator has besides the store. */
  readonly own: string
  world: World
  readonly orders: Order[]
  /** Copies of the store, with their worlds. */
  readonly kept: { readonly world: World; readonly restore: () => Promise<void> }[]
  /** The commands so far, and how they ended. */
  readonly told: string[]
  /** The day of the last extract, in January 2020. */
  day: number
  readonly isShort: boolean
}

/** Such courses with stores in files. */
export const plantCanaries: Campaign = (ground) =>
  runCourses(ground, {
    make: (folder) => join(folder, 'registry.db'),
    async keep(course) {
      const path = join(course.own, `${course.told.length}.db`)
      await run(course, 'backup', path)
      return () => restoreFile(course, path)
    },
  })

async function restoreFile(course: Course, path: string): Promise<void> {
  const { folder, own, kept, told, world } = course
  await run(course, 'restore', path, '--yes')
  // What was replaced may be restored, too.
  const name = readdirSync(folder).find((one) => one.includes('-replaced-'))
  if (name === undefined) return
  const replaced = join(own, `${told.length}.db`)
  renameSync(join(folder, name), replaced)
  kept.push({ world, restore: () => restoreFile(course, replaced) })
}

/** Such courses in PostgreSQL; in a short form, in that of the suite. */
export const plantCanariesInPostgres: Campaign = (ground) =>
  ground.isShort
    ? runCourses(
        ground,
        inPostgres((folder) => storeAt(join(folder, 'registry.db'))),
      )
    : onCluster('a course in PostgreSQL', (cluster) => runCourses(ground, placeIn(cluster)))

function placeIn(cluster: Cluster): Place {
  const stores = createPostgresStores(cluster)
  return inPostgres(async (folder) => {
    const db = stores.at(folder, 'registry')
    await stores.clear(db)
    return db
  })
}

const inPostgres = (make: Place['make']): Place => ({
  make,
  async keep(course) {
    const bringBack = await keepStore(course.db, `kept_${course.kept.length}`)
    return async () => {
      await course.served?.stop()
      await bringBack()
      await run(course, 'migrate')
      await startServer(course)
    }
  },
})

async function* runCourses(ground: Ground, place: Place): AsyncGenerator<Outcome> {
  const count = ground.isShort ? 1 : Math.ceil(ground.kills / 2)
  for (let n = 0; n < count; n += 1) yield await runCourse(ground, place, ground.seed + n)
}

async function runCourse(ground: Ground, place: Place, seed: number): Promise<Outcome> {
  const of = (name: string) => join(ground.folder, `canaries-${seed}`, name)
  const [folder, own] = [of('store'), of('own')]
  for (const one of [folder, own]) mkdirSync(one, { recursive: true })
  const random = createRandom(seed)
  const course: Course = {
    ...{ random, place, folder, own, db: await place.make(folder), isShort: ground.isShort },
    ...{ served: undefined, answers: new Map(), cursors: new Set(), ids: new Set() },
    ...{ world: makeWorld(random), orders: [], kept: [], told: [], day: 0 },
  }
  const fault = await followCourse(course).then(
    () => undefined,
    (error: unknown) => [String(error), ...course.told].join('\n').replaceAll(of('.'), ''),
  )
  if (fault === undefined) rmSync(of('.'), { recursive: true })
  const found = `${course.told.length} commands, ${course.orders.length} orders`
  return { what: `a course of seed ${seed}`, found, fault }
}

/** @throws at the first fault. */
async function followCourse(course: Course): Promise<void> {
  const { random, isShort } = course
  try {
    while (!(await importExtract(course, extractCompanies)));
    await startServer(course)
    for (let n = 0; n < 3; n += 1) await importExtract(course, extractRecords)
    const count = isShort ? 3 : random.integer(8, 24)
    for (let n = 0; n < count; n += 1) {
      await random.pick(steps)(course)
      if (!isShort && random.oneIn(5)) await lookAtAnswers(course)
    }
    await withhold(course)
    await lookEverywhere(course)
  } finally {
    const log = await course.served?.stop()
    searchOf(course).search('the log of the server', log?.replace(/"path":"[^"]*"/g, '') ?? '')
  }
}

/** Runs a command on the store. */
async function run({ told, db }: Course, ...args: readonly string[]): Promise<Ended> {
  const ended = await runHere([...args, '--db', db])
  const { code, err } = ended
  told.push(`dossier ${args.join(' ')}${code === 0 ? '' : ` ${describeEnd(ended)}`}`)
  assert.ok(code === 0 || (code === 1 && err.includes('dossier: ')), 'the last command failed')
  return ended
}

const exportsOf = ({ folder }: Site) => join(folder, 'exports')

async function startServer(course: Course): Promise<void> {
  const patient = ['--delay-ms-max', '60000', '--wait-ms', '20000', '--statement-ms', '20000']
  const options = [...patient, '--pool', '2', '--usage-db', 'none', '--exports', exportsOf(course)]
  course.served = await serve(course.db, options, course.served?.key)
}

type Step = (course: Course) => Promise<unknown>

/** @returns whether it was imported. */
async function importExtract(
  course: Course,
  extract: (world: World, random: Random) => Extract,
  isSnapshot = course.random.oneIn(2),
): Promise<boolean> {
  const { random, own, told } = course
  const next = structuredClone(course.world)
  const { target, source, rows } = extract(next, random)
  course.day += 1
  const path = writeRows(join(own, `${told.length}.ndjson`), rows)
  const dated = ['--as-of', isoDay(Date.UTC(2020, 0, course.day))]
  const recordings: Readonly<Record<string, readonly string[][]>> = {
    companies: [dated, dated, [...dated, '--record-first'], ['--no-history']],
    employees: [[...dated, '--history'], ['--no-history']],
  }
  const options = [isSnapshot ? ['--snapshot'] : [], random.pick(recordings[target] ?? [[]])]
  const from = ['--source', source, '--accept', ...options.flat()]
  const { code } = await run(course, 'import', target, path, ...from)
  if (code === 0) course.world = next
  return code === 0
}

const asked = ['--reason', 'a trial', '--by', 'torture']

/** Gives an order, and looks at answers before and after it, so that there are old ones. */
async function withhold(course: Course): Promise<void> {
  const { world, orders, random, isShort } = course
  await lookAtAnswers(course)
  const wish = await pickOrder(world, orders, random, (person) => findId(course, world, person))
  if (wish === undefined) return
  const { subject, words } = wish
  const options = [...asked, '--yes', '--exports', exportsOf(course)]
  const { code, out, err } = await run(course, 'withhold', ...words, ...options)
  const number = Number(/as order (\d+)/.exec(out)?.[1])
  if (code === 0) orders.push({ number, subject, isLifted: false })
  else assert.ok(err.includes('nothing was withheld'), err)
  if (!isShort) await (random.oneIn(3) ? lookEverywhere : lookAtAnswers)(course)
}

async function liftOne(course: Course): Promise<void> {
  const { orders, random, world } = course
  const inForce = orders.filter(({ isLifted }) => !isLifted)
  if (inForce.length === 0) return
  const order = random.pick(inForce)
  const { code } = await run(course, 'withhold', 'lift', String(order.number), ...asked)
  if (code === 0) lift(world, order)
}

/** Takes back up to three versions. */
async function revert(course: Course): Promise<void> {
  const to = (await versionOf(course)) - course.random.integer(1, 3)
  if (to > 0) await run(course, 'revert', '--to', String(to))
}

async function prune(course: Course): Promise<void> {
  const { world, orders } = course
  await run(course, 'prune', '--keep', '0d', '--yes')
  const isShown = async (one: Person) => (await findShownId(course, world, one)) !== undefined
  await forgetPast(world, orders, isShown)
}

/** Drops people, so that only their keys are left, and then withholds somebody. */
async function dropAndPrune(course: Course): Promise<void> {
  for (let n = 0; n < 3; n += 1) {
    await importExtract(course, (...given) => extractRecords(...given, 2), true)
  }
  await prune(course)
  if (course.random.oneIn(2)) await keep(course)
  await withhold(course)
}

async function keep(course: Course): Promise<void> {
  const world = structuredClone(course.world)
  course.kept.push({ world, restore: await course.place.keep(course) })
}

async function restore(course: Course): Promise<void> {
  if (course.kept.length === 0) return
  const kept = course.random.pick(course.kept)
  await kept.restore()
  course.world = structuredClone(kept.world)
}

const removeSource: Step = (course) => {
  const resource = course.random.pick(['companies', 'employees', 'events', 'rights'])
  const source = course.random.pick(['a', 'b'])
  return run(course, 'sources', 'remove', source, '--resource', resource, '--yes')
}

/** The steps of a course, the usual ones more often. */
const steps: readonly Step[] = [
  ...Array<Step>(9).fill((course) => importExtract(course, extractRecords)),
  ...Array<Step>(5).fill((course) => importExtract(course, extractCompanies)),
  ...Array<Step>(5).fill(withhold),
  ...[liftOne, liftOne, revert, prune, dropAndPrune, dropAndPrune, keep, restore, removeSource],
  (course) => run(course, 'export', exportsOf(course), '--format', 'ndjson.zst,csv.zst'),
]

/** The words that must be gone, and a search for any of them. */
function searchOf({ world, orders }: Course) {
  const gone = wordsGone(world, orders)
  return { gone, search: createSearch(gone) }
}

const lookAtAnswers: Step = (course) =>
  searchAnswers(course, course.world, course.random, searchOf(course))

/** Looks at answers, at what commands print, and at the compacted files. */
async function lookEverywhere(course: Course): Promise<void> {
  const { search } = searchOf(course)
  await run(course, 'compact', '--exports', exportsOf(course))
  await lookAtAnswers(course)
  await searchOutput(course, course.world, course.random, search)
  await searchFiles(course, search)
}
