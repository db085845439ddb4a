// How records are cut into segments, and which segments stay when a listing changes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { segmentBytesMax } from '../../src/store/listing/cut.ts'
import type { DirectoryEntry } from '../../src/store/listing/directory.ts'
import { applyPlan, compareOrder, planMerge } from '../../src/store/listing/merge.ts'
import { decodeEntries, type ListedRecord } from '../../src/store/listing/segment.ts'
import type { ListingShape } from '../../src/store/listing/shape.ts'

const shapeOf = (direction: ListingShape['direction']): ListingShape => ({
  ...{ listing: 'rights', direction, hasSort: false, metaColumn: undefined },
  columns: [
    { field: 'status', type: 'text' },
    { field: 'day', type: 'integer' },
  ],
})
const ascending = shapeOf('ascending')
const descending = shapeOf('descending')

function recordOf(id: number, bytes = 400, status = `status ${id % 5}`): ListedRecord {
  const text = Buffer.alloc(bytes, 'x')
  return { id, sort: 0, source: 1, digest: Buffer.alloc(12, id % 256), values: [status, id], text }
}

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
  const plan = planMerge(
    shape,
    old.map(({ entry, entries }) => ({ entry, index: decodeEntries(shape, entries) })),
    {
      puts: puts.toSorted((a, b) => compareOrder(shape, a, b)),
      removed: new Set(removed),
    },
  )
  const read: number[] = []
  const textsOf = (n: number) => {
    read.push(n)
    return old[n]?.texts ?? assert.fail(`there is no segment ${n}`)
  }
  const merged = applyPlan(shape, plan, textsOf, () => (last += 1))
  const listing = merged.entries.map((entry): Stored => {
    const found =
      merged.written.find(({ segment }) => segment === entry.segment) ??
      old.find((one) => one.entry.segment === entry.segment)
    return { entry, ...(found ?? assert.fail(`segment ${entry.segment} is missing`)) }
  })
  return { listing, read, plan }
}

const sizesOf = (listing: readonly Stored[]) =>
  listing.map(({ entries, texts }) => entries.length + texts.length)
const numbersOf = (listing: readonly Stored[]) => listing.map(({ entry }) => entry.segment)
const idsFrom = (from: number, to: number, step = 1) =>
  Array.from({ length: (to - from) / step }, (_, n) => from + n * step)
const load = (shape: ListingShape, ids: readonly number[]) =>
  merge(
    shape,
    [],
    ids.map((id) => recordOf(id)),
  ).listing

test('no segment of several records is larger than the maximum, index and texts together', () => {
  const given = fc.record({
    id: fc.integer({ min: 1, max: 300 }),
    bytes: fc.oneof(fc.integer({ min: 10, max: 900 }), fc.integer({ min: 10, max: 12_000 })),
    status: fc.oneof(fc.constantFrom('a', 'b'), fc.string({ minLength: 100, maxLength: 900 })),
  })
  const puts = fc.uniqueArray(given, { maxLength: 200, selector: ({ id }) => id })
  const steps = fc.array(
    fc.record({ puts, removed: fc.array(fc.integer({ min: 1, max: 300 }), { maxLength: 50 }) }),
    { minLength: 1, maxLength: 3 },
  )
  fc.assert(
    fc.property(steps, fc.constantFrom(ascending, descending), (some, shape) => {
      let listing: readonly Stored[] = []
      for (const { puts: given, removed } of some) {
        const records = given.map(({ id, bytes, status }) => recordOf(id, bytes, status))
        listing = merge(shape, listing, records, removed).listing
        sizesOf(listing).forEach((size, n) => {
          const records = listing[n]?.entry.records ?? 0
          assert.ok(records === 1 || size <= segmentBytesMax, `${records} records, ${size} bytes`)
        })
      }
    }),
    { numRuns: 60 },
  )
})

test('a segment of which no record changes, and beside which none is added, stays', () => {
  const ids = fc.uniqueArray(fc.integer({ min: 1, max: 2_000 }), { maxLength: 6 })
  fc.assert(
    fc.property(ids, ids, fc.constantFrom(ascending, descending), (added, removed, shape) => {
      const before = load(shape, idsFrom(10, 2_000, 10))
      const after = merge(
        shape,
        before,
        added.map((id) => recordOf(id, 350)),
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
  })

  test(`new records at the growing end leave all others where they are, ${shape.direction}`, () => {
    let listing = load(shape, idsFrom(1, 201))
    for (let id = 201; id < 300; id++) {
      const before = numbersOf(listing)
      const result = merge(shape, listing, [recordOf(id)])
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

test('records within a full segment part it in the middle', () => {
  const before = load(ascending, idsFrom(10, 2_000, 10))
  const after = merge(ascending, before, [recordOf(405)]).listing
  assert.equal(after.length, before.length + 1)
  const fresh = after.filter(({ entry }) => !numbersOf(before).includes(entry.segment))
  const [first = 0, second = 0] = sizesOf(fresh)
  assert.equal(fresh.length, 2)
  assert.ok(Math.abs(first - second) < 900, `${first} and ${second} bytes`)
})

test('a record between two full segments gets one of its own, and the next joins it', () => {
  const before = load(ascending, idsFrom(10, 2_000, 10))
  const next = decodeEntries(ascending, before[1]?.entries ?? Buffer.alloc(0)).ids[0] ?? 0
  const one = merge(ascending, before, [recordOf(next - 5, 900)])
  assert.deepEqual([one.read, one.listing.length], [[], before.length + 1])
  const two = merge(ascending, one.listing, [recordOf(next - 4)])
  assert.deepEqual([two.read, two.listing.length], [[1], before.length + 1])
})

test('texts are not read of segments of which nothing stays', () => {
  const before = load(ascending, idsFrom(1, 101))
  const none = merge(ascending, before, [], idsFrom(1, 101))
  assert.deepEqual([none.listing, none.read, none.plan.touched], [[], [], []])
  const replaced = merge(
    ascending,
    before,
    idsFrom(1, 101).map((id) => recordOf(id, 380)),
  )
  assert.deepEqual([replaced.read, replaced.plan.touched], [[], []])
})

test('the same changes give the same bytes, whatever was merged before', () => {
  const bytesOf = () => {
    const before = load(ascending, idsFrom(10, 3_000, 10))
    const { listing } = merge(ascending, before, [recordOf(405), recordOf(3_001)], [1_000])
    return listing.map(({ entries, texts }) => Buffer.concat([entries, texts]).toString('hex'))
  }
  const first = bytesOf()
  merge(
    descending,
    [],
    idsFrom(1, 2_000).map((id) => recordOf(id, 40, 'another')),
  )
  assert.deepEqual(bytesOf(), first)
})
