// Random sequences of imports into one store, compared with a small model: after each, every
// listing equals the model in records, their order, counters and version.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { resources } from '../../src/resources/index.ts'
import type { Resource } from '../../src/resources/resource.ts'
import { openStoreReader } from '../../src/store/open-store.ts'
import type { StoreReader } from '../../src/store/reading.ts'
import { importRows, makeFolder } from '../support/import-rows.ts'
import { readListing } from '../support/read-listing.ts'
import { patientBounds, runsOf, storeAt } from '../support/store-at.ts'
import { verifyStore } from '../support/verify-store.ts'

type Row = Readonly<Record<string, unknown>>

/** A record of one import, and the companies that list it. */
interface Given {
  readonly id: number
  readonly row: Row
  readonly companies: readonly number[]
}

interface Step {
  readonly source: 'a' | 'b'
  readonly isSnapshot: boolean
  readonly given: readonly Given[]
}

const companies = [1, 2, 3, 4]

/** Texts with which a listing takes several segments, and a record may fill one. */
const long = ['Ж'.repeat(900), '},{"id":1,'.repeat(150), 'x'.repeat(12_000)]

/** The fields that vary, so that records collide in order, change, move, and fill segments. */
const rowsOf: Readonly<Record<string, fc.Arbitrary<Row>>> = {
  rights: fc.record({ name: fc.constantFrom('n1', 'n2', ...long) }),
  events: fc.record({
    date: fc.constantFrom('2020-01-01', '2020-01-02', '2020-01-03T04:05:06+02:00'),
    attr: fc.constantFrom('name', 'address', '\uffee', '😀'),
    after: fc.constantFrom('x', 'y', null, ...long),
  }),
}

function steps(row: fc.Arbitrary<Row>): fc.Arbitrary<Step[]> {
  const given = fc.record({
    id: fc.integer({ min: 1, max: 12 }),
    row,
    companies: fc.uniqueArray(fc.constantFrom(...companies), { minLength: 1, maxLength: 3 }),
  })
  const some = fc.uniqueArray(given, { minLength: 1, maxLength: 8, selector: ({ id }) => id })
  const step = fc.record({
    source: fc.constantFrom('a' as const, 'b' as const),
    isSnapshot: fc.boolean(),
    given: fc.oneof(some, some.map(inOrder)),
  })
  return fc.array(step, { minLength: 1, maxLength: 6 })
}

/** The records each in one company, in the order of the listings, as most extracts have them. */
function inOrder(given: readonly Given[]): Given[] {
  let company = 1
  return given
    .toSorted((a, b) => a.id - b.id)
    .map((one) => {
      company = Math.max(company, one.companies[0] ?? 1)
      return { ...one, companies: [company] }
    })
}

/** The model's state of a record. */
interface Held {
  readonly source: string
  row: Row
  readonly companies: Set<number>
}

/** Applies a step to the model as the operator's guide describes; returns the counts. */
function take(model: Map<number, Held>, { source, isSnapshot, given }: Step) {
  const counts = { read: 0, inserted: 0, updated: 0, unchanged: 0, refused: 0, removed: 0 }
  // Each source has its own range of ids.
  const idOf = (id: number) => (source === 'a' ? id : id + 100)
  const told = new Map(given.map((one) => [idOf(one.id), one]))
  for (const [id, one] of told) {
    const held = model.get(id)
    for (const company of one.companies) {
      counts.read += 1
      if (!held?.companies.has(company)) counts.inserted += 1
      else if (JSON.stringify(held.row) !== JSON.stringify(one.row)) counts.updated += 1
      else counts.unchanged += 1
    }
  }
  for (const [id, held] of model) {
    if (!isSnapshot || held.source !== source) continue
    for (const company of held.companies) {
      if (told.get(id)?.companies.includes(company)) continue
      held.companies.delete(company)
      counts.removed += 1
    }
  }
  for (const [id, { row, companies: standsIn }] of told) {
    const held = model.get(id) ?? { source, row, companies: new Set<number>() }
    held.row = row
    for (const company of standsIn) held.companies.add(company)
    model.set(id, held)
  }
  const rows = [...told].flatMap(([id, { row, companies: standsIn }]) =>
    standsIn.map((company) => ({ company_id: company, id, ...row })),
  )
  return { counts, rows }
}

