// The state of a store as digests: of every table, and of everything that is served.

import { createHash } from 'node:crypto'
import { resources } from '../src/resources/index.ts'
import { openStoreReader } from '../src/store/open-store.ts'
import type { StoreReader } from '../src/store/serving/store-reader.ts'
import { readListing, readListingHead } from '../test/support/read-listing.ts'
import { patientBounds } from '../test/support/store-at.ts'

/** The state of a store. Equal digests mean equal contents; an empty one means no content. */
export interface StoreState {
  /** All tables except the log of imports. */
  readonly tables: string
  /** The log of imports without its times and lineages. */
  readonly log: string
  /** All heads and pages, as the server reads them. */
  readonly served: string
  /** Tables, views and indexes, in lines; empty if no import has created any yet. */
  readonly schema: string
  /** The number of the last import. */
  readonly version: number
  /** The result of the database's own check of its files; `ok` if it finds no fault. */
  readonly integrity: string
}

/** A store before its first import. */
export const nothing: StoreState = {
  tables: '',
  log: '',
  served: '',
  schema: '',
  version: 0,
  integrity: 'ok',
}

const pageLimit = 100

/** Which of two states a store is in; undefined if neither. */
export function whichState(
  state: StoreState,
  { before, after }: { readonly before: StoreState; readonly after: StoreState },
): 'before' | 'after' | undefined {
  if (isSame(state, after)) return 'after'
  // A first load that ended early may have made the tables, empty.
  const isMadeOnly = before.schema === '' && isPartOf(state.schema, after.schema)
  return isSame(isMadeOnly ? { ...state, schema: '' } : state, before) ? 'before' : undefined
}

/** Whether two states have the same registry, regardless of the log of imports. */
export function isSameRegistry(a: StoreState, b: StoreState): boolean {
  return a.tables === b.tables && a.schema === b.schema && a.served === b.served
}

function isSame(a: StoreState, b: StoreState): boolean {
  return isSameRegistry(a, b) && a.log === b.log && a.version === b.version
}

/** PostgreSQL's tables are made in steps, so one may lack columns of later steps. */
function isPartOf(some: string, all: string): boolean {
  const names = (schema: string) => schema.split('\n').map((line) => line.replace(/ \w{32}$/, ''))
  const known = new Set(names(all))
  return names(some).every((name) => known.has(name))
}

/** Whether a column of the log of imports is the same if the import runs at another time. */
export function isTimeless(column: string): boolean {
  return !/_at$|_ms$|duration|elapsed|^lineage$/.test(column)
}

/** Lists tables by name and digest, without empty ones. */
export function listDigests(digests: Iterable<readonly [name: string, digest: string]>): string {
  return [...digests]
    .filter(([, digest]) => digest !== '')
    .map(([name, digest]) => `${name} ${digest}\n`)
    .join('')
}

// Several companies are read concurrently, which is faster on PostgreSQL.
const companiesAtOnce = 16

/** A digest of every head and page of some companies' listings, as the server reads them. */
export async function digestServed(db: string, companies: readonly number[]): Promise<string> {
  if (companies.length === 0) return ''
  // A judge waits as long as a busy machine takes; the limits of requests are not tested here.
  const reader = await openStoreReader(db, patientBounds)
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
    const head = await readListingHead(reader, resource, company)
    hash.update(`${resource.name}/${company}: ${head?.total} ${head?.version}\n`)
    for (let offset = 0; offset < (head?.total ?? 0); offset += pageLimit) {
      const page = await readListing(reader, resource, company, { offset, limit: pageLimit })
      hash.update(`${page?.total} ${page?.version} ${page?.meta}\n`)
      hash.update(page?.text ?? '')
    }
  }
  return hash.digest()
}
