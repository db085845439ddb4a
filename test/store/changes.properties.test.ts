// Whatever was imported, taken back, pruned and restored: each version is what a model says, who
// applies all pages of changes goes from one true state to another (contract 12.2, 12.3), and a
// company at a version is what it was when that version was the last one (9.1), with the counts of
// its records (8.4).

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { openStoreReader } from '../../src/store/open-store.ts'
import { resources } from '../../src/resources/index.ts'
import type { CompanyState } from '../../src/store/reading.ts'
import type { StoreReader } from '../../src/store/serving/store-reader.ts'
import type { ValueCount } from '../../src/store/serving/value-counts.ts'
import {
  companiesIn,
  type Copy,
  createFollower,
  readServed,
  type Told,
} from '../support/follower.ts'
import { makeFolder, queryStore } from '../support/import-rows.ts'
import { readListing } from '../support/read-listing.ts'
import { type ImportStep, runImport, runStep, step } from '../support/random-steps.ts'
import { createModel, type Model } from '../support/registry-model.ts'
import { patientBounds, runsOf, seed, storeAt } from '../support/store-at.ts'
import { keepStore } from '../support/store-state.ts'
import { checkSound } from '../support/verify-store.ts'

const action = fc.oneof(
  { weight: 6, arbitrary: fc.record({ step, times: fc.constantFrom(1, 1, 1, 2) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      follower: fc.integer({ min: 0, max: 2 }),
      limit: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.constantFrom(20, 1_000)),
      back: fc.constantFrom(0, 0, 0, 1, 2, 4),
    }),
  },
  fc.record({ isRestored: fc.boolean() }),
)

const actions = fc
  .array(action, { minLength: 5, maxLength: 40 })
  .map((all) =>
    all.flatMap((one) => Array.from({ length: 'step' in one ? one.times : 1 }, () => one)),
  )

const right = { id: 1, key: undefined, company: 1, row: { name: 'first' } }
const first: ImportStep = {
  kind: 'import',
  target: 'rights',
  source: 'a',
  isSnapshot: false,
  isRecorded: false,
  given: [{ name: 'id 1', ...right }],
  nameAttribute: undefined,
}

/** The states that were served, by version. */
type States = Map<number, Copy>

/** The recorded changes that the model does not tell. */
const officersIn = (states: States, version: number) =>
  [...(states.get(version) ?? [])].filter(([, text]) => text.includes('"attr":"officers"'))

/** What was served of companies when a version was the last one, by id. */
type Companies = ReadonlyMap<number, Omit<CompanyState, 'registry'>>

