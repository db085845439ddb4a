// What finding companies costs: requests by number, by words and for a company as a whole, how long
// any of them holds the event loop, and the index of words.

import { statSync } from 'node:fs'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { resources } from '../src/resources/index.ts'
import { openStoreReader } from '../src/store/open-store.ts'
import { exampleRecord } from '../scripts/openapi/records.ts'
import { type Figure, figure } from './figures.ts'
import {
  fill,
  firstWords,
  folder,
  makeCompanies,
  makeKey,
  makeOnce,
  removeStore,
  writeOnce,
} from './files.ts'
import {
  compare,
  importFile,
  type Question,
  type Server,
  startBare,
  startDossier,
} from './processes.ts'

/** How many of the companies have listings, and how many records of each resource. */
const withListings = 20_000
const recordsOfEach = 5
/** The listing of one company that is long enough to be counted beside the event loop. */
const longListing = 1_000_000

/** A store of companies, of which some have records of each resource. */
function makeRegistry(companies: number): { db: string; key: string } {
  const db = makeOnce(`registry-${companies}`, (part) => {
    fill(part, 'companies', makeCompanies(companies))
    for (const resource of resources) {
      const example = exampleRecord(resource)
      const line = (id: number, company: number) =>
        `${JSON.stringify({ company_id: company, ...example, id })}\n`
      const load = (name: string, records: number, lineOf: (n: number) => string) =>
        fill(part, resource.name, writeOnce(`${resource.name}-${name}.ndjson`, records, lineOf))
      const count = Math.min(companies, withListings) * recordsOfEach
      load(`of-${count}`, count, (n) => line(n + 1, 1 + Math.floor(n / recordsOfEach)))
      if (resource.metaOf === undefined) continue
      const long = Math.min(longListing, companies)
      load(`long-${long}`, long, (n) => line(count + n + 1, companies))
    }
  })
  return { db, key: makeKey(db) }
}

/** Requests for companies beside a bare server with the same bytes. */
export async function findCompanies(scale: number): Promise<Figure[]> {
  const companies = 1e6 * scale
  const { db, key } = makeRegistry(companies)
  const figures: Figure[] = []
  const cases: readonly [what: string, path: string, companies: number, least: number][] = [
    ['by number', '/api/v1/companies?identifier={}&jurisdiction=GB', companies, 0.4],
    ['by two words', '/api/v1/companies?q=own{}+tra', firstWords, 0.15],
    ['a company with five listings', '/api/v1/companies/{}', withListings, 0.25],
  ]
  const each = cases.flatMap((one) => [0, 64].map((cacheMib) => [...one, cacheMib] as const))
  for (const [what, path, some, least, cacheMib] of each) {
    await using server = await startDossier(db, cacheMib)
    await using bare = await startBare(server, key, path.replace('{}', '8'))
    const question = { key, path, companies: Math.min(some, companies) }
    const { cpu } = await compare([server, question], [bare, question])
    const how = `cache of ${cacheMib} MiB, by processor time`
    figures.push(figure(`${what}, ${how}`, '÷ bare', cpu, { least }))
  }
  return figures
}

/** A hot page whose company is named as in its register, relative to its id. */
export async function nameInPath(scale: number): Promise<Figure[]> {
  const { db, key } = makeRegistry(1e6 * scale)
  await using server = await startDossier(db, 64)
  const of = (company: string): [Server, Question] => [
    server,
    { key, path: `/api/v1/companies/${company}/rights`, companies: 100 },
  ]
  const { cpu } = await compare(of('{}'), of('GB:{}'))
  return [figure('GB:09876543 in the path of a hot page', '÷ its id (CPU)', cpu, { most: 1.05 })]
}

/** The longest time that a search or a company holds the event loop. */
export async function holdEventLoop(scale: number): Promise<Figure[]> {
  const companies = 1e6 * scale
  const { db } = makeRegistry(companies)
  const reader = await openStoreReader(db)
  const words = (...some: string[]) => reader.findCompanies({ words: some })
  const company = (companyId: number) =>
    reader.readCompany({ companyId, version: undefined, resources })
  const cases: readonly [what: string, read: () => unknown][] = [
    ['one letter', () => words('o')],
    ['the commonest word', () => words('limited')],
    ['two of the commonest words', () => words('limited', 'trading')],
    ['a common word and a letter', () => words('limited', 'o')],
    ['a common word and a digit', () => words('limited', '1')],
    ['a company with a listing of 1,000,000', () => company(companies)],
  ]
  const figures: Figure[] = []
  for (const [what, read] of cases) {
    const values: number[] = []
    for (let round = 0; round < 5; round++) values.push(await longestHold(read))
    figures.push(figure(`${what}: event loop held`, 'ms', values, { most: 20 }))
  }
  await reader.close()
  return figures
}

async function longestHold(read: () => unknown): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  await sleep(10)
  await read()
  await sleep(10)
  delay.disable()
  return delay.max / 1e6
}

/** The index of words: the import with it relative to one without names, and its size. */
export async function indexWords(scale: number): Promise<Figure[]> {
  const companies = 1e6 * scale
  const db = join(folder, 'words.db')
  const load = async (file: string) => {
    removeStore(db)
    return (await importFile('companies', file, db)).cpuSeconds
  }
  const [named, titled] = [makeCompanies(companies), makeCompanies(companies, 'title')]
  const values: number[] = []
  for (let round = 0; round < 3; round++) {
    // Not by another name attribute, for which the import would read all companies once more.
    const without = await load(titled)
    values.push((await load(named)) / without)
  }
  const store = new DatabaseSync(db, { readOnly: true })
  const sql = `select sum(pgsize) as bytes from dbstat where name = 'words'`
  const bytes = Number(store.prepare(sql).get()?.['bytes'])
  store.close()
  const index = `index of words, in a store of ${Math.round(statSync(db).size / 1e6)} MB`
  removeStore(db)
  const what = 'import of companies with the words of their names'
  return [
    figure(what, '÷ without (CPU)', values, { most: 1.15 }),
    figure(index, 'bytes a company', [bytes / companies], { most: 150 }),
  ]
}