function expectedListing(resource: Resource, model: Map<number, Held>, company: number) {
  const held = [...model].filter(([, { companies: standsIn }]) => standsIn.has(company))
  const moment = (row: Row) => (typeof row['date'] === 'string' ? Date.parse(row['date']) : 0)
  return held.sort(([idA, a], [idB, b]) =>
    resource.order.direction === 'ascending'
      ? idA - idB
      : moment(b.row) - moment(a.row) || idB - idA,
  )
}

function expectedMeta(listing: readonly [number, Held][]) {
  const counts = new Map<string, number>()
  for (const [, { row }] of listing) {
    const type = String(row['attr'])
    counts.set(type, (counts.get(type) ?? 0) + 1)
  }
  return [...counts]
    .map(([type, count]) => ({ type, count }))
    .sort((a, b) => b.count - a.count || Buffer.from(a.type).compare(Buffer.from(b.type)))
}

/** Every page of up to four records has the bytes of its part of the whole. */
async function checkPages(
  store: StoreReader,
  resource: Resource,
  company: number,
  whole: string,
): Promise<void> {
  const all = whole.slice(1, -1).split(/,(?=\{"id":\d+,"[a-z]+":)/)
  for (const limit of [1, 2, 4]) {
    for (let offset = 0; offset <= all.length; offset += limit) {
      const page = await readListing(store, resource, company, { offset, limit })
      assert.equal(page?.text, all.slice(offset, offset + limit).join(','))
    }
  }
}

/** The served content of a listing and its version, to check that both change together. */
type Served = Map<number, { text: string; version: number }>

async function checkListing(
  store: StoreReader,
  resource: Resource,
  model: Map<number, Held>,
  company: number,
  served: Served,
): Promise<void> {
  const page = await readListing(store, resource, company)
  const expected = expectedListing(resource, model, company)
  if (page === undefined) {
    assert.equal(expected.length, 0)
    return
  }
  const text = `[${page.text}]`
  const records = JSON.parse(text) as Row[]
  assert.deepEqual(
    records.map(({ id, name, attr, after }) => ({ id, name, attr, after })),
    expected.map(([id, { row }]) => ({
      id,
      name: row['name'],
      attr: row['attr'],
      after: row['after'],
    })),
  )
  assert.equal(page.total, expected.length)
  await checkPages(store, resource, company, text)
  if (resource.metaOf) assert.deepEqual(JSON.parse(page.meta ?? '[]'), expectedMeta(expected))
  const before = served.get(company)
  if (before) assert.equal(before.text === text, before.version === page.version)
  served.set(company, { text, version: page.version })
}

for (const name of ['rights', 'events']) {
  test(`any sequence of imports of ${name} gives the listings of a model`, async (t) => {
    const resource = resources.find((known) => known.name === name)
    const row = rowsOf[name]
    assert.ok(resource && row)
    const folder = makeFolder(t)
    let runs = 0
    await fc.assert(
      fc.asyncProperty(steps(row), async (sequence) => {
        runs += 1
        const db = join(folder, `${runs}.db`)
        const model = new Map<number, Held>()
        const served: Served = new Map()
        for (const step of sequence) {
          const { counts, rows } = take(model, step)
          const { source, isSnapshot } = step
          const report = await importRows(db, name, rows, { source, isSnapshot })
          const { companiesCreated, recorded, withheld, ...told } = report.counts
          assert.ok(companiesCreated >= 0)
          assert.deepEqual([recorded, withheld], [0, 0])
          assert.deepEqual(told, counts)
          const store = await openStoreReader(storeAt(db), patientBounds)
          for (const company of companies) {
            await checkListing(store, resource, model, company, served)
          }
          await store.close()
        }
        assert.deepEqual((await verifyStore(storeAt(db))).faults, [])
      }),
      { numRuns: runsOf(40) },
    )
  })
}
