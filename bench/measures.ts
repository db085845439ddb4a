// The measures and their targets. Every ratio is computed from pairs of rounds in one run.

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { followChanges } from './changes.ts'
import { findCompanies, holdEventLoop, indexWords, nameInPath } from './companies.ts'
import { exportCopies } from './exports.ts'
import { type Figure, figure, type Measure } from './figures.ts'
import {
  dossier,
  eventsOf,
  folder,
  makeAllChanged,
  makeFile,
  makePeerStore,
  makeStore,
  removeStore,
  rightsOf,
  type Shape,
} from './files.ts'
import { compareExtracts, serveBesideImport } from './history.ts'
import * as processes from './processes.ts'
import { compare, residentMb, type Server, startBare, startDossier } from './processes.ts'
import { compareRefusals } from './refusals.ts'
import { revertAll, revertFew } from './revert.ts'
import { comparePages, makeViews, streamListings } from './selections.ts'
import { scanFilters, sizeOfStore } from './storage.ts'
import { withholdMuch, withholdPerson } from './withholding.ts'
import { twoWorkers } from './workers.ts'

const rounds = 5

/** Compares Dossier with a bare server that sends the same bytes. */
async function againstBare(
  what: string,
  shape: Shape,
  cacheMib: number,
  path: string,
  least: number,
): Promise<Figure[]> {
  const { db, key } = makeStore(shape)
  await using server = await startDossier(db, cacheMib)
  await using bare = await startBare(server, key, path.replace('{}', '1'))
  const question = { key, path, companies: shape.records / shape.listing }
  const { cpu } = await compare([server, question], [bare, question])
  return [figure(`${what}, by processor time`, '÷ bare', cpu, { least })]
}

const hotPage: Measure = (scale) =>
  againstBare(
    'one hot page of 100',
    rightsOf(1e6 * scale, 100),
    64,
    '/api/v1/companies/7/rights',
    0.65,
  )

const randomPath = '/api/v1/companies/{}/rights'

const randomPages =
  (listing: number, least: number): Measure =>
  (scale) => {
    const what = `random pages, listings of ${listing}, cache off`
    return againstBare(what, rightsOf(1e6 * scale, listing), 0, randomPath, least)
  }

/** Dossier beside what one would write by hand; ratios of processor time, as many times cheaper. */
const againstPeer =
  (listing: number, least: number): Measure =>
  async (scale) => {
    const shape = rightsOf(1e6 * scale, listing)
    const { db, key } = makeStore(shape)
    await using server = await startDossier(db, 0)
    await using peer = await processes.startScript('peer-server.ts', makePeerStore(shape), key)
    const question = { key, path: randomPath, companies: shape.records / listing }
    const { cpu } = await compare([server, question], [peer, question])
    const what = `random pages, listings of ${listing}, cache off, by processor time`
    return [figure(what, '÷ peer', cpu, { least })]
  }

/** Compares the last page of a listing of 1,000,000 events with its first. */
export async function compareLastPage(
  what: string,
  server: Server,
  key: string,
  scale: number,
): Promise<Figure[]> {
  // One connection, so that latency does not include queueing.
  const page = (n: number) =>
    [server, { key, path: `/api/v1/companies/1/events?page=${n}`, connections: 1 }] as const
  const { latency } = await compare(page(1e4 * scale), page(1))
  return [figure(what, '÷ first (time)', latency, { most: 1.2 })]
}

const lastPage: Measure = async (scale) => {
  const { db, key } = makeStore(eventsOf(1e6 * scale))
  await using server = await startDossier(db, 0)
  return await compareLastPage('last page of 1,000,000', server, key, scale)
}

const manyRecords: Measure = async (scale) => {
  const path = '/api/v1/companies/{}/rights?limit=10'
  const many = makeStore(rightsOf(1e7 * scale, 100))
  const few = makeStore(rightsOf(1e5 * scale, 100))
  await using ofMany = await startDossier(many.db, 0)
  await using ofFew = await startDossier(few.db, 0)
  const { rate } = await compare(
    [ofMany, { key: many.key, path, companies: 1e5 * scale }],
    [ofFew, { key: few.key, path, companies: 1e3 * scale }],
  )
  return [figure('limit=10 of 10,000,000', '÷ of 100,000', rate, { least: 0.8 })]
}

