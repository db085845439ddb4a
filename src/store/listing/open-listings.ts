// Opens listings: heads, the segments to which their directories lead, and the records of these.

import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  decodeDirectory,
  type DifferingLeaves,
  differingLeaves,
  type DirectoryEntry,
  leavesInTurn,
  type OpenDirectory,
  openDirectory,
} from './directory.ts'
import {
  decodeEntries,
  type ListedRecord,
  recordsOf,
  type SegmentIndex,
  type WantedParts,
} from './segment.ts'
import type { Awaitable } from '../awaitable.ts'
import type { ListingShape } from './shape.ts'
import { inBatches } from './in-batches.ts'
import type { HeadRow, ListingLookups, ListingReads, SegmentKey, SegmentRow } from './tables.ts'

/** A head, with the nodes and the segments to which its directory leads. */
export interface OpenListing extends OpenDirectory {
  readonly head: HeadRow
}

/** Opens the listings that companies have at a version, with their segments. */
export async function openListings(
  tables: ListingLookups,
  listing: string,
  companies: readonly number[],
  version = Number.MAX_SAFE_INTEGER,
): Promise<OpenListings> {
  return openHeads(tables, await tables.heads(listing, companies, version))
}

type OpenListings = ReadonlyMap<number, OpenListing>

/** Companies, and the listings that they have now, and had before. */
interface OpenGroup {
  readonly companies: readonly number[]
  readonly open: OpenListings
  readonly former: OpenListings
}

/**
 * Opens the listings of companies in groups, since long ones have long directories.
 *
 * @param before they are also opened as they were before this version.
 */
export async function* openInGroups(
  tables: ListingLookups,
  listing: string,
  companies: readonly number[],
  before = 0,
): AsyncGenerator<OpenGroup> {
  const heads = await tables.heads(listing, companies, Number.MAX_SAFE_INTEGER)
  const former = before === 0 ? [] : await tables.heads(listing, companies, before - 1)
  for (const group of inGroups(companies, [...heads, ...former])) {
    const chosen = new Set(group)
    const isIn = ({ companyId }: HeadRow) => chosen.has(companyId)
    yield {
      companies: group,
      open: await openHeads(tables, heads.filter(isIn)),
      former: await openHeads(tables, former.filter(isIn)),
    }
  }
}

/** How many records listings have that are open together: some megabytes of directories. */
const recordsAtOnce = 500_000

/** Companies in groups whose listings may be open together. */
export function inGroups(
  companies: readonly number[],
  heads: readonly Pick<HeadRow, 'companyId' | 'total'>[],
): Iterable<readonly number[]> {
  const records = new Map<number, number>()
  for (const { companyId, total } of heads) {
    records.set(companyId, (records.get(companyId) ?? 0) + total)
  }
  const recordsOf = (companyId: number) => records.get(companyId) ?? 0
  return inBatches(companies, companies.length, recordsOf, recordsAtOnce)
}

async function openHeads(tables: ListingLookups, heads: readonly HeadRow[]): Promise<OpenListings> {
  const open = new Map<number, OpenListing>()
  for (const head of heads) {
    const opened = openHead(tables, head)
    // Most directories have no nodes: then there is nothing to wait for.
    open.set(head.companyId, { head, ...(opened instanceof Promise ? await opened : opened) })
  }
  return open
}

type Directed = Pick<HeadRow, 'companyId' | 'directory'>

/** The nodes and segments to which a head's directory leads. */
export const openHead = (
  tables: Pick<ListingReads, 'entries'>,
  { companyId, directory }: Directed,
) => openDirectory(directory, (nodes) => tables.entries(companyId, nodes))

/** The segments to which a head's directory leads. */
export async function leavesOf(
  tables: Pick<ListingReads, 'entries'>,
  head: Directed,
): Promise<readonly DirectoryEntry[]> {
  return (await openHead(tables, head)).leaves
}

/** The segments in which two heads of a company's listing differ; undefined if it did not exist. */
export const compareHeads = (
  tables: Pick<ListingReads, 'entries'>,
  companyId: number,
  former: Directed | undefined,
  present: Directed | undefined,
): Promise<DifferingLeaves> =>
  differingLeaves(former?.directory, present?.directory, (nodes) =>
    tables.entries(companyId, nodes),
  )

