// What a store holds, as digests: of every table, and of everything that is served from it.

import { createHash } from 'node:crypto'
import { resources } from '../src/resources/index.ts'
import { openStoreReader } from '../src/store/open-store.ts'
import type { StoreReader } from '../src/store/reading.ts'

/** The state of a store: equal digests, equal contents; an empty one stands for nothing. */
export interface StoreState {
  /** All tables but the log of imports. */
  readonly tables: string
  /** The log of imports without its times and lineages. */
  readonly log: string
  /** All heads and pages, as the server reads them. */
  readonly served: string
  /** Tables, views and indices, some to a line; empty where no import has begun to make any. */
  readonly schema: string
  /** The number of the last import. */
  readonly version: number
  /** What the store's own check of its files says, `ok` where nothing is wrong. */
  readonly integrity: string
}

/** A store that no import has begun to make. */
export const nothing: StoreState = {
  tables: '',
  log: '',
  served: '',
  schema: '',
  version: 0,
  integrity: 'ok',
}

const pageLimit = 100

/** Which of two states a store is in; undefined for neither. */
export function whichState(
  state: StoreState,
  { before, after }: { readonly before: StoreState; readonly after: StoreState },
): 'before' | 'after' | undefined {
  if (isSame(state, after)) return 'after'
  // A first load that ended early may have made the tables, empty.
  const isMadeOnly = before.schema === '' && isPartOf(state.schema, after.schema)
  return isSame(isMadeOnly ? { ...state, schema: '' } : state, before) ? 'before' : undefined
}

/** Whether the registry is the same, whatever the log of imports says of the way there. */
export function isSameRegistry(a: StoreState, b: StoreState): boolean {
  return a.tables === b.tables && a.schema === b.schema && a.served === b.served
}

function isSame(a: StoreState, b: StoreState): boolean {
  return isSameRegistry(a, b) && a.log === b.log && a.version === b.version
}

function isPartOf(some: string, all: string): boolean {
  const known = new Set(all.split('\n'))
  return some.split('\n').every((line) => known.has(line))
}

/** Whether a column of the log of imports is the same when the same is imported at another time. */
export function isTimeless(column: string): boolean {
  return !/_at$|_ms$|duration|elapsed|^lineage$/.test(column)
}

/** Tables by their names and digests; those without rows are as if they were not there. */
export function listDigests(digests: Iterable<readonly [name: string, digest: string]>): string {
  return [...digests]
    .filter(([, digest]) => digest !== '')
    .map(([name, digest]) => `${name} ${digest}\n`)
    .join('')
}

// A server is asked for some at once: it answers one request after the other more slowly.
const companiesAtOnce = 16

/** Every head and every page of some companies' listings, through the server's own reader. */
export async function digestServed(db: string, companies: readonly number[]): Promise<string> {
  if (companies.length === 0) return ''
  const reader = await openStoreReader(db, resources)
  const hash = createHash('sha256')
  try {
    for (let n = 0; n < companies.length; n += companiesAtOnce) {
      const some = companies.slice(n, n + companiesAtOnce)
      const digests = await Promise.all(some.map((company) => digestCompany(reader, company)))
      for (const digest of digests) hash.update(digest)
    }
  } finally {
    await reader.close()
  }
  return hash.digest('hex')
}

async function digestCompany(reader: StoreReader, company: number): Promise<Buffer> {
  const hash = createHash('sha256')
  for (const resource of resources) {
    const head = await reader.readHead(resource, company)
    hash.update(`${resource.name}/${company}: ${head?.total} ${head?.version}\n`)
    for (let offset = 0; offset < (head?.total ?? 0); offset += pageLimit) {
      const page = await reader.readPage(resource, company, offset, pageLimit)
      hash.update(`${page?.total} ${page?.version} ${page?.meta}\n`)
      hash.update(page?.recordsBetween('', '') ?? '')
    }
  }
  return hash.digest()
}
