import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextExtract } from '../../src/import/next-extract.ts'

const asOf = (day: string) => ({ version: 1, committedAt: 0, asOf: `${day}T00:00:00Z` })
const nextDay = (...days: string[]) => {
  const next = nextExtract(days.map(asOf))
  return next === undefined ? undefined : new Date(next).toISOString().slice(0, 10)
}

test('after regular extracts, the next one is due after their usual interval', () => {
  assert.equal(nextDay('2026-01-01', '2026-02-01', '2026-03-01'), '2026-04-01')
  assert.equal(nextDay('2026-01-01', '2026-01-08', '2026-01-15', '2026-01-22'), '2026-01-29')
  // The same day again is no interval.
  assert.equal(nextDay('2026-01-01', '2026-01-08', '2026-01-08', '2026-01-15'), '2026-01-22')
  // Only the last ones count.
  const early = ['2024-01-01', '2025-01-01']
  const weekly = Array.from({ length: 7 }, (_, n) => `2026-01-0${n + 1}`)
  assert.equal(nextDay(...early, ...weekly), '2026-01-08')
})

test('without regular intervals, no next extract is due', () => {
  assert.equal(nextDay(), undefined)
  assert.equal(nextDay('2026-01-01', '2026-02-01'), undefined)
  assert.equal(nextDay('2026-01-01', '2026-02-01', '2026-06-01'), undefined)
})

test('without dates, the times of the imports count', () => {
  const dayMs = 86_400_000
  const at = (days: number) => ({ version: 1, committedAt: days * dayMs, asOf: undefined })
  assert.equal(nextExtract([at(1), at(2), at(3)]), 4 * dayMs)
})
