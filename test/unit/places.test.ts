// Places shared among keys, without anybody's setting.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPlaces, type Places } from '../../src/http/places.ts'

/** Takes places for a key until it gets no more. */
function takeAll(places: Places, key: number): (() => void)[] {
  const taken: (() => void)[] = []
  for (;;) {
    const giveBack = places.take(key)
    if (giveBack === undefined) return taken
    taken.push(giveBack)
  }
}

test('a key gets half of the places that the others leave (L3)', () => {
  const places = createPlaces(32)
  const shares = [1, 2, 3, 4, 5].map((key) => takeAll(places, key).length)
  assert.deepEqual(shares, [16, 8, 4, 2, 1])
  assert.equal(takeAll(places, 6).length, 1, 'the last place is for a key that has none')
  assert.equal(places.count(), 32)
  assert.equal(takeAll(places, 7).length, 0)
})

test('a place that is given back, twice even, is free once', () => {
  const places = createPlaces(4)
  const [first, second] = takeAll(places, 1)
  first?.()
  first?.()
  assert.equal(places.count(), 1)
  second?.()
  assert.equal(places.count(), 0)
  assert.equal(takeAll(places, 1).length, 2)
})
