import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nearNames, nearNamesMax } from '../../src/text/near-names.ts'

test('near names differ in case, leading zeros, blanks and hyphens, and are a dozen at most', () => {
  const near = (jurisdiction: string, identifier: string) =>
    nearNames(jurisdiction, identifier).map((name) => name.join(':'))
  assert.deepEqual(near('gb', ' 98-76 543'), [
    'GB:98-76 543',
    'GB:9876543',
    'GB:09876543',
    'GB:0009876543',
    'gb:98-76 543',
    'gb:9876543',
    'gb:09876543',
    'gb:0009876543',
  ])
  assert.ok(near('GB', '000').includes('GB:00000000'))
  for (const [jurisdiction, identifier] of [
    ['gb', ' a-b.c1 '],
    ['x', '0000'],
    [' Y ', 'é-ß 0'],
  ] as const) {
    const all = near(jurisdiction, identifier)
    assert.ok(all.length <= nearNamesMax && all.length > 0)
    assert.equal(new Set(all).size, all.length)
    assert.ok(!all.includes(`${jurisdiction}:${identifier}`))
  }
})
