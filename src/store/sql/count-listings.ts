// Counts, for a company as a whole, how many records of its listings have which value of a filter.

import type { Resource } from '../../resources/resource.ts'
import type { CompanyRequest } from '../company-state.ts'
import type { KeptCounts, ListingCounts } from '../value-counts.ts'
import {
  countAllShort,
  type CountedState,
  countLong,
  type CountQuery,
  type CountRow,
  countShort,
  noCounts,
  shortListingMax,
} from './count-values.ts'
import type { Snapshot } from './snapshot.ts'

/** Up to this many past states of records are read at once; they have their texts. */
const fewPastMax = 100

/** The import that last changed something. */
export type Change = readonly [lineage: string, committedAt: number]

/** What the counting uses. */
export interface Counting {
  /** The counts of long listings. */
  readonly kept: KeptCounts
  /** Those that were made for this company, by their keys. */
  readonly counted: Map<string, ListingCounts>
  /** The rows of a query that takes long, read beside the event loop and in the same state. */
  readLong(snapshot: Snapshot, query: CountQuery): Promise<readonly CountRow[]>
}

/** A listing as it is or was, and its total as it is. */
export interface CountedHead {
  readonly total: number
  readonly change: Change
  readonly presentTotal: number
  readonly isPresent: boolean
}

/**
 * Counts the listings of a company, by the names of their resources.
 *
 * @param heads those of the version that is asked for; a listing without records may have none.
 */
export async function countListings(
  snapshot: Snapshot,
  { companyId, version, resources }: CompanyRequest,
  heads: ReadonlyMap<string, CountedHead>,
  counting: Counting,
): Promise<ReadonlyMap<string, ListingCounts>> {
  const counts = new Map<string, ListingCounts>()
  const short: Resource[] = []
  for (const resource of resources) {
    const head = heads.get(resource.name)
    if (head === undefined || head.total === 0) counts.set(resource.name, noCounts(resource))
    else if (version === undefined && head.total <= shortListingMax) short.push(resource)
    else {
      const state = { resource, companyId, version: head.isPresent ? undefined : version }
      counts.set(resource.name, await countListing(snapshot, state, head, counting))
    }
  }
  const all = await countAllShort(snapshot, companyId, short)
  for (const [n, { name }] of short.entries()) counts.set(name, all[n] ?? {})
  return counts
}

async function countListing(
  snapshot: Snapshot,
  state: CountedState,
  head: CountedHead,
  counting: Counting,
): Promise<ListingCounts> {
  if (await isShort(snapshot, state, head)) return countShort(snapshot, state)
  const { kept, counted } = counting
  const key = keyOf(state, head)
  const known = kept.get(key)
  if (known !== undefined) return known
  const counts = await kept.share(key, () =>
    countLong(snapshot, state, (query) => counting.readLong(snapshot, query)),
  )
  counted.set(key, counts)
  return counts
}

/** Names a state of a listing, by the lineage of the import that made it. */
function keyOf({ resource, companyId }: CountedState, { change }: CountedHead): string {
  return `${resource.name} ${companyId} ${change[0]}`
}

async function isShort(
  snapshot: Snapshot,
  { resource, companyId, version }: CountedState,
  { presentTotal }: CountedHead,
): Promise<boolean> {
  if (presentTotal > shortListingMax) return false
  if (version === undefined) return true
  const past = await snapshot.rows(
    `select 1 from ${resource.name}_past where company_id = $1 and until > $2 limit $3`,
    ...([companyId, version, fewPastMax + 1] as const),
  )
  return past.length <= fewPastMax
}
