// Whatever was imported, taken back and pruned: who applies all pages of changes goes from one true
// state of the registry to another (contract 12.2, 12.3), and a company at a version is what it was
// when that version was the last one (9.1), with the counts of its records (8.4) and its own id.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { openStoreReader } from '../../src/store/open-store.ts'
import { resources } from '../../src/resources/index.ts'
import type { CompanyState, StoreReader } from '../../src/store/reading.ts'
import type { ValueCount } from '../../src/store/serving/value-counts.ts'
import {
  companiesIn,
  type Copy,
  createFollower,
  readServed,
  type Told,
} from '../support/follower.ts'
import { importRows, makeFolder } from '../support/import-rows.ts'
import { readListing } from '../support/read-listing.ts'
import { runStep, step } from '../support/random-steps.ts'
import { patientBounds, runsOf, storeAt } from '../support/store-at.ts'
import { checkSound } from '../support/verify-store.ts'

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

/** The states that were served, by version. */
type States = Map<number, Copy>

/** What was served of companies when a version was the last one, by id. */
type Companies = ReadonlyMap<number, Omit<CompanyState, 'registry'>>

async function note(db: string, reader: StoreReader, states: States): Promise<void> {
  const { version, earliestVersion } = await reader.readRegistry()
  for (let one = Math.max(earliestVersion, states.size); one <= version; one += 1) {
    states.set(one, await readServed(reader, companiesIn(db), one))
  }
  for (let one = 0; one <= version; one += 1) if (!states.has(one)) states.set(one, new Map())
}

async function readCompanies(
  db: string,
  reader: StoreReader,
  version: number | undefined,
): Promise<Companies> {
  const companies = new Map<number, Omit<CompanyState, 'registry'>>()
  for (const companyId of companiesIn(db)) {
    const state = await reader.readCompany({ companyId, version, resources })
    if (state === undefined || 'outside' in state) continue
    const { registry, ...rest } = state
    assert.ok(registry.version > 0)
    companies.set(companyId, rest)
  }
  return companies
}

/** The counts of each listing of a company, by its records. */
async function checkCounts(reader: StoreReader, companies: Companies): Promise<void> {
  for (const [companyId, { listings }] of companies) {
    for (const { resource, total, version, counts } of listings) {
      const page = await readListing(reader, resource, companyId)
      assert.deepEqual([page?.total, page?.version], [total, version])
      const records = JSON.parse(`[${page?.text ?? ''}]`) as Record<string, string>[]
      for (const [field, found] of Object.entries(counts)) {
        const groups = [...Map.groupBy(records, (record) => record[field] ?? null)]
        const expected = groups.map(([value, { length }]): ValueCount => [value, length])
        assert.deepEqual(found, expected.sort(byCount), field)
      }
    }
  }
}

function byCount([a, countOfA]: ValueCount, [b, countOfB]: ValueCount): number {
  const key = (value: string | null) => (value === null ? 'ff' : Buffer.from(value).toString('hex'))
  return countOfB - countOfA || (key(a) < key(b) ? -1 : 1)
}

/** An id is one company's, and a company has one id, for good (decision 5). */
function checkIds(companies: Companies, named: Map<string, number>): void {
  for (const [id, { company }] of companies) {
    if (company.identifier === null) continue
    assert.equal(named.get(company.identifier) ?? id, id, company.identifier)
    named.set(company.identifier, id)
  }
  assert.equal(new Set(named.values()).size, named.size)
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

test(`a follower always has a true state, and versions stay as they were served (seed ${seed})`, async (t) => {
  let count = 0
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 5, maxLength: 40 }), async (actions) => {
      const db = join(makeFolder(t), `${(count += 1)}.db`)
      await importRows(db, 'rights', [{ id: 1, company_id: 1, name: 'first' }])
      const reader = await openStoreReader(storeAt(db), patientBounds)
      const states: States = new Map([[0, new Map<string, string>()]])
      const companies = new Map<number, Companies>()
      const named = new Map<string, number>()
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
            const last = (await reader.readRegistry()).version
            const present = await readCompanies(db, reader, undefined)
            companies.set(last, present)
            await checkCounts(reader, present)
            checkIds(present, named)
          } else await follow(action.follower, action.limit)
        }
        for (const n of followers.keys()) {
          while (!(await follow(n, 3)));
          const { version } = await reader.readRegistry()
          if (followers[n]?.since().version !== version) while (!(await follow(n, 1_000)));
          assert.deepEqual(followers[n]?.copy(), states.get(version))
        }
        const { earliestVersion } = await reader.readRegistry()
        for (const [version, then] of companies) {
          if (version < earliestVersion) continue
          assert.deepEqual(await readServed(reader, companiesIn(db), version), states.get(version))
          assert.deepEqual(await readCompanies(db, reader, version), then)
        }
        await nextTurn()
        await checkSound(db)
      } finally {
        await reader.close()
      }
    }),
    { numRuns: runsOf(90), seed },
  )
})
