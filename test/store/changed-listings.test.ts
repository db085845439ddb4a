// Changes of listings of many segments, between any two versions (contract 12.2).

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { openStoreReader } from '../../src/store/open-store.ts'
import { checkWay, createFollower, readServed } from '../support/follower.ts'
import { importRows, makeFolder } from '../support/import-rows.ts'
import { runStep } from '../support/random-steps.ts'
import { patientBounds, storeAt } from '../support/store-at.ts'

const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)

interface Row {
  readonly id: number
  readonly company_id: number
  readonly date: string
  readonly attr: string
}

/** A generator of numbers below a bound, the same for each seed. */
function createRandom(): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

test(`changes of long listings lead from each version to each (seed ${seed})`, async (t) => {
  const db = join(makeFolder(t), 'registry.db')
  const random = createRandom()
  const dayOf = () => new Date(Date.UTC(2020, 0, 1 + random(400))).toISOString().slice(0, 10)
  const row = (id: number): Row => {
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
  const reader = await openStoreReader(storeAt(db), patientBounds)
  const states = [new Map<string, string>()]
  const follow = async (limit: number, ways: readonly (readonly [number, number])[]) => {
    for (const way of ways) await checkWay(reader, limit, way, states)
  }
  try {
    await nextTurn()
    for (let one = 1; one <= 4; one += 1) states.push(await readServed(reader, [1, 2], one))
    await follow(1_000, [
      [0, 1],
      [1, 2],
      [1, 3],
      [1, 4],
      [2, 3],
      [2, 4],
      [3, 4],
    ])
    await follow(37, [
      [1, 4],
      [2, 3],
    ])
    // Who has an older state than is known is told all that may have been there.
    const follower = createFollower()
    while ((await follower.step(reader, 1_000, 1)) === undefined);
    await runStep(db, { kind: 'prune' }, { day: 1, latest: 4, earliest: 1 })
    await nextTurn()
    while ((await follower.step(reader, 90)) === undefined);
    assert.deepEqual(follower.copy(), states[4], 'after a prune')
  } finally {
    await reader.close()
  }
})
