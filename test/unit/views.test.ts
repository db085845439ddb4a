// What is kept of views: bounded in bytes and in age.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { View } from '../../src/store/listing/view.ts'
import { createViews } from '../../src/store/serving/views.ts'

const minute = 60_000
const viewOf = (records = 1): Promise<View> =>
  Promise.resolve({ segments: new Float64Array(2), places: new Uint32Array(2 * records) })

test('views are kept for ten minutes', async () => {
  let now = 1
  const views = createViews(1_048_576, () => now)
  await views.make('a', () => viewOf())
  const alone = views.counts().bytes
  now += 4 * minute
  await views.make('b', () => viewOf())
  now += 5 * minute
  assert.ok(views.get('a'), 'to use it makes it no younger')
  assert.equal(views.counts().bytes, 2 * alone)
  now += 2 * minute
  assert.equal(views.get('a'), undefined)
  assert.equal(views.counts().bytes, alone)
  now += 9 * minute
  assert.equal(views.counts().bytes, 0)
})

test('of views larger than all memory for views, the last one is kept (3.5)', async () => {
  const views = createViews(10_000)
  await views.make('small', () => viewOf(10))
  await views.make('large', () => viewOf(50_000))
  assert.ok(views.get('large'), 'its next page costs what any page costs')
  await views.make('larger', () => viewOf(100_000))
  assert.equal(views.get('large'), undefined)
  assert.ok(views.get('larger'))
  assert.ok(views.get('small'), 'it drives out no small one')
  const { bytes } = views.counts()
  assert.ok(bytes > 800_000 && bytes < 900_000, `${bytes} bytes`)
})
