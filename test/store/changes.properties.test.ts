// Who applies all pages of changes goes from one true state of the registry to another, whatever
// was imported, taken back and pruned meanwhile (contract 12.2, 12.3).

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { openStoreReader } from '../../src/store/open-store.ts'
import type { StoreReader } from '../../src/store/reading.ts'
import { type Copy, createFollower, readServed, type Told } from '../support/follower.ts'
import { importRows, makeFolder, query } from '../support/import-rows.ts'
import { runStep, step } from '../support/random-steps.ts'
import { patientBounds, runsOf, storeAt } from '../support/store-at.ts'

const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)

const action = fc.oneof(
  { weight: 1, arbitrary: step.map((one) => ({ step: one })) },
  {
    weight: 2,
    arbitrary: fc.record({
      follower: fc.integer({ min: 0, max: 2 }),
      limit: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.constantFrom(20, 1_000)),
    }),
  },
)

function companiesIn(db: string): number[] {
  const rows = query(
    db,
    'select id from companies union select company_id from companies_past union ' +
      'select company_id from heads order by 1',
  )
  return rows.map((row) => Number(Object.values(row)[0]))
}

/** The states that were served, by version. */
type States = Map<number, Copy>

async function note(db: string, reader: StoreReader, states: States): Promise<void> {
  const { version, earliestVersion } = await reader.readRegistry()
  for (let one = Math.max(earliestVersion, states.size); one <= version; one += 1) {
    states.set(one, await readServed(reader, companiesIn(db), one))
  }
  for (let one = 0; one <= version; one += 1) if (!states.has(one)) states.set(one, new Map())
}

/** Where nothing is pruned, changes are net, and says in which version it has changed. */
function checkNet(told: readonly Told[], states: States, since: number, until: number): void {
  const [before, after] = [states.get(since), states.get(until)]
  assert.ok(before && after)
  for (const { key, kind, version, text } of told) {
    assert.notEqual(before.get(key), after.get(key), `${key} has not changed`)
    assert.equal(kind, after.has(key) ? 'put' : 'remove')
    assert.ok(version > since && version <= until)
    // It has been so since that version, and was not in the one before.
    for (let one = version; one <= until; one += 1) assert.equal(states.get(one)?.get(key), text)
    assert.notEqual(states.get(version - 1)?.get(key), text)
  }
}

test(`a follower always has a true state (seed ${seed})`, async (t) => {
  let count = 0
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 5, maxLength: 40 }), async (actions) => {
      const db = join(makeFolder(t), `${(count += 1)}.db`)
      await importRows(db, 'rights', [{ id: 1, company_id: 1, name: 'first' }])
      const reader = await openStoreReader(storeAt(db), patientBounds)
      const states: States = new Map([[0, new Map<string, string>()]])
      const followers = [createFollower(), createFollower(), createFollower()]
      let day = 0
      async function follow(n: number, limit: number): Promise<boolean> {
        const one = followers[n]
        assert.ok(one)
        const since = one.since().version
        const applied = await one.step(reader, limit)
        if (applied === undefined || applied === 'pruned') return false
        const { told, until } = applied
        assert.deepEqual(one.copy(), states.get(until.version))
        const { earliestVersion } = await reader.readRegistry()
        if (since >= earliestVersion || since === 0) {
          if (earliestVersion === 1) checkNet(told, states, since, until.version)
        }
        return true
      }
      try {
        await note(db, reader, states)
        for (const action of actions) {
          if ('step' in action) {
            const { version, earliestVersion } = await reader.readRegistry()
            const now = { day: (day += 1), latest: version, earliest: earliestVersion }
            await runStep(db, action.step, now)
            // A reader asks once in a turn of the event loop whether anything was committed.
            await nextTurn()
            await note(db, reader, states)
          } else await follow(action.follower, action.limit)
        }
        for (const n of followers.keys()) {
          while (!(await follow(n, 3)));
          const { version } = await reader.readRegistry()
          if (followers[n]?.since().version !== version) while (!(await follow(n, 1_000)));
          assert.deepEqual(followers[n]?.copy(), states.get(version))
        }
      } finally {
        await reader.close()
      }
    }),
    { numRuns: runsOf(150), seed },
  )
})
