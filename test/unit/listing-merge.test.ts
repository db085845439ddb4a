// What a change of a listing costs: how records are cut into segments, and which segments stay.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { segmentBytesMax } from '../../src/store/listing/cut.ts'
import {
  buildDirectory,
  decodeDirectory,
  type DirectoryEntry,
  entriesMax,
  openDirectory,
} from '../../src/store/listing/directory.ts'
import { compareOrder, cutRun, planMerge } from '../../src/store/listing/merge.ts'
import { decodeEntries, type ListedRecord } from '../../src/store/listing/segment.ts'
import type { ListingShape } from '../../src/store/listing/shape.ts'

const shapeOf = (direction: ListingShape['direction']): ListingShape => ({
  listing: 'rights',
  direction,
  hasSort: false,
  metaColumn: undefined,
  columns: [
    { field: 'status', type: 'text' },
    { field: 'day', type: 'integer' },
  ],
})
const ascending = shapeOf('ascending')
const descending = shapeOf('descending')

/** A segment, as a store keeps it. */
interface Stored {
  readonly entry: DirectoryEntry
  readonly entries: Buffer
  readonly texts: Buffer
}

let last = 0

/** Merges changes into a listing; notes the segments whose texts are read. */
function merge(
  shape: ListingShape,
  old: readonly Stored[],
  puts: readonly ListedRecord[],
  removed: readonly number[] = [],
) {
  const segments = old.map(({ entry, entries }) => ({
    entry,
    index: decodeEntries(shape, entries),
  }))
  const sorted = puts.toSorted((a, b) => compareOrder(shape, a, b))
  const gone = new Set([...removed, ...puts.map(({ id }) => id)])
  const storedOf = ({ segment }: DirectoryEntry) =>
    old.find((one) => one.entry.segment === segment) ?? assert.fail(`there is no ${segment}`)
  const read: number[] = []
  const listing = planMerge(shape, segments, sorted, gone).flatMap((part): Stored[] => {
    if ('kept' in part) return [storedOf(part.kept)]
    const textsOf = (entry: DirectoryEntry) => {
      read.push(old.indexOf(storedOf(entry)))
      return storedOf(entry).texts
    }
    return cutRun(shape, part, textsOf).map(({ entries, texts, count: records, largest }) => {
      const entry = { segment: (last += 1), records, bytes: texts.length, largest }
      return { entry, entries, texts }
    })
  })
  return { listing, read }
}

const sizesOf = (listing: readonly Stored[]) =>
  listing.map(({ entries, texts }) => entries.length + texts.length)
const numbersOf = (listing: readonly Stored[]) => listing.map(({ entry }) => entry.segment)

test('a long directory has levels, and a change at either end writes few nodes', async () => {
  const leaves = Array.from({ length: 70_000 }, (_, n) => {
    return { segment: n + 10, records: 10 + (n % 7), bytes: 4_000, largest: 400 + (n % 50) }
  })
  let node = 100_000
  const nodes = new Map<number, Uint8Array>()
  const read = (numbers: readonly number[]) => numbers.map((one) => nodes.get(one) ?? assert.fail())
  const build = async (entries: readonly DirectoryEntry[], former?: string) => {
    const known = former === undefined ? [] : (await openDirectory(former, read)).nodes
    const built = buildDirectory(entries, known, () => (node += 1))
    for (const { segment, entries: bytes } of built.nodes) nodes.set(segment, bytes)
    return built
  }
  const { directory } = await build(leaves)
  assert.ok(directory.length < 8_192)
  assert.ok(decodeDirectory(directory).entries.length <= entriesMax)
  assert.deepEqual((await openDirectory(directory, read)).leaves, leaves)
  const added = { segment: 90_000, records: 3, bytes: 100, largest: 60 }
  for (const changed of [
    [...leaves, added],
    [added, ...leaves],
  ]) {
    const built = await build(changed, directory)
    assert.ok(built.nodes.length <= 4, `${built.nodes.length} nodes`)
    assert.deepEqual((await openDirectory(built.directory, read)).leaves, changed)
  }
})

