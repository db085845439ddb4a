// Whatever was imported and reverted, a company at a version is what it was when that version was
// the last one; and its counts are those of its records.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { resources } from '../../src/resources/index.ts'
import type { CompanyState, StoreReader } from '../../src/store/reading.ts'
import { openStoreReader, openStoreWriter } from '../../src/store/open-store.ts'
import type { ValueCount } from '../../src/store/serving/value-counts.ts'
import { importRows, makeFolder } from '../support/import-rows.ts'
import { readListing } from '../support/read-listing.ts'
import { patientBounds, runsOf, storeAt } from '../support/store-at.ts'
import { verifyStore } from '../support/verify-store.ts'

const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)
const companies = [1, 2, 3]
const listed = resources.filter(({ name }) => name === 'rights' || name === 'events')

interface Load {
  readonly target: string
  readonly source: string
  readonly isSnapshot: boolean
  readonly rows: readonly object[]
}

const company = fc.constantFrom(...companies)
const source = fc.constantFrom('a', 'b')

/** What a source says: some of the companies, each by its id and its name in a register. */
const ofCompanies = fc
  .uniqueArray(company, { minLength: 1 })
  .chain((ids) =>
    fc.tuple(
      ...ids.map((id) =>
        fc
          .record({ name: fc.constantFrom('Nord', 'Süd', null, 5), size: fc.constantFrom(1, 2) })
          .map((said) => ({ id, jurisdiction: 'XX', identifier: `n${id}`, ...said })),
      ),
    ),
  )
  .map((rows) => ({ target: 'companies', rows }))

const ofRights = rowsOf('rights', {
  status: fc.constantFrom('registered', 'ended', null, '😀', '\uffee'),
  jurisdiction: fc.constantFrom('GB', null),
})
const ofEvents = rowsOf('events', {
  attr: fc.constantFrom('name', 'address', '😀'),
  date: fc.constantFrom('2020-01-01', '2020-01-02'),
})

function rowsOf(target: string, fields: Readonly<Record<string, fc.Arbitrary<string | null>>>) {
  const row = fc.record({ id: fc.integer({ min: 1, max: 12 }), company_id: company, ...fields })
  return fc
    .uniqueArray(row, { minLength: 1, maxLength: 8, selector: ({ id }) => id })
    .map((rows) => ({ target, rows }))
}

const load: fc.Arbitrary<Load> = fc
  .tuple(fc.oneof({ weight: 3, arbitrary: ofCompanies }, ofRights, ofEvents), source, fc.boolean())
  .map(([what, source, isSnapshot]) => ({ ...what, source, isSnapshot }))
const steps = fc.array(fc.oneof({ weight: 4, arbitrary: load }, fc.constant('revert' as const)), {
  ...{ minLength: 2, maxLength: 9 },
})

async function take(step: Load | 'revert', db: string, rows: string, version: number) {
  if (step !== 'revert') {
    const { target, source, isSnapshot } = step
    const report = await importRows(rows, target, step.rows, { at: db, source, isSnapshot })
    return report.version ?? version
  }
  if (version === 0) return version
  const writer = await openStoreWriter(db, resources)
  const range = { version, isWithLater: false }
  const onWait = () => assert.fail('nobody else writes')
  try {
    await writer.revert({ range, isDryRun: false, startedAt: Date.now(), onWait })
  } finally {
    await writer.close()
  }
  return version + 1
}

/** What is the same of a company whenever it is asked for. */
function shown(state: CompanyState): object {
  const { registry, ...rest } = state
  assert.ok(registry.version > 0)
  return rest
}

async function readAt(store: StoreReader, companyId: number, version: number | undefined) {
  const state = await store.readCompany({ companyId, version, resources: listed })
  assert.ok(state === undefined || !('outside' in state))
  return state
}

/** The counts of a listing, by its records. */
async function checkCounts(store: StoreReader, companyId: number, state: CompanyState) {
  for (const { resource, total, version, counts } of state.listings) {
    const page = await readListing(store, resource, companyId)
    assert.deepEqual([page?.total, page?.version], [total, version])
    const records = JSON.parse(`[${page?.text ?? ''}]`) as Record<string, string>[]
    const fields = Object.entries(resource.fields).filter(([, { filter }]) => filter === 'value')
    assert.deepEqual(
      Object.keys(counts),
      fields.map(([field]) => field),
    )
    for (const [field, found] of Object.entries(counts)) {
      const groups = [...Map.groupBy(records, (record) => record[field] ?? null)]
      const expected = groups.map(([value, { length }]): ValueCount => [value, length])
      assert.deepEqual(found, expected.sort(byCount), field)
    }
  }
}

function byCount([a, countOfA]: ValueCount, [b, countOfB]: ValueCount): number {
  const key = (value: string | null) => (value === null ? 'ff' : Buffer.from(value).toString('hex'))
  return countOfB - countOfA || (key(a) < key(b) ? -1 : 1)
}

test(`a company at a version is as it was served (9.1; seed ${seed})`, async (t) => {
  const property = async (all: readonly (Load | 'revert')[]) => {
    const folder = makeFolder(t)
    const db = storeAt(join(folder, 'registry.db'))
    const served = new Map<number, (CompanyState | undefined)[]>()
    let reader: StoreReader | undefined
    let version = 0
    for (const step of all) {
      version = await take(step, db, join(folder, 'rows'), version)
      if (version === 0 || served.has(version)) continue
      const store = (reader ??= await openStoreReader(db, patientBounds))
      const states = await Promise.all(companies.map((id) => readAt(store, id, undefined)))
      served.set(version, states)
      for (const [n, state] of states.entries()) {
        if (state !== undefined) await checkCounts(store, companies[n] ?? 0, state)
      }
    }
    if (reader === undefined) return
    for (const [then, states] of served) {
      for (const [n, state] of states.entries()) {
        const again = await readAt(reader, companies[n] ?? 0, then)
        assert.deepEqual(again && shown(again), state && shown(state), `version ${then}`)
      }
    }
    await reader.close()
    assert.deepEqual((await verifyStore(db)).faults, [])
  }
  await fc.assert(fc.asyncProperty(steps, property), { numRuns: runsOf(40), seed })
})