const importing: Measure = async (scale) => {
  const figures: Figure[] = []
  for (const order of ['clustered', 'scattered'] as const) {
    const shape = rightsOf(1e6 * scale, 100, order)
    const file = makeFile(shape)
    const db = join(folder, 'import.db')
    const bare = join(folder, 'bare.db')
    const first: number[] = []
    const again: number[] = []
    const toBare: number[] = []
    const peakMb: number[] = []
    for (let round = 0; round < 3; round++) {
      removeStore(db)
      removeStore(bare)
      const loaded = await processes.importFile('rights', file, db)
      toBare.push(processes.insertBare(file, bare) / loaded.seconds)
      const repeated = await processes.importFile('rights', file, db)
      first.push(shape.records / loaded.seconds)
      again.push(shape.records / repeated.seconds)
      peakMb.push(loaded.peakMb, repeated.peakMb)
    }
    removeStore(db)
    removeStore(bare)
    const what = `import of 1,000,000, ${order}`
    figures.push(
      figure(what, 'records/s', first, { least: 60_000 }),
      figure(what, '÷ bare inserts', toBare, { least: 0.6 }),
      figure(`${what}, again`, 'records/s', again, { least: 100_000 }),
      figure(`${what}, memory`, 'MB', peakMb, { most: 350 }),
    )
  }
  return figures
}

const appending: Measure = async (scale) => {
  const shape = eventsOf(1e6 * scale)
  const file = makeFile(shape)
  const db = join(folder, 'append.db')
  removeStore(db)
  await processes.importFile('events', file, db)
  const seconds: number[] = []
  for (let round = 0; round < rounds; round++) {
    const from = shape.records + round * 1_000
    const more = makeFile({ ...shape, listing: 1e9, records: 1e9 }, from, from + 1_000)
    seconds.push((await processes.importFile('events', more, db)).seconds)
  }
  const { peakMb } = await processes.importFile('events', makeAllChanged(shape), db, ['--accept'])
  removeStore(db)
  return [
    figure('appending 1,000 events to 1,000,000', 's', seconds, { most: 1 }),
    figure('changing 1,000,000 events of a company, memory', 'MB', [peakMb], { most: 350 }),
  ]
}

const starting: Measure = async (scale) => {
  const { db, key } = makeStore(rightsOf(1e6 * scale, 100))
  const seconds: number[] = []
  const idleMb: number[] = []
  for (let round = 0; round < rounds; round++) {
    const port = processes.nextPort()
    const startedAt = performance.now()
    const child = spawn(dossier, ['serve', '--db', db, '--port', String(port)], { stdio: 'ignore' })
    await processes.untilAnswering(port, '/api/v1/companies/1/rights?limit=1', key)
    seconds.push((performance.now() - startedAt) / 1_000)
    await sleep(1_000)
    idleMb.push(residentMb(child.pid ?? 0, 'VmRSS'))
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill()
    await ended
  }
  return [
    figure('start to first answer', 's', seconds, { most: 0.4 }),
    figure('resident memory when idle', 'MB', idleMb, { most: 90 }),
  ]
}

/** Every measure, by the name that the command line takes. */
export const measures: Readonly<Record<string, Measure>> = {
  'hot-page': hotPage,
  'random-20': randomPages(20, 0.4),
  'random-100': randomPages(100, 0.3),
  'peer-20': againstPeer(20, 3.5),
  'peer-100': againstPeer(100, 5),
  'last-page': lastPage,
  import: importing,
  append: appending,
  start: starting,
  size: sizeOfStore,
  scan: scanFilters,
  'many-records': manyRecords,
  compare: compareExtracts,
  revert: revertAll,
  'revert-few': revertFew,
  beside: serveBesideImport,
  selections: comparePages,
  views: makeViews,
  streams: streamListings,
  changes: followChanges,
  exports: exportCopies,
  companies: findCompanies,
  'name-in-path': nameInPath,
  holds: holdEventLoop,
  words: indexWords,
  withholding: withholdPerson,
  'withholding-much': withholdMuch,
  workers: twoWorkers,
  refusals: compareRefusals,
  // Loaded on demand: it needs a browser.
  explorer: async () => (await import('./explorer.ts')).explore(),
  // Loaded on demand: it needs the PostgreSQL of the tests.
  postgres: async (scale) => (await import('./postgres.ts')).onPostgres(scale),
  // It needs a PostgreSQL with Citus.
  citus: async (scale) => (await import('./citus.ts')).onCitus(scale),
}
