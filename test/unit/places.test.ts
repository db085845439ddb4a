// Places shared among keys, without anybody's setting.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPlaces } from '../../src/http/places.ts'

test('a place that is given back, even twice, is free once (L3)', () => {
  const places = createPlaces('scans', 4)
  const [first, second] = [places.take(1), places.take(1)]
  first()
  first()
  assert.throws(() => places.take(2, 4), { excess: 'scans' })
  second()
  places.take(2, 4)
})
