// Heads, with the segments that their directories lead to.

import { collectLeaves, type DirectoryEntry } from './directory.ts'
import type { HeadRow, ListingReads, ListingTables, SegmentKey } from './tables.ts'

/** A head, with the segments that its directory leads to. */
export interface OpenListing {
  readonly head: HeadRow
  readonly leaves: readonly DirectoryEntry[]
}

/** The present listings of those of the companies that have one, with their segments. */
export async function openListings(
  tables: ListingTables,
  listing: string,
  companies: readonly number[],
): Promise<Map<number, OpenListing>> {
  const open = new Map<number, OpenListing>()
  for (const head of await tables.heads(listing, companies, versionMax)) {
    open.set(head.companyId, { head, leaves: await leavesOf(tables, head) })
  }
  return open
}

/** The segments to which a head's directory leads. */
export function leavesOf(
  tables: Pick<ListingReads, 'entries'>,
  { companyId, directory }: Pick<HeadRow, 'companyId' | 'directory'>,
): Promise<readonly DirectoryEntry[]> {
  return collectLeaves(directory, (nodes) => tables.entries(companyId, nodes))
}

/** No version is as high. */
export const versionMax = Number.MAX_SAFE_INTEGER

export function keysOf(companyId: number, entries: readonly DirectoryEntry[]): SegmentKey[] {
  return entries.map(({ segment }) => ({ companyId, segment }))
}
