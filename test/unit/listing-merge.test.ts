// Merges of listings compared with a simple model: a list of records in order.

import { sliceTexts } from '../../src/store/listing/read-page.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  buildDirectory,
  collectLeaves,
  decodeDirectory,
  type DirectoryEntry,
  entriesMax,
  findRange,
  openDirectory,
} from '../../src/store/listing/directory.ts'
import { applyPlan, compareOrder, planMerge } from '../../src/store/listing/merge.ts'
import {
  checkSegment,
  decodeEntries,
  type ListedRecord,
  recordsOf,
} from '../../src/store/listing/segment.ts'
import type { ListingShape } from '../../src/store/listing/shape.ts'

const shapes: readonly ListingShape[] = (['ascending', 'descending'] as const).flatMap(
  (direction) =>
    [true, false].map((hasSort) => ({
      ...{ listing: 'rights', direction, hasSort, metaColumn: undefined },
      columns: [
        { field: 'status', type: 'text' },
        { field: 'day', type: 'integer' },
      ],
    })),
)

interface Given {
  readonly id: number
  readonly sort: number
  readonly status: string | null
  readonly day: number | null
  readonly length: number
}

const wide = { min: -Number.MAX_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER }
const given: fc.Arbitrary<Given> = fc.record({
  id: fc.oneof(fc.integer({ min: 1, max: 60 }), fc.constant(Number.MAX_SAFE_INTEGER)),
  sort: fc.integer({ min: -3, max: 3 }),
  status: fc.option(fc.constantFrom('a', 'ß', '😀', '')),
  day: fc.option(fc.oneof(fc.integer({ min: 0, max: 9 }), fc.integer(wide))),
  length: fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 12_000 })),
})

function recordOf(shape: ListingShape, { id, sort, status, day, length }: Given): ListedRecord {
  const text = Buffer.from(`{"id":${id},"text":"${'é'.repeat(length / 2)},{\\"id\\":"}`)
  const digest = Buffer.alloc(12, `${sort}${status}${day}${length}`)
  const source = (id % 3) + 1
  return { id, sort: shape.hasSort ? sort : 0, source, digest, values: [status, day], text }
}

const step = fc.record({
  puts: fc.uniqueArray(given, { maxLength: 30, selector: ({ id }) => id }),
  removed: fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 30 }),
})

/** A listing in segments, as a store keeps it. */
function createListing(shape: ListingShape) {
  const stored = new Map<number, { entries: Buffer; texts: Buffer }>()
  let entries: readonly DirectoryEntry[] = []
  let last = 0
  const find = (segment: number) => {
    const found = stored.get(segment)
    assert.ok(found, `segment ${segment} is missing`)
    return found
  }
  return {
    stored,
    entries: () => entries,
    find,
    change(puts: readonly ListedRecord[], removed: ReadonlySet<number>): void {
      const old = entries.map((entry) => {
        return { entry, index: decodeEntries(shape, find(entry.segment).entries) }
      })
      const plan = planMerge(shape, old, { puts, removed })
      const merged = applyPlan(
        shape,
        plan,
        (at) => find(entries[at]?.segment ?? 0).texts,
        () => (last += 1),
      )
      for (const { segment, ...row } of merged.written) stored.set(segment, row)
      entries = merged.entries
    },
    records: () =>
      entries.flatMap(({ segment }) => {
        const { entries: bytes, texts } = find(segment)
        assert.equal(checkSegment(shape, bytes, texts), undefined)
        return [...recordsOf(decodeEntries(shape, bytes), texts)]
      }),
  }
}

const plain = ({ id, sort, source, digest, values, text }: ListedRecord) => ({
  ...{ id, sort, source, values: [...values] },
  digest: Buffer.from(digest).toString('hex'),
  text: Buffer.from(text).toString(),
})

for (const shape of shapes) {
  const name = `${shape.direction}${shape.hasSort ? ' by a value' : ''}`
  test(`any changes give the listing that a simple list would be, ${name}`, () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), (steps) => {
        const listing = createListing(shape)
        let model: ListedRecord[] = []
        for (const { puts, removed } of steps) {
          const records = puts.map((one) => recordOf(shape, one))
          records.sort((a, b) => compareOrder(shape, a, b))
          const before = listing.entries()
          listing.change(records, new Set(removed))
          const gone = new Set([...removed, ...records.map(({ id }) => id)])
          model = [...model.filter(({ id }) => !gone.has(id)), ...records]
          model.sort((a, b) => compareOrder(shape, a, b))
          assert.deepEqual(listing.records().map(plain), model.map(plain))
          checkEntries(listing, before, gone)
        }
      }),
      { numRuns: 60 },
    )
  })
}

