// The reads of listings that serve requests from PostgreSQL: a head with all that is said beside
// it is one statement, and the texts are another one. Segments never change, so that no
// transaction is needed.

import { LRUCache } from 'lru-cache'
import { type HeadRow, MissingSegmentError } from '../listing/tables.ts'
import type { Change, HeadInRegistry, ServingReads } from '../serving/reads.ts'
import { registryOf, type RegistryRow } from '../sql/find-companies.ts'
import { greatest, listingReads, type Rows } from './tables.ts'

/** How many imports are kept. */
const changesMax = 10_000

/** How often a listing is read again whose segments were pruned after its head was read. */
const attemptsMax = 3

/**
 * The state of the registry, and the head of a listing at a version, with its import. All of it is
 * of one moment, since it is one statement.
 */
export const headInRegistrySql = `
  select s.past_from, l.version, l.lineage, l.committed_at,
    h.version, h.total, h.meta, h.largest, h.directory, i.lineage, i.committed_at
  from store s
  left join lateral (
    select version, lineage, committed_at from imports order by version desc limit 1
  ) l on true
  left join lateral (
    select * from heads
    where company_id = $1 and listing = $2 and version <= least($3::integer, l.version)
    order by version desc limit 1
  ) h on true
  left join imports i on i.version = h.version`

type HeadInRegistryRow = [
  ...RegistryRow,
  ...[version: number | null, total: number, meta: string | null, largest: number],
  ...[directory: string, lineage: string | null, committedAt: number],
]

const changeSql = 'select lineage, committed_at from imports where version = $1'

export const knownSinceSql = `
  select coalesce(
    (select version from companies where id = $1 and version <= $2),
    (select version from companies_past where company_id = $1 and version <= $2 and until > $2)
  )`

export function createReads(rows: Rows): ServingReads {
  // Numbers of versions are used again after a restore, so that these are of one history.
  const changes = new LRUCache<number, Change>({ max: changesMax })
  let history: string | undefined

  return {
    ...listingReads(rows),
    async now(read) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await read()
        } catch (error) {
          if (!(error instanceof MissingSegmentError) || attempt === attemptsMax) throw error
        }
      }
    },
    async headIn(listing, companyId, version) {
      const asked = greatest(version ?? Number.MAX_SAFE_INTEGER)
      const found = await rows<HeadInRegistryRow>(headInRegistrySql, companyId, listing, asked)
      const { registry, head, change } = headInRegistryOf(companyId, found[0])
      if (registry.lineage !== history) changes.clear()
      history = registry.lineage
      if (head !== undefined && change !== undefined) changes.set(head.version, change)
      return { registry, head }
    },
    async change(version) {
      const known = changes.get(version)
      if (known !== undefined) return known
      const [row] = await rows<[lineage: string, committedAt: number]>(changeSql, version)
      if (row === undefined) throw new Error(`version ${version} is not in the log of imports`)
      return { lineage: row[0], committedAt: row[1] }
    },
    async knownSince(companyId, version) {
      const [row] = await rows<[number | null]>(knownSinceSql, companyId, version)
      return row?.[0] ?? undefined
    },
  }
}

function headInRegistryOf(
  companyId: number,
  row: HeadInRegistryRow | undefined,
): HeadInRegistry & { readonly change: Change | undefined } {
  if (row === undefined) throw new Error('the store has lost its row of the table store')
  const [earliest, last, lastLineage, lastCommittedAt, version, ...more] = row
  const [total, meta, largest, directory, lineage, committedAt] = more
  const registry = registryOf([earliest, last, lastLineage, lastCommittedAt])
  if (version === null) return { registry, head: undefined, change: undefined }
  const head: HeadRow = { companyId, version, total, meta, largest, directory }
  return { registry, head, change: lineage === null ? undefined : { lineage, committedAt } }
}
