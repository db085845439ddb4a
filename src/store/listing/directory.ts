// The directory of a listing: its segments, in order, with what a page needs to find them.
//
// A head has it as text. A directory of many segments is a tree: its entries are nodes, which are
// directories, too. So no head exceeds some kilobytes, and a change writes few nodes.

import { after, type Awaitable } from '../awaitable.ts'
import { latin1In } from '../record-texts.ts'
import { inBatches } from './in-batches.ts'
import { DamagedStoreError } from './tables.ts'

/** A segment, or a node, whose numbers are those of all its segments together. */
export interface DirectoryEntry {
  readonly segment: number
  readonly records: number
  /** The bytes of its texts. */
  readonly bytes: number
  /** The bytes of its largest record. */
  readonly largest: number
}

export interface Directory {
  /** 0 if the entries are segments; if they are nodes, one more than their level. */
  readonly level: number
  readonly entries: readonly DirectoryEntry[]
}

/** A node that is already stored. */
export interface KnownNode {
  readonly entry: DirectoryEntry
  /** Its content: a directory, encoded. */
  readonly entries: Uint8Array
}

/** The maximum number of entries of a head or a node. */
export const entriesMax = 256

/**
 * A directory as JSON, so that SQL can follow it, too: the level; then the segment, records, bytes
 * and largest record of each entry.
 */
function encodeDirectory({ level, entries }: Directory): string {
  const listed = entries.map(
    ({ segment, records, bytes, largest }) => `[${segment},${records},${bytes},${largest}]`,
  )
  return `[${[level, ...listed].join(',')}]`
}

/**
 * Marks the directory of a head that is rewritten after its version: it ends with the lineage of
 * the rewrite, so that the two states of the version can be told apart.
 */
export function markDirectory(directory: string, lineage: string): string {
  return `${directory.slice(0, -1)},"${lineage}"]`
}

/** The mark of a directory; empty if it was written with its version. */
export function markOf(directory: string): string {
  return directory.at(-2) === '"' ? directory.slice(directory.indexOf('"') + 1, -2) : ''
}

type EncodedEntry = readonly [segment: number, records: number, bytes: number, largest: number]

/** @throws DamagedStoreError if the text is no directory. */
export function decodeDirectory(text: string): Directory {
  try {
    const [level, ...listed] = JSON.parse(text) as [number, ...EncodedEntry[]]
    if (markOf(text) !== '') listed.pop()
    const entries = listed.map(([segment, records, bytes, largest]) => {
      return { segment, records, bytes, largest }
    })
    return { level, entries }
  } catch {
    throw new DamagedStoreError('a directory of segments cannot be read')
  }
}