/** Counts and sizes are those of the segments; one that no change touches stays. */
function checkEntries(
  { entries, find }: ReturnType<typeof createListing>,
  before: readonly DirectoryEntry[],
  gone: ReadonlySet<number>,
): void {
  for (const { segment, records, bytes, largest } of entries()) {
    assert.equal(bytes, find(segment).texts.length)
    assert.ok(records > 0 && largest <= bytes && largest > 0)
    assert.ok(records === 1 || bytes <= 10_400, `${records} records of ${bytes} bytes`)
  }
  if (gone.size === 0) assert.deepEqual(entries(), before)
}

test('texts are cut at any two records', () => {
  const shape = shapes[1] ?? assert.fail()
  const records = Array.from({ length: 9 }, (_, n) =>
    recordOf(shape, { id: n + 1, sort: 0, status: null, day: null, length: n * 7 }),
  )
  const texts = Buffer.from(records.map(({ text }) => Buffer.from(text).toString()).join(','))
  for (let from = 0; from < 9; from++) {
    for (let to = from + 1; to <= 9; to++) {
      const expected = records.slice(from, to).map(({ text }) => Buffer.from(text).toString())
      assert.equal(Buffer.from(sliceTexts(texts, 9, from, to)).toString(), expected.join(','))
    }
  }
})

test('a flipped byte or a cut is found', () => {
  const shape = shapes[0] ?? assert.fail()
  const listing = createListing(shape)
  const puts = [1, 2, 3].map((id) =>
    recordOf(shape, { id, sort: 1, status: 'a', day: 5, length: 20 }),
  )
  listing.change(puts, new Set())
  const [segment] = listing.stored.values()
  assert.ok(segment !== undefined)
  for (const name of ['entries', 'texts'] as const) {
    for (let at = 0; at < segment[name].length; at++) {
      const damaged = Buffer.from(segment[name])
      damaged[at] = (damaged[at] ?? 0) ^ 0x10
      const { entries, texts } = { ...segment, ...Object.fromEntries([[name, damaged]]) }
      assert.notEqual(checkSegment(shape, entries, texts), undefined, `${name} at ${at}`)
      const cut = { ...segment, ...Object.fromEntries([[name, segment[name].subarray(0, at)]]) }
      assert.notEqual(checkSegment(shape, cut.entries, cut.texts), undefined, `${name} to ${at}`)
    }
  }
})

test('a long directory has levels, and a change at either end writes few nodes', async () => {
  const leaves = Array.from({ length: 70_000 }, (_, n) => {
    return { segment: n + 10, records: 10 + (n % 7), bytes: 4_000, largest: 400 + (n % 50) }
  })
  let last = 100_000
  const nodes = new Map<number, Uint8Array>()
  const read = (numbers: readonly number[]) => numbers.map((one) => nodes.get(one) ?? assert.fail())
  const build = async (entries: readonly DirectoryEntry[], former?: string) => {
    const known = former === undefined ? [] : (await openDirectory(former, read)).nodes
    const built = buildDirectory(entries, known, () => (last += 1))
    for (const { segment, entries: bytes } of built.nodes) nodes.set(segment, bytes)
    return built
  }
  const { directory } = await build(leaves)
  assert.ok(directory.length < 8_192)
  assert.ok(decodeDirectory(directory).entries.length <= entriesMax)
  assert.deepEqual(await collectLeaves(directory, read), leaves)
  const added = { segment: 90_000, records: 3, bytes: 100, largest: 60 }
  for (const changed of [
    [...leaves, added],
    [added, ...leaves],
  ]) {
    const built = await build(changed, directory)
    assert.ok(built.nodes.length <= 4, `${built.nodes.length} nodes`)
    assert.deepEqual(await collectLeaves(built.directory, read), changed)
  }
  const starts = [0]
  for (const { records } of leaves) starts.push((starts.at(-1) ?? 0) + records)
  for (const offset of [0, 1, 9, 10, 11, 5_000, 123_456, (starts.at(-1) ?? 0) - 1]) {
    const range = await findRange(directory, offset, 100, read)
    const first = starts.findIndex((start, n) => start <= offset && offset < (starts[n + 1] ?? 0))
    assert.equal(range.first, starts[first])
    assert.equal(range.entries[0]?.segment, leaves[first]?.segment)
    const records = range.entries.reduce((sum, one) => sum + one.records, range.first)
    assert.ok(records >= Math.min(offset + 100, starts.at(-1) ?? 0))
  }
})
