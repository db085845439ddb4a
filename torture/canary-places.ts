// Where a canary might be: answers of every version, with old tags and cursors, what commands
// print, and files.

import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { isServerStore } from '../src/config/setting-kinds.ts'
import type { Random } from '../src/demo/random.ts'
import { resources } from '../src/resources/index.ts'
import { query } from '../test/support/import-rows.ts'
import { storeBytes } from '../test/support/store-state.ts'
import type { Seen } from './answers.ts'
import type { Search } from './canary-names.ts'
import type { Company, Person, World } from './canary-world.ts'
import { runHere } from './processes.ts'
import { fetchPage, type Served } from './serving.ts'

/** A registry, and what clients remember of it. */
export interface Site {
  readonly db: string
  /** A folder with the store, if it is a file, its list, and copies. */
  readonly folder: string
  served: Served | undefined
  /** Earlier answers, by path. */
  readonly answers: Map<string, Seen>
  readonly cursors: Set<string>
  /** The ids of companies that were ever shown. */
  readonly ids: Set<string>
}

// The server may close an idle connection while a command keeps this process busy.
const agent = new Agent({ maxSockets: 16 })

function ask({ served }: Site, path: string, tag?: string): Promise<Seen> {
  assert.ok(served)
  return fetchPage(served, { agent, path: `/api/v1${path}`, tag })
}

const pathOf = ({ identifier }: Company) => `/companies/GB:${encodeURIComponent(identifier)}`

/** The last version. */
export async function versionOf(site: Site): Promise<number> {
  const { body } = await ask(site, '/key')
  return (JSON.parse(body) as { registry: { version: number } }).registry.version
}

/** The id of a person's record; after a prune, that of its natural key may be all that is left. */
export async function findId(
  site: Site,
  world: World,
  person: Person,
): Promise<number | undefined> {
  const { resource, identity } = person
  if (identity.key === undefined) return identity.id
  const kept = `select id from record_keys where listing = '${resource}' and key = '=${identity.key}'`
  const shown = await findShownId(site, world, person)
  return shown ?? (query(site.db, kept)[0]?.['id'] as number | undefined)
}

/** The id of a person's record in the last of some versions that shows it. */
export async function findShownId(
  site: Site,
  { companies }: World,
  { resource, mark }: Person,
): Promise<number | undefined> {
  const last = await versionOf(site)
  for (let version = last; version > Math.max(0, last - 8); version -= 1) {
    for (const company of companies.map(pathOf)) {
      const { body } = await ask(site, `${company}/${resource}?version=${version}&limit=1000`)
      const listing = JSON.parse(body) as Record<string, { id: number }[] | undefined>
      const shown = listing[resource]?.find((one) => JSON.stringify(one).includes(`"${mark} `))
      if (shown !== undefined) return shown.id
    }
  }
  return undefined
}

/** Asks for some of everything. */
export async function searchAnswers(
  site: Site,
  { companies, persons }: World,
  random: Random,
  { gone, search }: { readonly gone: readonly string[]; readonly search: Search },
): Promise<void> {
  const version = await versionOf(site)
  const ids = [...site.ids].map((id) => `/companies/${id}`)
  const some = [...companies.map(pathOf), ...ids].filter(() => random.oneIn(2))
  const numbers = persons.map(({ number }) => `/employees?identifier=${number}`)
  const cursors = ['0', ...[...site.cursors].slice(-3).map(encodeURIComponent)]
  const changes = cursors.map((cursor) => `/changes?limit=1000&after=${cursor}`)
  const paths = [
    ...['/versions?limit=1000', '/exports', '/companies?q=trading', '/companies?q=lorem'],
    ...some.flatMap((company) => pathsOfCompany(company, version, random)),
    ...numbers.map((number) => pathOf(random.pick(companies)) + number),
    ...[...changes, ...changes.map((path) => `${path}&until=${random.integer(1, version)}`)],
  ]
  for (let n = 0; n < paths.length; n += 16) {
    await Promise.all(paths.slice(n, n + 16).map((path) => searchAnswer(site, path, search)))
  }
  for (const word of gone) {
    const { body } = await ask(site, `/companies?q=${word.slice(0, 6)}`)
    assert.match(body, /"companies":\[\]/, `a search finds ${word}`)
  }
}

/** Some versions of a company's head and listings, and forms and filters of some listings. */
function pathsOfCompany(company: string, version: number, random: Random): string[] {
  const versions = Array.from({ length: version }, (_, n) => `?version=${n + 1}`)
  const some = ['', ...versions.slice(-12).filter(() => random.oneIn(4))]
  const listings = resources.map(({ name }) => `${company}/${name}`)
  const filters = [
    'format=csv',
    'format=ndjson',
    'limit=1&page=2',
    `as_of=2020-01-${random.integer(10, 28)}`,
  ]
  return [
    ...some.flatMap((one) => [company, ...listings].map((path) => path + one)),
    ...listings.map((path) => `${path}?${random.pick(filters)}`),
    ...['sort=name', 'current_on=2021-01-01'].map((filter) => `${company}/employees?${filter}`),
  ]
}

async function searchAnswer(site: Site, path: string, search: Search): Promise<void> {
  const known = site.answers.get(path)
  const seen = await ask(site, path, known?.headers.etag)
  if (known !== undefined && seen.status === 304) {
    search(`a 304 for ${path}, whose answer`, known.body)
    return
  }
  site.answers.set(path, seen)
  const { status, body } = seen
  const isKnown = [200, 404, 410].includes(status) || body.includes('is before that of after')
  assert.ok(isKnown, `${path}: ${status} ${body}`)
  for (const [, id = ''] of body.matchAll(/"company":\{"id":(\d+)/g)) site.ids.add(id)
  for (const [, until = ''] of body.matchAll(/"until":"([^"]+)"/g)) site.cursors.add(until)
  // A refusal repeats what was asked for.
  const asked = decodeURIComponent(path.split(/[/?]/)[2] ?? '')
  search(`the answer of ${path}`, status === 404 ? body.replaceAll(asked, '') : body)
}

/** Searches what commands print, and verifies the store. */
export async function searchOutput(
  site: Site,
  { companies }: World,
  random: Random,
  search: Search,
): Promise<void> {
  const versions = Array.from({ length: await versionOf(site) }, (_, n) => n + 1)
  const commands = [
    ...[
      'imports --json --limit 1000',
      'sources --json',
      'withhold list --json',
      'changes --since 0',
    ],
    ...versions.filter(() => random.oneIn(4)).map((version) => `imports show ${version}`),
    ...['verify', `company GB ${random.pick(companies).identifier}`],
  ]
  for (const command of commands) {
    const { code, out, err } = await runHere([...command.split(' '), '--db', site.db])
    const isCompany = command.startsWith('company')
    assert.ok(code === 0 || isCompany, `dossier ${command}: ${out}${err}`)
    // What is not there is named as it was asked for.
    if (code === 0) search(`dossier ${command}`, out + err)
  }
}

/** Searches the files, and the tables of a server. */
export async function searchFiles({ db, folder }: Site, search: Search): Promise<void> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
  for (const { name, parentPath } of files.filter((one) => one.isFile())) {
    const bytes = readFileSync(join(parentPath, name))
    search(name, String(name.endsWith('.zst') ? zstdDecompressSync(bytes) : bytes))
  }
  if (isServerStore(db)) search('a table', String(await storeBytes(db)))
}