const firstPattern = /^\[0,\[(\d+),/

/** The first segment of a directory, if that has no levels. */
export function firstSegment(directory: string): number | null {
  const number = firstPattern.exec(directory)?.[1]
  return number === undefined ? null : Number(number)
}

/** The segment of a directory with only one; null if it has more, levels, or none. */
export const onlySegment = (directory: string): number | null =>
  directory.lastIndexOf('[') === 3 ? firstSegment(directory) : null

/** The last node that was decoded: a client that pages through a long listing needs it again. */
let last = { text: '', node: decodeDirectory('[0]') }

export function decodeNode(entries: Uint8Array): Directory {
  const text = latin1In(entries)
  if (text !== last.text) last = { text, node: decodeDirectory(text) }
  return last.node
}

export const emptyDirectory = encodeDirectory({ level: 0, entries: [] })

/** Reads nodes by their numbers, in the order asked for. */
type ReadNodes = (nodes: readonly number[]) => Awaitable<readonly Uint8Array[]>

/** What a directory leads to. */
export interface OpenDirectory {
  readonly nodes: readonly KnownNode[]
  /** The segments, in order. */
  readonly leaves: readonly DirectoryEntry[]
}

/** All nodes and segments to which a head's directory leads. */
export function openDirectory(directory: string, readNodes: ReadNodes): Awaitable<OpenDirectory> {
  return openLevel(decodeDirectory(directory), [], readNodes)
}

function openLevel(
  { level, entries }: Directory,
  upper: readonly KnownNode[],
  readNodes: ReadNodes,
): Awaitable<OpenDirectory> {
  if (level === 0) return { nodes: upper, leaves: entries }
  return after(readNodes(entries.map(({ segment }) => segment)), (read) => {
    const nodes = entries.flatMap((entry, n) => {
      const node = read[n]
      return node === undefined ? [] : [{ entry, entries: node }]
    })
    const lower = read.flatMap((node) => decodeNode(node).entries)
    return openLevel({ level: level - 1, entries: lower }, [...upper, ...nodes], readNodes)
  })
}

/** Consecutive segments, and the position of the first record of the first of them. */
export interface LeafRange {
  readonly entries: readonly DirectoryEntry[]
  readonly first: number
}

/** The segments that hold the records from `offset` up to `offset + limit`, of any level. */
export function findRange(
  { level, entries }: Directory,
  offset: number,
  limit: number,
  readNodes: ReadNodes,
): Awaitable<LeafRange> {
  const range = rangeOfEntries(entries, offset, limit)
  if (level === 0) return range
  const { first } = range
  return after(readLower({ level, entries: range.entries }, readNodes), (lower) =>
    after(findRange(lower, offset - first, limit, readNodes), (found) => ({
      entries: found.entries,
      first: first + found.first,
    })),
  )
}

/** The entries that hold the records from `offset` up to `offset + limit`. */
function rangeOfEntries(
  entries: readonly DirectoryEntry[],
  offset: number,
  limit: number,
): LeafRange {
  let start = 0
  let first = 0
  for (; start < entries.length; start += 1) {
    const records = entries[start]?.records ?? 0
    if (first + records > offset) break
    first += records
  }
  let end = start
  for (let position = first; end < entries.length && position < offset + limit; end += 1) {
    position += entries[end]?.records ?? 0
  }
  return { entries: entries.slice(start, end), first }
}

/** The entries of the nodes that a directory has. */
function readLower({ level, entries }: Directory, readNodes: ReadNodes): Awaitable<Directory> {
  if (entries.length === 0) return { level: level - 1, entries }
  return after(readNodes(entries.map(({ segment }) => segment)), (nodes) => ({
    level: level - 1,
    entries: nodes.flatMap((node) => decodeNode(node).entries),
  }))
}

/** How many nodes are decoded at a time where a directory is walked. */
const nodesAtOnce = 4

/**
 * The segments to which a directory leads, in order, those of a few nodes at a time: as a whole,
 * the entries of a long directory would outlive several collections of garbage.
 */
export async function* leavesInTurn(
  { level, entries }: Directory,
  readNodes: ReadNodes,
): AsyncGenerator<readonly DirectoryEntry[]> {
  if (level === 0) {
    yield entries
    return
  }
  for (const some of inBatches(entries, nodesAtOnce)) {
    yield* leavesInTurn(await readLower({ level, entries: some }, readNodes), readNodes)
  }
}

/** A node to be stored. */
interface NewNode {
  readonly segment: number
  readonly entries: Buffer
}

/**
 * The directory of a listing, as heads have it, and the new nodes to which it leads.
 *
 * @param known nodes that may be used again: those of the listing's last head.
 */
export function buildDirectory(
  entries: readonly DirectoryEntry[],
  known: readonly KnownNode[],
  newNumber: () => number,
): { readonly directory: string; readonly nodes: readonly NewNode[] } {
  const byContent = new Map(known.map((node) => [latin1In(node.entries), node.entry]))
  const nodes: NewNode[] = []
  let level = 0
  let upper = entries
  for (; upper.length > entriesMax; level += 1) {
    const lower = level
    upper = Array.from(inBatches(upper, entriesMax, endsGroup, 1), (group) => {
      const encoded = encodeDirectory({ level: lower, entries: group })
      const same = byContent.get(encoded)
      if (same !== undefined) return same
      const segment = newNumber()
      nodes.push({ segment, entries: Buffer.from(encoded, 'latin1') })
      return { segment, ...sumOf(group) }
    })
  }
  return { directory: encodeDirectory({ level, entries: upper }), nodes }
}

/** Groups end at multiples of this, so that an insertion leaves the other groups as they are. */
const groupLength = 128

const endsGroup = ({ segment }: DirectoryEntry) => Number(segment % groupLength === 0)

/** The records and bytes of segments or nodes, and the largest record. */
export function sumOf(group: readonly DirectoryEntry[]) {
  let [records, bytes, largest] = [0, 0, 0]
  for (const entry of group) {
    records += entry.records
    bytes += entry.bytes
    largest = Math.max(largest, entry.largest)
  }
  return { records, bytes, largest }
}

/** The segments that only one of two states has, each list in the order of the listing. */
export interface DifferingLeaves {
  readonly former: readonly DirectoryEntry[]
  readonly present: readonly DirectoryEntry[]
}

/**
 * The segments in which two states of a listing differ. Nodes that both have are not read: the
 * cost depends on the size of the change, not on that of the listing.
 *
 * @param former a head's directory, like `present`; undefined if the listing did not exist.
 */
export async function differingLeaves(
  former: string | undefined,
  present: string | undefined,
  readNodes: ReadNodes,
): Promise<DifferingLeaves> {
  let was = decodeDirectory(former ?? emptyDirectory)
  let is = decodeDirectory(present ?? emptyDirectory)
  for (;;) {
    const level = Math.max(was.level, is.level)
    if (was.level === is.level) {
      const entries = was.entries
      was = { level, entries: without(entries, is.entries) }
      is = { level, entries: without(is.entries, entries) }
      if (level === 0) return { former: was.entries, present: is.entries }
    }
    if (was.level === level) was = await readLower(was, readNodes)
    if (is.level === level) is = await readLower(is, readNodes)
  }
}

/** The entries that are not among others. */
export function without(
  entries: readonly DirectoryEntry[],
  others: readonly DirectoryEntry[],
): readonly DirectoryEntry[] {
  if (others.length === 0) return entries
  const known = new Set(others.map(({ segment }) => segment))
  return entries.filter(({ segment }) => !known.has(segment))
}
