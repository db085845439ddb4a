// What is kept of views: bounded in bytes and in age.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createViews, type View } from '../../src/store/views.ts'

const minute = 60_000
const viewOf = (lineage: string, records = 1): View => ({
  ...{ lineage, entries: new Int32Array(records), past: [] },
})

test('views are kept for ten minutes, and the age of the oldest is known', async () => {
  let now = 1
  const views = createViews(1_048_576, () => now)
  assert.equal(views.counts().oldestMs, 0)
  await views.make('a', 'one', () => Promise.resolve(viewOf('one')))
  now += 4 * minute
  await views.make('b', 'one', () => Promise.resolve(viewOf('one')))
  now += 5 * minute
  assert.ok(views.get('a', 'one'), 'to use it makes it no younger')
  assert.deepEqual([views.counts().kept, views.counts().oldestMs], [2, 9 * minute])
  now += 2 * minute
  assert.equal(views.get('a', 'one'), undefined)
  assert.deepEqual([views.counts().kept, views.counts().oldestMs], [1, 7 * minute])
  now += 9 * minute
  assert.deepEqual([views.counts().kept, views.counts().bytes, views.counts().oldestMs], [0, 0, 0])
})

test('views take no more memory than is said', async () => {
  const views = createViews(10_000)
  for (let n = 0; n < 20; n += 1) {
    await views.make(String(n), 'one', () => Promise.resolve(viewOf('one', 250)))
  }
  const { kept, bytes, made } = views.counts()
  assert.ok(kept > 0 && bytes <= 10_000, `${kept} of ${bytes} bytes`)
  assert.equal(made, 20)
  assert.ok(views.get('19', 'one'))
})

test('of views larger than all of the room, the last one is kept (3.5)', async () => {
  const views = createViews(10_000)
  const make = (key: string, records: number) =>
    views.make(key, 'one', () => Promise.resolve(viewOf('one', records)))
  await make('small', 10)
  await make('large', 100_000)
  assert.ok(views.get('large', 'one'), 'its next page costs what any page costs')
  await make('larger', 200_000)
  assert.equal(views.get('large', 'one'), undefined)
  assert.ok(views.get('larger', 'one'))
  assert.ok(views.get('small', 'one'), 'it drives out no small one')
  const { kept, bytes } = views.counts()
  assert.ok(kept === 2 && bytes > 800_000 && bytes < 900_000, `${kept} of ${bytes} bytes`)
})

test('a view of another state is not served', async () => {
  const views = createViews(10_000)
  await views.make('a', 'one', () => Promise.resolve(viewOf('one')))
  assert.equal(views.get('a', 'two'), undefined)
})