/** How many segments a scan reads at a time: less than a millisecond of work. */
const segmentsInScan = 64

/** Segments, and the index of each, encoded. */
interface ScannedEntries {
  readonly segments: readonly number[]
  readonly entries: readonly Uint8Array[]
}

/** Reads the indexes of a listing in order, some at a time, and frees them afterwards. */
export async function* scanEntries(
  tables: Pick<ListingReads, 'entries' | 'free'>,
  { companyId, directory }: Directed,
): AsyncGenerator<ScannedEntries> {
  const readNodes = (nodes: readonly number[]) => tables.entries(companyId, nodes)
  for await (const leaves of leavesInTurn(decodeDirectory(directory), readNodes)) {
    for (const some of inBatches(leaves, segmentsInScan)) {
      const segments = some.map(({ segment }) => segment)
      const entries = await tables.entries(companyId, segments)
      yield { segments, entries }
      tables.free?.(entries)
    }
  }
}

/** How many segments are read at a time, and how many with their texts. */
const indexesAtOnce = 1_000
const textsAtOnce = { segments: 400, bytes: 8_388_608 }

/** A segment, with the bytes of its texts. */
export interface SizedKey extends SegmentKey {
  readonly bytes: number
}

/** Passes on the indexes of the next segments: at once, if they have been read already. */
export type IndexReader = (count: number, take: (index: SegmentIndex) => void) => Awaitable<void>

/**
 * Creates a reader of the indexes of segments, in the order of their keys; it reads those of many
 * short listings by one statement.
 *
 * @param wanted as for `decodeEntries`.
 */
export function readIndexes(
  tables: Pick<ListingLookups, 'segments'>,
  shape: ListingShape,
  keys: readonly SegmentKey[],
  wanted?: WantedParts,
): IndexReader {
  let rows: readonly SegmentRow[] = []
  let [next, end] = [0, 0]

  async function readMore(): Promise<void> {
    if (end === keys.length) throw new Error('more indexes are asked for than there are segments')
    rows = await tables.segments(keys.slice(end, end + indexesAtOnce), 'entries')
    next = 0
    end += rows.length
    await nextTurn()
  }

  return function read(count, take): Awaitable<void> {
    for (let left = count; left > 0; left -= 1) {
      const row = rows[next]
      if (row === undefined) return readMore().then(() => read(left, take))
      take(decodeEntries(shape, row.entries, wanted))
      next += 1
    }
    return undefined
  }
}

/**
 * The records of segments, one segment after another.
 *
 * @param wanted as for `decodeEntries`.
 */
export async function* readSegments(
  tables: Pick<ListingLookups, 'segments'>,
  shape: ListingShape,
  keys: readonly SizedKey[],
  wanted?: WantedParts,
): AsyncGenerator<{ readonly companyId: number; readonly records: Iterable<ListedRecord> }> {
  for (const batch of textsTogether(keys)) {
    for (const { companyId, entries, texts } of await tables.segments(batch, 'both')) {
      yield { companyId, records: recordsOf(decodeEntries(shape, entries, wanted), texts) }
    }
  }
}

/** Segments in batches whose texts fit into memory. */
export const textsTogether = <Key extends { readonly bytes: number }>(keys: Iterable<Key>) =>
  inBatches(keys, textsAtOnce.segments, ({ bytes }) => bytes, textsAtOnce.bytes)

export function keysOf(companyId: number, entries: readonly DirectoryEntry[]): SizedKey[] {
  return entries.map(({ segment, bytes }) => ({ companyId, segment, bytes }))
}

/** The segments and nodes to which heads of a company lead, with the bytes of their texts. */
export async function namedSegments(
  tables: Pick<ListingReads, 'entries'>,
  heads: readonly HeadRow[],
): Promise<Map<number, number>> {
  const named = new Map<number, number>()
  for (const head of heads) {
    const { nodes, leaves } = await openHead(tables, head)
    for (const { entry } of nodes) named.set(entry.segment, 0)
    for (const { segment, bytes } of leaves) named.set(segment, bytes)
  }
  return named
}
