// Orders of views: what a sort by comparison finds, whatever the numbers and texts.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Scanned } from '../../src/store/listing/scan.ts'
import { orderScanned } from '../../src/store/serving/order-view.ts'
import { createPace } from '../../src/store/serving/pace.ts'
import { runsOf, seed } from '../support/store-at.ts'

type Direction = 'ascending' | 'descending'

interface Keyed {
  readonly id: number
  readonly key: number
}

/** Records in any order of their ids, which are distinct, with keys of which many are equal. */
function recordsWith(key: fc.Arbitrary<number>): fc.Arbitrary<readonly Keyed[]> {
  const id = fc.oneof(fc.integer({ min: 1, max: 9_999 }), fc.maxSafeNat())
  const some = fc.record({ id, key: fc.oneof(key, fc.constant(NaN)) })
  // More than are handled at a time.
  const length = { maxLength: 2_500, size: 'max' } as const
  const records = fc.uniqueArray(some, { ...length, selector: (record) => record.id })
  return fc.oneof(
    records,
    records.map((all) => all.toSorted((a, b) => a.id - b.id)),
  )
}

/** Checks an order against a naive sort; each record's place in the view is that in the list. */
async function checkOrder(
  records: readonly Keyed[],
  texts: readonly string[],
  direction: Direction,
): Promise<void> {
  const scanned: Scanned = {
    view: {
      segments: new Float64Array(),
      places: Uint32Array.from(records.flatMap((_, n) => [n, n])),
    },
    ids: Float64Array.from(records, ({ id }) => id),
    keys: Float64Array.from(records, ({ key }) => key),
    texts,
  }
  const bytes = texts.map((text) => Buffer.from(text))
  const valueOf = ({ key }: Keyed) => bytes[key] ?? key
  const compare = (a: number | Buffer, b: number | Buffer) =>
    typeof a === 'number' || typeof b === 'number' ? Number(a) - Number(b) : a.compare(b)
  const sign = direction === 'ascending' ? 1 : -1
  const expected = [...records.entries()].sort(([, a], [, b]) => {
    const byNull = Number(Number.isNaN(a.key)) - Number(Number.isNaN(b.key))
    const byKey = Number.isNaN(a.key) ? 0 : sign * compare(valueOf(a), valueOf(b))
    return byNull || byKey || sign * (a.id - b.id)
  })
  const { places } = await orderScanned(scanned, direction, createPace())
  assert.deepEqual(
    [...places],
    expected.flatMap(([n]) => [n, n]),
  )
}

const directions = fc.constantFrom<Direction>('ascending', 'descending')
// To make such lists smaller would take minutes.
const options = { numRuns: runsOf(50), seed, endOnFailure: true }

test(`records are ordered by numbers of any size, then by id, null last (seed ${seed})`, async () => {
  const numbers = fc.oneof(
    fc.integer({ min: -3, max: 3 }),
    fc.maxSafeInteger(),
    fc.constant(-0),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
  )
  const property = (records: readonly Keyed[], direction: Direction) =>
    checkOrder(records, [], direction)
  await fc.assert(fc.asyncProperty(recordsWith(numbers), directions, property), options)
})

test(`records are ordered by the code points of texts, then by id (seed ${seed})`, async () => {
  const unit = fc.oneof(fc.constantFrom('a', 'b', 'é', '\ud7ff', '\ue000', '\uffff', '😀'))
  const texts = fc.uniqueArray(fc.string({ unit, maxLength: 6 }), {
    minLength: 1,
    maxLength: 2_500,
    size: 'max',
  })
  const property = (some: readonly string[], direction: Direction, places: fc.GeneratorValue) => {
    const key = fc.integer({ min: 0, max: some.length - 1 })
    return checkOrder(places(recordsWith, key), some, direction)
  }
  await fc.assert(fc.asyncProperty(texts, directions, fc.gen(), property), options)
})
