import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { formatCount } from '../../src/text/format-count.ts'

test('a count has a comma before every three digits', () => {
  for (const edge of [0, 999, 1_000, 999_999, 1_000_000]) {
    assert.equal(formatCount(edge), edge.toLocaleString('en'))
  }
  fc.assert(
    fc.property(fc.maxSafeNat(), (count) => {
      assert.equal(formatCount(count), count.toLocaleString('en'))
    }),
  )
})