/** A record of so many bytes. */
function plainRecord(id: number, bytes = 400): ListedRecord {
  const status = `status ${id % 5}`
  const text = Buffer.alloc(bytes, 'x')
  return { id, sort: 0, source: 1, digest: Buffer.alloc(12, id % 256), values: [status, id], text }
}

const idsFrom = (from: number, to: number, step = 1) =>
  Array.from({ length: (to - from) / step }, (_, n) => from + n * step)
const load = (shape: ListingShape, ids: readonly number[]) =>
  merge(
    shape,
    [],
    ids.map((id) => plainRecord(id)),
  ).listing

test('a segment is kept if none of its records changes and none is added next to it', () => {
  const ids = fc.uniqueArray(fc.integer({ min: 1, max: 2_000 }), { maxLength: 6 })
  fc.assert(
    fc.property(ids, ids, fc.constantFrom(ascending, descending), (added, removed, shape) => {
      const before = load(shape, idsFrom(10, 2_000, 10))
      const after = merge(
        shape,
        before,
        added.map((id) => plainRecord(id, 350)),
        removed,
      ).listing
      const changed = [...added, ...removed.filter((id) => id % 10 === 0)]
      const kept = new Set(numbersOf(after))
      const ends = before.map(({ entries }) => decodeEntries(shape, entries).ids)
      before.forEach(({ entry }, n) => {
        const [previous, own, next] = [ends[n - 1], ends[n], ends[n + 1]]
        // From the record before it to the one behind it.
        const bounds = [
          previous?.at(-1) ?? (shape === ascending ? 0 : Infinity),
          next?.at(0) ?? (shape === ascending ? Infinity : 0),
        ]
        assert.ok(own !== undefined)
        const isNear = (id: number) => id > Math.min(...bounds) && id < Math.max(...bounds)
        if (!changed.some(isNear)) assert.ok(kept.has(entry.segment), `segment ${n}`)
      })
    }),
    { numRuns: 60 },
  )
})

for (const shape of [ascending, descending]) {
  test(`a first load fills all segments but the one at the growing end, ${shape.direction}`, () => {
    const sizes = sizesOf(load(shape, idsFrom(1, 501)))
    const full = shape === ascending ? sizes.slice(0, -1) : sizes.slice(1)
    assert.ok(sizes.length > 15)
    for (const size of full) assert.ok(size > 0.93 * segmentBytesMax, `${size} bytes`)
    assert.ok(Math.max(...sizes) <= segmentBytesMax)
  })

  test(`new records at the growing end leave all others where they are, ${shape.direction}`, () => {
    let listing = load(shape, idsFrom(1, 201))
    for (let id = 201; id < 300; id++) {
      const before = numbersOf(listing)
      const result = merge(shape, listing, [plainRecord(id)])
      listing = result.listing
      const after = new Set(numbersOf(listing))
      assert.ok(before.filter((one) => !after.has(one)).length <= 1)
      assert.ok(result.read.length <= 1)
    }
    const sizes = sizesOf(listing)
    const full = shape === ascending ? sizes.slice(0, -1) : sizes.slice(1)
    for (const size of full) assert.ok(size > 0.9 * segmentBytesMax, `${size} bytes`)
  })
}

test('a record between two full segments gets one of its own, and the next joins it', () => {
  const before = load(ascending, idsFrom(10, 2_000, 10))
  const next = decodeEntries(ascending, before[1]?.entries ?? Buffer.alloc(0)).ids[0] ?? 0
  const one = merge(ascending, before, [plainRecord(next - 5, 900)])
  assert.deepEqual([one.read, one.listing.length], [[], before.length + 1])
  const two = merge(ascending, one.listing, [plainRecord(next - 4)])
  assert.deepEqual([two.read, two.listing.length], [[1], before.length + 1])
})

test('texts of segments that keep no record are not read', () => {
  const before = load(ascending, idsFrom(1, 101))
  const none = merge(ascending, before, [], idsFrom(1, 101))
  assert.deepEqual([none.listing, none.read], [[], []])
  const replaced = merge(
    ascending,
    before,
    idsFrom(1, 101).map((id) => plainRecord(id, 380)),
  )
  assert.deepEqual(replaced.read, [])
})
