// Which listings are open together, so that an import of changes to many long ones stays within its
// memory.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inGroups } from '../../src/store/listing/open-listings.ts'

/** The heads of listings with so many records, of the companies 1, 2 and so on. */
const headsOf = (totals: readonly number[]) =>
  totals.map((total, n) => ({ companyId: n + 1, total }))

test('many short listings are open together, and few long ones', () => {
  const companies = Array.from({ length: 1_000 }, (_, n) => n + 1)
  assert.deepEqual([...inGroups(companies, headsOf(companies.map(() => 499)))], [companies])
  const long = headsOf([1, 400_000, 200_000, 9_000_000, 5, 5])
  // The company 7 has no listing yet.
  assert.deepEqual([...inGroups([1, 2, 3, 4, 5, 6, 7], long)], [[1, 2, 3], [4], [5, 6, 7]])
})

test('two states of listings are open together', () => {
  const heads = [...headsOf([1, 1, 300_000]), ...headsOf([500_000, 1, 300_000])]
  assert.deepEqual([...inGroups([1, 2, 3], heads)], [[1], [2, 3]])
})

test('no company makes no group', () => {
  assert.deepEqual([...inGroups([], [])], [])
})
