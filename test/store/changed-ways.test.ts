// Changes lead from any version to any later one (contract 12.2): whatever the sources of companies
// say (8.4), and in listings of many segments.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createRandom } from '../../src/demo/random.ts'
import type { StoreReader } from '../../src/store/serving/store-reader.ts'
import { checkWay, type Copy, createFollower, readServed } from '../support/follower.ts'
import { importRows } from '../support/import-rows.ts'
import { withReader } from '../support/open-reader.ts'
import { runStep } from '../support/random-steps.ts'
import { seed } from '../support/store-at.ts'
import { makeSoundStore } from '../support/verify-store.ts'

/** Reads what is served at each version, the one before the first import included. */
async function withStates(
  db: string,
  ids: readonly number[],
  work: (reader: StoreReader, states: readonly Copy[]) => Promise<void>,
): Promise<void> {
  await withReader(db, async (reader) => {
    await nextTurn()
    const { version: last } = await reader.readRegistry()
    const states = [new Map<string, string>()]
    for (let one = 1; one <= last; one += 1) states.push(await readServed(reader, ids, one))
    await work(reader, states)
  })
}

const jurisdiction = 'GB'
const long = 'x'.repeat(9_000)
const named = (id: number, more: object) => ({
  id,
  jurisdiction,
  identifier: String(id),
  ...more,
})

/** What one source says: names that are hard to find or to copy. */
const odd = [
  named(1, { name: 'Plain Limited', address: 'Quay Street' }),
  named(2, { address: 'without a name' }),
  named(3, { name: 'Ünïcode 雪 😀', city: 'Ærø' }),
  named(4, { name: 'with "quotes" and \\ backslash' }),
  named(5, { name: 'ends with a backslash \\' }),
  named(6, { a: { name: 'inner' }, name: 'outer' }),
  named(7, { a: [{ name: 'inner' }], b: 'only inner ones' }),
  named(8, { a: '{"name":"in a text"}', 'full"name': 'another', name: 'true one' }),
  named(9, { 'full"name': 'another' }),
  named(10, { name: ['a', 'list'] }),
  named(11, { name: '', constructor: 'x' }),
  named(12, { name: 'tab\tand line\nend \u0001 \u007f \u2028', z: { '{': '"' } }),
  { ...named(13, { name: 'its number is odd' }), identifier: 'É"\\13' },
  named(14, { name: long, address: long }),
]

/** The last version: a revert of two sources is two versions. */
const last = 7

test('changes give each company as its address does, at every version', async (t) => {
  const db = makeSoundStore(t)
  await importRows(db, 'rights', [{ id: 1, company_id: 14, name: 'a' }])
  await importRows(db, 'companies', odd)
  const second = { source: 'other', nameAttribute: 'trade "name"', asOf: '2024-01-31T00:00:00Z' }
  const trade = (id: number, name: unknown) => named(id, { 'trade "name"': name, note: long })
  const rows = [trade(1, 'É "two"'), trade(3, null), trade(14, 'two'), trade(20, 'É "one"')]
  await importRows(db, 'companies', rows, second)
  await importRows(db, 'rights', [{ id: 2, company_id: 30, name: 'b' }])
  await runStep(
    db,
    { kind: 'revert', versions: 2, isOfOne: false },
    { day: 1, latest: 4, earliest: 1 },
  )
  await importRows(db, 'companies', [named(1, { name: 'Newer' })], { isSnapshot: true })
  const ids = Array.from({ length: 40 }, (_, n) => n + 1)
  await withStates(db, ids, async (reader, states) => {
    assert.equal(states.length, last + 1)
    for (let since = 0; since <= last; since += 1) {
      for (let until = since; until <= last; until += 1) {
        for (const limit of [3, 1_000]) await checkWay(reader, limit, [since, until], states)
      }
    }
  })
})

test(`changes of long listings lead from each version to each (seed ${seed})`, async (t) => {
  const db = makeSoundStore(t)
  const { integer } = createRandom(seed)
  const random = (below: number) => integer(0, below - 1)
  const dayOf = () => new Date(Date.UTC(2020, 0, 1 + random(400))).toISOString().slice(0, 10)
  const row = (id: number) => {
    return { id, company_id: 1 + (id % 2), date: dayOf(), attr: 'x'.repeat(1 + random(200)) }
  }
  let rows = Array.from({ length: 1_600 }, (_, n) => row(n + 1))
  await importRows(db, 'events', rows)
  for (const [from, changed] of [
    [0, 1_600],
    [700, 40],
    [300, 900],
  ] as const) {
    // Of those in the range, some have another text, some another day, and some are gone.
    rows = rows.flatMap((one, n) => {
      const what = n < from || n >= from + changed ? 9 : random(6)
      if (what === 0) return []
      if (what === 1) return { ...one, attr: `${one.attr}y` }
      return what === 2 ? { ...one, date: dayOf() } : one
    })
    const first = (rows.at(-1)?.id ?? 0) + 1
    rows.push(...Array.from({ length: random(60) }, (_, n) => row(first + n)))
    await importRows(db, 'events', rows, { isSnapshot: true })
  }
  await withStates(db, [1, 2], async (reader, states) => {
    for (const way of ['01', '12', '13', '14', '23', '24', '34']) {
      const [since = 0, until = 0] = Array.from(way, Number)
      for (const limit of ['14', '23'].includes(way) ? [1_000, 37] : [1_000]) {
        await checkWay(reader, limit, [since, until], states)
      }
    }
    // Who has an older state than is known is told all that may have been there.
    const follower = createFollower()
    while ((await follower.step(reader, 1_000, 1)) === undefined);
    await runStep(db, { kind: 'prune', kept: 0 }, { day: 1, latest: 4, earliest: 1 })
    await nextTurn()
    while ((await follower.step(reader, 90)) === undefined);
    assert.deepEqual(follower.copy(), states[4], 'after a prune')
  })
})

test('a page of large companies has as many as fit', async (t) => {
  const db = makeSoundStore(t)
  const texts = Array.from({ length: 16 }, (_, n) => [`a${n}`, 'x'.repeat(64_000)] as const)
  const rows = Array.from({ length: 12 }, (_, n) => named(n + 1, Object.fromEntries(texts)))
  await importRows(db, 'companies', rows)
  await withReader(db, async (reader) => {
    const walk = { hasCompanies: true, resources: [], companyId: undefined, limit: 100 }
    const asked = { ...walk, since: { version: 0 }, until: undefined }
    const pages: (readonly number[])[] = []
    for (let after; ;) {
      const page = await reader.readChanges({ ...asked, after })
      assert.ok('changes' in page)
      pages.push(page.changes.flatMap(({ ids }) => [...ids]))
      after = page.next
      if (after === undefined) break
    }
    const lengths = pages.map(({ length }) => length)
    assert.deepEqual(lengths, [8, 4])
    assert.deepEqual(pages.flat(), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
  })
})
