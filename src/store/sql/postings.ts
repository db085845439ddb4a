// The ids of the companies that have a word in their name, in chunks: a row has a word, the first
// of some ids, and the distances from each to the next, as bytes. So a word that half a million
// names have takes one or two bytes for each, and a search reads some hundred rows of it.

import { createWriter } from '../listing/bytes.ts'

/** The size of a chunk, in bytes of distances. */
const chunkBytes = 1_600

/** A chunk: ids in ascending order. */
export interface Chunk {
  readonly first: number
  readonly distances: Uint8Array
}

/**
 * Cuts ids into chunks.
 *
 * @param ids in ascending order, each once.
 * @param idsMax the maximum number of ids in a chunk.
 */
function chunksOf(ids: readonly number[], idsMax = Infinity): Chunk[] {
  const chunks: Chunk[] = []
  for (let at = 0; at < ids.length;) {
    const first = ids[at] ?? 0
    const end = Math.min(ids.length, at + idsMax)
    let last = first
    for (at += 1; at < end && writer.reserve(0) < chunkBytes; at += 1) {
      const id = ids[at] ?? 0
      writer.number(id - last)
      last = id
    }
    chunks.push({ first, distances: writer.take() })
  }
  return chunks
}

/** The distances of the chunk that is being cut. */
const writer = createWriter()

/** Appends the ids of a chunk to a list. */
function readChunk({ first, distances }: Chunk, ids: number[]): void {
  let id = first
  ids.push(id)
  let distance = 0
  let scale = 1
  for (const byte of distances) {
    distance += (byte & 0x7f) * scale
    scale *= 0x80
    if (byte > 0x7f) continue
    ids.push((id += distance))
    distance = 0
    scale = 1
  }
}

/** The ids of chunks, in their order. */
export function idsOf(chunks: readonly Chunk[]): number[] {
  const ids: number[] = []
  for (const chunk of chunks) readChunk(chunk, ids)
  return ids
}

/** What changes in the ids of a word. */
export interface PostingChange {
  readonly added: readonly number[]
  readonly removed: readonly number[]
}

/**
 * Applies a change to the ids of a word; returns the chunks that are gone, and those that replace
 * them.
 *
 * @param chunks all of the word, in their order.
 */
export function changeChunks(chunks: readonly Chunk[], { added, removed }: PostingChange) {
  if (chunks.length === 0) return { gone: [], made: chunksOf(inOrder(added)) }
  const gone: Chunk[] = []
  const made: Chunk[] = []
  const takeAdded = takerOf(inOrder(added))
  const takeRemoved = takerOf(inOrder(removed))
  for (const [at, chunk] of chunks.entries()) {
    const end = chunks[at + 1]?.first ?? Infinity
    const [more, less] = [takeAdded(end), new Set(takeRemoved(end))]
    if (more.length === 0 && less.size === 0) continue
    const kept = idsOf([chunk]).filter((id) => !less.has(id))
    gone.push(chunk)
    made.push(...rechunk(kept, more))
  }
  return { gone, made }
}

/** Takes ids from the beginning of a list, up to a bound. */
function takerOf(ids: readonly number[]) {
  let taken = 0
  return (end: number): readonly number[] => {
    const from = taken
    while ((ids[taken] ?? Infinity) < end) taken += 1
    return ids.slice(from, taken)
  }
}

/** Cuts a changed chunk: after an insertion evenly, so that further ids fit. */
function rechunk(kept: readonly number[], added: readonly number[]): Chunk[] {
  const ids = inOrder([...kept, ...added])
  const chunks = chunksOf(ids)
  const isAppended = (kept.at(-1) ?? 0) < (added[0] ?? Infinity)
  return isAppended || chunks.length < 2
    ? chunks
    : chunksOf(ids, Math.ceil(ids.length / chunks.length))
}

function inOrder(ids: readonly number[]): readonly number[] {
  const isInOrder = ids.every((id, at) => at === 0 || id > (ids[at - 1] ?? 0))
  return isInOrder ? ids : [...new Set(ids)].sort((a, b) => a - b)
}
