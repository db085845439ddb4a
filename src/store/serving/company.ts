// Reads a company as a whole, now or at a version: who it is, what its sources say about it, and
// its listings without their records.

import { statesOf } from '../companies/company-text.ts'
import { nameOf } from '../companies/keep-names.ts'
import type {
  CompanyRequest,
  CompanyState,
  ListingSummary,
  SourceState,
  OutsideHistory,
} from '../reading.ts'
import { leavesOf } from '../listing/open-listings.ts'
import { decodeEntries, type ListedRecord, recordsOf } from '../listing/segment.ts'
import { attributesShape } from '../listing/shape.ts'
import type { HeadRow } from '../listing/tables.ts'
import { onlySegment } from '../listing/directory.ts'
import { pageBytesMax } from '../page-size.ts'
import {
  type CompanyHead,
  type Identity,
  readCompanyHeads,
  readIdentity,
  readNamedIn,
} from '../sql/read-company.ts'
import type { Snapshot } from '../sql/database.ts'
import { findOutside, rewriteOf } from './listing-state.ts'
import type { Change } from './reads.ts'
import { type CountedListing, type CountListings, noCounts } from './value-counts.ts'

/**
 * Reads a company; undefined if it was not in the registry.
 *
 * @param countListings keeps the counts of long listings.
 */
export async function readCompany(
  snapshot: Snapshot,
  asked: CompanyRequest,
  countListings: CountListings,
): Promise<CompanyState | OutsideHistory | undefined> {
  const { companyId: id, version: askedVersion } = asked
  const registry = await snapshot.registry(id)
  const outside = findOutside(askedVersion, registry)
  if (outside !== undefined) return outside
  const version = askedVersion ?? registry.version
  const identity = await readIdentity(snapshot, id, version)
  const names = [attributesShape.listing, ...asked.resources.map(({ name }) => name)]
  const heads = await readCompanyHeads(snapshot, names, id, version)
  if (askedVersion !== undefined) {
    // If each read sees the last state, a prune meanwhile may have dropped what they look for.
    const pruned = findOutside(askedVersion, await snapshot.registry(id))
    if (pruned !== undefined) return pruned
  }
  if (identity === undefined) return undefined
  const named = await snapshot.change(await readNamedIn(snapshot, id, identity, version), registry)
  const said = await readSaid(snapshot, heads.get(attributesShape.listing), version)
  const listings = await summarise(snapshot, { ...asked, version }, heads, identity, countListings)
  const changes = [named, ...said.changes, ...listings.map(({ change }) => change)]
  for (const { head } of heads.values()) {
    const rewrite = rewriteOf(snapshot, head)
    // Usually there is none, and nothing to wait for.
    if (rewrite !== undefined) changes.push(await rewrite)
  }
  const { jurisdiction, identifier } = identity
  return {
    company: { id, jurisdiction, identifier, name: said.name },
    sources: said.sources,
    listings: listings.map(({ summary }) => summary),
    lineage: changes.map(({ lineage }) => lineage).join(''),
    changedAt: Math.max(...changes.map(({ committedAt }) => committedAt)),
    registry,
  }
}

/** What the sources say about a company, and what it is called. */
interface Said {
  /** Undefined if they would be larger than an answer may be. */
  readonly sources: readonly SourceState[] | undefined
  readonly name: string | null
  readonly changes: readonly Change[]
}

async function readSaid(
  snapshot: Snapshot,
  found: CompanyHead | undefined,
  version: number,
): Promise<Said> {
  if (found === undefined) return { sources: [], name: null, changes: [] }
  const { head } = found
  // Not those of the statements: what a revert has taken back changed the company, too.
  const changes = [await snapshot.change(head.version)]
  if (head.total === 0) return { sources: [], name: null, changes }
  const sources = await snapshot.tables.sources(version)
  const records = await readAll(snapshot, found)
  const bytes = records.reduce((sum, { text }) => sum + text.length, 0)
  return {
    name: nameOf(records, sources) ?? null,
    changes,
    sources: bytes > pageBytesMax ? undefined : statesOf(records, sources),
  }
}

/** All records of what sources say. */
async function readAll(
  { tables }: Snapshot,
  { head, entries: only, texts: onlyTexts }: CompanyHead,
): Promise<readonly ListedRecord[]> {
  if (only !== null && onlyTexts !== null && onlySegment(head.directory) !== null) {
    return [...recordsOf(decodeEntries(attributesShape, only), onlyTexts)]
  }
  const numbers = (await leavesOf(tables, head)).map(({ segment }) => segment)
  const entries = await tables.entries(head.companyId, numbers)
  const texts = await tables.texts(head.companyId, numbers)
  return entries.flatMap((one, n) => [
    ...recordsOf(decodeEntries(attributesShape, one), texts[n] ?? new Uint8Array()),
  ])
}

/** The listings that are asked for, and the imports that last changed them. */
async function summarise(
  snapshot: Snapshot,
  { resources, version: upTo }: Pick<CompanyRequest, 'resources'> & { readonly version: number },
  heads: ReadonlyMap<string, CompanyHead>,
  identity: Identity,
  countListings: CountListings,
): Promise<{ readonly summary: ListingSummary; readonly change: Change }[]> {
  const listed: CountedListing[] = []
  const found: { readonly summary: Omit<ListingSummary, 'counts'>; readonly change: Change }[] = []
  for (const resource of resources) {
    const { head, entries = null } = heads.get(resource.name) ?? {}
    const { total, version } = listingVersion(head, identity)
    const change = await snapshot.change(head === undefined ? identity.changedIn : version)
    const rewrite = await rewriteOf(snapshot, head)
    // What was withheld later is no change up to the version that is asked for (contract 9.1).
    const isChange = rewrite !== undefined && rewrite.version <= upTo
    const last = isChange ? Math.max(version, rewrite.version) : version
    found.push({ summary: { resource, total, version: last }, change })
    if (head !== undefined && total > 0) listed.push({ resource, head, change, entries })
  }
  const counts = await countListings(snapshot, listed)
  return found.map(({ summary, change }) => {
    const { resource } = summary
    return {
      summary: { ...summary, counts: counts.get(resource.name) ?? noCounts(resource) },
      change,
    }
  })
}

/** A listing without records cannot have changed before its company was known. */
function listingVersion(head: HeadRow | undefined, { since }: Identity) {
  if (head === undefined) return { total: 0, version: since }
  const { total, version } = head
  return { total, version: total > 0 ? version : Math.max(version, since) }
}
