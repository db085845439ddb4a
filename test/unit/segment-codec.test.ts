// The codec of a segment's index: what is read is what was written, in few bytes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { employees } from '../../src/resources/employees.ts'
import {
  checkSegment,
  type ColumnValue,
  createIndexScanner,
  decodeEntries,
  encodeSegment,
  type IndexScanner,
  type ListedRecord,
  lists,
  recordsOf,
} from '../../src/store/listing/segment.ts'
import { type ListingShape, shapeOf } from '../../src/store/listing/shape.ts'

const shape: ListingShape = {
  listing: 'rights',
  direction: 'ascending',
  hasSort: true,
  metaColumn: undefined,
  columns: [
    { field: 'a', type: 'text' },
    { field: 'b', type: 'integer' },
    { field: 'c', type: 'text' },
    { field: 'd', type: 'integer' },
  ],
}

const greatest = Number.MAX_SAFE_INTEGER
/** Numbers as listings have them: all the same, in steps, whole days, far apart. */
const numbers: fc.Arbitrary<(n: number) => number> = fc.oneof(
  fc.maxSafeInteger().map((start) => () => start),
  fc.tuple(fc.integer({ min: -1e12, max: 1e12 }), fc.integer({ min: -1e9, max: 1e9 })).map(
    ([start, step]) =>
      (n: number) =>
        start + n * step,
  ),
  fc
    .array(fc.integer({ min: -20_000, max: 20_000 }), { minLength: 1 })
    .map((days) => (n: number) => (days[n % days.length] ?? 0) * 86_400),
  fc
    .constantFrom(255, 65_535, 2 ** 24 - 1, 2 ** 32 - 1, 2 ** 40 - 1, 2 ** 48 - 1, greatest)
    .chain((max) =>
      fc
        .array(fc.oneof(fc.integer({ min: 0, max }), fc.constantFrom(0, max)), { minLength: 1 })
        .map((some) => (n: number) => some[n % some.length] ?? 0),
    ),
  fc
    .array(fc.oneof(fc.maxSafeInteger(), fc.constantFrom(-greatest, greatest)), { minLength: 1 })
    .map((some) => (n: number) => some[n % some.length] ?? 0),
)
const texts: fc.Arbitrary<(n: number) => string> = fc.oneof(
  fc.string({ unit: 'grapheme' }).map((text) => () => text),
  fc
    .array(fc.string({ unit: 'binary', maxLength: 8 }), { minLength: 1 })
    .map((some) => (n: number) => some[n % some.length] ?? ''),
  fc.integer({ min: 0, max: 1e9 }).map((start) => (n: number) => String(start + n * 7)),
  fc.integer({ min: 0, max: 1e9 }).map((start) => (n: number) => (start + n).toString(16)),
)
const nullEach = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 4 }))

const records: fc.Arbitrary<ListedRecord[]> = fc
  .record({
    count: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constantFrom(1, 2, 3, 1_500)),
    ids: numbers,
    sorts: numbers,
    columns: fc.tuple(texts, numbers, texts, numbers),
    nulls: fc.tuple(nullEach, nullEach, nullEach, nullEach),
    length: fc.integer({ min: 0, max: 300 }),
  })
  .map(({ count, ids, sorts, columns, nulls, length }) =>
    Array.from({ length: count }, (_, n) => ({
      id: Math.abs(ids(n)),
      sort: sorts(n),
      source: (n >> 3) + 1,
      digest: Buffer.alloc(12, `${n}`),
      values: columns.map((valueOf, at): ColumnValue => {
        const each = nulls[at] ?? 0
        return each > 0 && n % each === 0 ? null : valueOf(n)
      }),
      text: Buffer.alloc(length + (n % 5), `{${n}}`),
    })),
  )

test('an index has what was put into it, whatever the values', () => {
  fc.assert(
    fc.property(records, (list) => {
      const segment = encodeSegment(shape, list)
      assert.equal(checkSegment(shape, segment.entries, segment.texts), undefined)
      const index = decodeEntries(shape, segment.entries)
      const read = [...recordsOf(index, segment.texts)]
      assert.deepEqual(
        read.map(({ id, sort, source, values }) => ({ id, sort, source, values })),
        list.map(({ id, sort, source, values }) => ({ id, sort, source, values })),
      )
      read.forEach(({ digest, text }, n) => {
        assert.ok(Buffer.from(digest).equals(list[n]?.digest ?? digest.subarray(1)))
        assert.ok(Buffer.from(text).equals(list[n]?.text ?? text.subarray(1)))
      })
    }),
    { numRuns: 150 },
  )
})

test('a scan reads the same lists in any order, and their bounds hold', () => {
  const scanner = createIndexScanner(shape)
  fc.assert(
    fc.property(records, (list) => {
      const { entries } = encodeSegment(shape, list)
      const { ids, sorts, lengths, columns } = decodeEntries(shape, entries)
      assert.equal(scanner.open(entries), list.length)
      columns.forEach((column, n) => {
        const at = lists.columns + n
        if (column.type === 'text') return assert.deepEqual(scanner.texts(at), column)
        assert.deepEqual(scanner.numbers(at), column.numbers)
        checkBounds(scanner.bounds(at), column.numbers)
      })
      assert.deepEqual(scanner.numbers(lists.sorts), sorts)
      checkBounds(scanner.bounds(lists.sorts), sorts)
      assert.deepEqual(scanner.lengths(), lengths)
      assert.deepEqual(scanner.numbers(lists.ids), ids)
    }),
    { numRuns: 150 },
  )
})

/** The least number is exact, unless a bound is unknown. */
function checkBounds(
  { least, most, hasNull }: ReturnType<IndexScanner['bounds']>,
  numbers: Float64Array,
): void {
  const known = numbers.filter((number) => !Number.isNaN(number))
  assert.equal(hasNull, known.length < numbers.length)
  assert.ok(known.every((number) => number >= least && number <= most))
  if (least > -Infinity && known.length > 0) assert.equal(least, Math.min(...known))
}

test('damaged bytes are reported, and never end the process', () => {
  // The first bytes say what the others are.
  const anyPlace = fc.oneof(fc.nat(7), fc.nat())
  fc.assert(
    fc.property(records, anyPlace, fc.integer({ min: 1, max: 255 }), (list, place, flip) => {
      const { entries, texts: joined } = encodeSegment(shape, list)
      const damaged = Buffer.from(entries)
      const at = place % damaged.length
      damaged[at] = (damaged[at] ?? 0) ^ flip
      assert.notEqual(checkSegment(shape, damaged, joined), undefined)
      try {
        decodeEntries(shape, damaged)
      } catch (error) {
        assert.ok(error instanceof Error)
      }
    }),
    { numRuns: 150 },
  )
})

test('a record like an employee takes at most 45 bytes of an index', () => {
  const positions = ['Director', 'Engineer', 'Chief accountant', 'Clerk', 'Warehouse supervisor']
  const list = Array.from({ length: 23 }, (_, n) => ({
    id: 4_000_000 + n,
    sort: 0,
    source: 1,
    digest: Buffer.alloc(12, n + 1),
    values: [
      String(40_000_000_000 + n * 987_654_321),
      positions[(n * 3) % 5] ?? null,
      (7_000 + ((n * 7_919) % 12_000)) * 86_400,
      null,
      1_500_000_000_000 + n * 9_876_543_219,
    ],
    text: Buffer.alloc(370 + ((n * 13) % 60), 'x'),
  }))
  const { entries } = encodeSegment(shapeOf(employees), list)
  assert.ok(entries.length / list.length <= 45, `${entries.length / list.length} bytes`)
})