async function note(db: string, reader: StoreReader, states: States, model: Model): Promise<void> {
  const { version, earliestVersion } = await reader.readRegistry()
  assert.equal(version, model.latest())
  for (let one = Math.max(earliestVersion, states.size); one <= version; one += 1) {
    const served = await readServed(reader, companiesIn(db), one)
    states.set(one, served)
    // The versions of a revert come at once.
    if (one === version) model.check(served)
  }
  for (let one = 0; one <= version; one += 1) if (!states.has(one)) states.set(one, new Map())
  const sql = 'select version from imports where reverts is null and reverted_by is null order by 1'
  const inForce = (await queryStore(db, sql)).map((row) => Number(row['version']))
  assert.deepEqual(inForce, model.inForce())
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

/** A prune forgets in which version a company that is known got its number in a register. */
function withoutMarks(companies: Companies): readonly object[] {
  return [...companies.values()].map(({ company, sources, listings }) => {
    return { company, sources, listings }
  })
}

/** The records and the version of each listing. */
type Listings = ReadonlyMap<string, readonly [text: string, version: number]>

/** Checks the counts of each listing by its records; its version changes if they do. */
async function checkListings(
  reader: StoreReader,
  companies: Companies,
  former: Listings,
): Promise<Listings> {
  const now = new Map<string, readonly [string, number]>()
  for (const [companyId, { listings }] of companies) {
    for (const { resource, total, version, counts } of listings) {
      const page = (await readListing(reader, resource, companyId)) ?? assert.fail()
      assert.deepEqual([page.total, page.version], [total, version])
      const records = JSON.parse(`[${page.text}]`) as Record<string, string>[]
      for (const [field, found] of Object.entries(counts)) {
        const groups = [...Map.groupBy(records, (record) => record[field] ?? null)]
        const expected = groups.map(([value, { length }]): ValueCount => [value, length])
        assert.deepEqual(found, expected.sort(byCount), field)
      }
      const name = `${companyId} ${resource.name}`
      const [text, since] = former.get(name) ?? []
      if (text) assert.equal(text === page.text, since === version, name)
      now.set(name, [page.text, version])
    }
  }
  return now
}

function byCount([a, countOfA]: ValueCount, [b, countOfB]: ValueCount): number {
  const key = (value: string | null) => (value === null ? 'ff' : Buffer.from(value).toString('hex'))
  return countOfB - countOfA || (key(a) < key(b) ? -1 : 1)
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

test(`a follower always has a true state, and versions are served as before (seed ${seed})`, async (t) => {
  let count = 0
  await fc.assert(
    fc.asyncProperty(actions, async (drawn) => {
      const db = join(makeFolder(t), `${(count += 1)}.db`)
      await runImport(db, first, 0)
      const reader = await openStoreReader(storeAt(db), patientBounds)
      const states: States = new Map([[0, new Map<string, string>()]])
      const companies = new Map<number, Companies>()
      let model = createModel()
      let backup: { readonly restore: () => Promise<void>; readonly model: Model } | undefined
      let listings: Listings = new Map()
      const followers = [createFollower(), createFollower(), createFollower()]
      let day = 0
      /** Reads up to so many versions back. */
      async function follow(n: number, limit: number, back = 0): Promise<boolean> {
        const one = followers[n]
        assert.ok(one)
        const since = one.since().version
        const { version, earliestVersion } = await reader.readRegistry()
        const to = back === 0 ? undefined : Math.max(since, earliestVersion, version - back)
        const applied = await one.step(reader, limit, to)
        if (applied === undefined || applied === 'pruned') return false
        const { told, until } = applied
        assert.deepEqual(one.copy(), states.get(until.version))
        if (since >= earliestVersion || since === 0) {
          if (earliestVersion === 1) checkNet(told, states, since, until.version)
        }
        return true
      }
      /** Imports go another way from the backup's state on, under the same versions. */
      async function restore(): Promise<void> {
        if (backup === undefined) return
        await backup.restore()
        model = createModel(backup.model.keep())
        for (const one of [...states.keys()]) if (one > model.latest()) states.delete(one)
        for (const one of [...companies.keys()]) if (one >= model.latest()) companies.delete(one)
        listings = new Map()
        await runImport(db, first, 0)
        model.addImport(first, 0)
        await nextTurn()
        await note(db, reader, states, model)
      }
      try {
        model.addImport(first, 0)
        await note(db, reader, states, model)
        for (const action of drawn) {
          if ('step' in action) {
            const { version, earliestVersion } = await reader.readRegistry()
            const now = { day: (day += 1), latest: version, earliest: earliestVersion }
            const { step: drawn } = action
            const step = drawn.kind === 'import' ? model.withNumbers(drawn, day) : drawn
            const { report, reverted = [], to } = await runStep(db, step, now)
            // A reader asks once in a turn of the event loop whether anything was committed.
            await nextTurn()
            const isDone = (await reader.readRegistry()).version > version
            if (step.kind === 'import' && isDone) {
              const counts = model.addImport(step, day)
              assert.deepEqual(report?.problems ?? [], [])
              const isOfRecords = step.target !== 'companies'
              if (report && isOfRecords) assert.partialDeepStrictEqual(report.counts, counts)
            }
            for (const { target, source, reverts } of reverted) {
              model.addRevert(target, source, reverts)
            }
            await note(db, reader, states, model)
            if (to !== undefined) {
              assert.deepEqual(officersIn(states, model.latest()), officersIn(states, to))
            }
            const last = (await reader.readRegistry()).version
            const present = await readCompanies(db, reader, undefined)
            companies.set(last, present)
            listings = await checkListings(reader, present, listings)
          } else if ('follower' in action) {
            await follow(action.follower, action.limit, action.back)
          } else {
            await nextTurn()
            if (action.isRestored) await restore()
            else backup = { restore: await keepStore(db), model: createModel(model.keep()) }
          }
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
          const now = await readCompanies(db, reader, version)
          if (earliestVersion === 1) assert.deepEqual(now, then)
          else assert.deepEqual(withoutMarks(now), withoutMarks(then))
        }
        await nextTurn()
        await checkSound(db)
      } finally {
        await reader.close()
      }
    }),
    { numRuns: runsOf(150), seed },
  )
})
