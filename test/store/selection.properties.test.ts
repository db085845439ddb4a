// Any selection of a listing - at any version, with any filters, in any order, any page of it -
// equals what a naive filter and sort of the listing as it was served then give.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { resources } from '../../src/resources/index.ts'
import type { Resource } from '../../src/resources/resource.ts'
import { openStoreReader, openStoreWriter } from '../../src/store/open-store.ts'
import type { Page, StoreReader } from '../../src/store/reading.ts'
import { textOf } from '../../src/store/record-texts.ts'
import type { Filter, Interval, Selection, SortOrder } from '../../src/store/selection.ts'
import { importRows, makeFolder } from '../support/import-rows.ts'
import { readListing } from '../support/read-listing.ts'
import { patientBounds, runsOf, storeAt } from '../support/store-at.ts'
import { verifyStore } from '../support/verify-store.ts'

const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)
const companies = [1, 2, 3]

type Row = Readonly<Record<string, unknown>>

/** The fields that vary: values that collide, are null, and differ in code points and UTF-16. */
const rowsOf: Readonly<Record<string, fc.Arbitrary<Row>>> = {
  rights: fc.record({
    name: fc.constantFrom('b', 'B', 'é', '\uffee', '😀', null, 'x'.repeat(3_000)),
    status: fc.constantFrom('registered', 'ended', null, "o'x"),
    registration_date: fc.constantFrom(null, '1969-12-31', '2020-01-01', '2020-01-02T03:04:05Z'),
    updated_at: fc.constantFrom(null, '2020-01-01T00:00:00.001Z', '2020-01-01T00:00:00.999Z'),
  }),
  jobs: fc.record({
    title: fc.constantFrom('clerk', 'Clerk', 'ärztin', null),
    currency: fc.constantFrom('EUR', 'USD', null),
    salary_from: fc.constantFrom(null, 0, -5, 9_007_199_254_740_991),
  }),
  events: fc.record({
    date: fc.constantFrom('2020-01-01', '2020-01-02', '2020-01-03T04:05:06Z'),
    attr: fc.constantFrom('name', 'address', '😀'),
    after: fc.constantFrom('x', 'y', null),
  }),
}

const seconds = (text: string) => Date.parse(text) / 1_000

/** Filters and orders that a request may ask for; every bound is met by some of the values. */
const filtersOf: Readonly<Record<string, readonly fc.Arbitrary<Filter>[]>> = {
  rights: [
    valueOf('status', ['registered', 'ended', "o'x", 'none']),
    rangeOf('registration_date', ['1969-12-31', '2020-01-01', '2020-01-02T03:04:05Z'].map(seconds)),
    rangeOf(
      'updated_at',
      [1, 999].map((ms) => Date.parse('2020-01-01') + ms),
    ),
  ],
  jobs: [
    valueOf('currency', ['EUR', 'USD']),
    rangeOf('salary_from', [0, -5, 9_007_199_254_740_991]),
  ],
  events: [
    valueOf('attr', ['name', '😀']),
    rangeOf('date', ['2020-01-01', '2020-01-03T04:05:06Z'].map(seconds)),
  ],
}
const sortsOf: Readonly<Record<string, readonly string[]>> = {
  rights: ['name', 'registration_date', 'updated_at'],
  jobs: ['title', 'salary_from'],
  events: ['date'],
}

function valueOf(field: string, values: readonly string[]): fc.Arbitrary<Filter> {
  const one = fc.constantFrom(null, ...values.map((value) => ({ from: value, to: value })))
  return fc.record({ field: fc.constant(field), anyOf: fc.array(one, { minLength: 1 }) })
}

function rangeOf(field: string, bounds: readonly number[]): fc.Arbitrary<Filter> {
  const bound = fc.constantFrom(...bounds)
  const range = fc.oneof(
    fc.record({ from: bound, to: fc.constant(undefined) }),
    fc.record({ from: fc.constant(undefined), to: bound }),
    fc.record({ from: bound, to: bound }),
    fc.constant(null),
  )
  return range.map((one) => ({ field, anyOf: [one] }))
}

interface Asked {
  readonly filters: readonly Filter[]
  readonly sort: SortOrder | undefined
}

function asked(name: string): fc.Arbitrary<Asked> {
  const order = fc.record({
    field: fc.constantFrom(...(sortsOf[name] ?? [])),
    direction: fc.constantFrom('ascending' as const, 'descending' as const),
  })
  const filters = (filtersOf[name] ?? []).map((filter) => fc.option(filter, { nil: undefined }))
  return fc.record({
    filters: fc.tuple(...filters).map((some) => some.filter((one) => one !== undefined)),
    sort: fc.option(order, { nil: undefined, freq: 2 }),
  })
}

/** A record's value in the form in which a filter has it. */
function valueIn(record: Row, { fields }: Resource, field: string): string | number | null {
  const value = record[field] as string | number | null
  const kind = fields[field]?.kind
  if (value === null || kind === undefined) return null
  if (kind === 'timestamp') return seconds(String(value))
  return kind === 'timestamp_ms' ? Date.parse(String(value)) : value
}

function compare(a: string | number, b: string | number): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return Buffer.from(String(a)).compare(Buffer.from(String(b)))
}

function isIn(value: string | number | null, one: Interval | null): boolean {
  if (one === null || value === null) return one === null && value === null
  const { from, to } = one
  return (
    (from === undefined || compare(value, from) >= 0) &&
    (to === undefined || compare(value, to) <= 0)
  )
}

/** The naive filter and sort. */
function select(all: readonly string[], resource: Resource, { filters, sort }: Asked): string[] {
  const records = all.map((text) => ({ text, record: JSON.parse(text) as Row }))
  const left = records.filter(({ record }) =>
    filters.every(({ field, anyOf }) =>
      anyOf.some((one) => isIn(valueIn(record, resource, field), one)),
    ),
  )
  if (sort !== undefined) {
    const sign = sort.direction === 'ascending' ? 1 : -1
    left.sort((a, b) => {
      const [of, than] = [a, b].map(({ record }) => valueIn(record, resource, sort.field))
      const byId = sign * (Number(a.record['id']) - Number(b.record['id']))
      if (of === null || of === undefined || than === null || than === undefined)
        return Number(of === null) - Number(than === null) || byId
      return sign * compare(of, than) || byId
    })
  }
  return left.map(({ text }) => text)
}

/** What was served of a listing at a version, to the byte. */
interface Served {
  readonly all: readonly string[]
  readonly meta: string | undefined
  readonly lineage: string
  readonly version: number
  readonly changedAt: number
}

async function serve(
  store: StoreReader,
  resource: Resource,
  company: number,
): Promise<Served | undefined> {
  const page = await readListing(store, resource, company)
  if (page === undefined) return undefined
  const { meta, lineage, version, changedAt } = page
  const all = page.text.split(/,(?=\{"id":\d+,"[a-z]+":)/).filter((text) => text !== '')
  return { all, meta, lineage, version, changedAt }
}

type Step = 'revert' | { readonly isSnapshot: boolean; readonly rows: readonly object[] }

/** Imports, some of them snapshots, and reverts of the last version; an import first. */
function stepsOf(name: string): fc.Arbitrary<Step[]> {
  const given = fc.record({
    id: fc.integer({ min: 1, max: 12 }),
    company_id: fc.constantFrom(...companies),
    row: rowsOf[name] ?? fc.constant({}),
  })
  const load = fc.record({
    isSnapshot: fc.boolean(),
    rows: fc
      .uniqueArray(given, { minLength: 1, maxLength: 12, selector: ({ id }) => id })
      .map((rows) => rows.map(({ row, ...names }) => ({ ...names, ...row }))),
  })
  const later = fc.oneof(
    { weight: 4, arbitrary: load },
    { weight: 1, arbitrary: fc.constant('revert' as const) },
  )
  return fc.tuple(load, fc.array(later, { maxLength: 5 })).map(([first, rest]) => [first, ...rest])
}

const everything: Asked = { filters: [], sort: undefined }

async function revert(db: string, version: number): Promise<void> {
  const writer = await openStoreWriter(db, resources)
  const range = { version, isWithLater: false }
  const alone = { onWait: () => assert.fail('nobody else writes') }
  await writer.revert({ range, isDryRun: false, startedAt: Date.now(), ...alone })
  await writer.close()
}

async function checkSelection(
  store: StoreReader,
  selection: Selection,
  served: Served | undefined,
): Promise<void> {
  const read = (offset: number, limit: number) => store.readPage(selection, offset, limit)
  const whole = await read(0, 1_000)
  if (served === undefined) {
    assert.equal(whole, undefined)
    return
  }
  assert.ok(whole !== undefined && !('outside' in whole))
  const expected = select(served.all, selection.resource, selection)
  assert.equal(textOf(whole.records), expected.join(','))
  assert.equal(whole.selected, expected.length)
  assert.equal(whole.total, served.all.length)
  assert.equal(whole.meta ?? '[]', served.meta ?? '[]')
  const { lineage, version, changedAt } = whole
  assert.deepEqual(
    { lineage, version, changedAt },
    { lineage: served.lineage, version: served.version, changedAt: served.changedAt },
  )
  for (let offset = 0; offset <= expected.length; offset += 3) {
    const page = (await read(offset, 3)) as Page
    assert.equal(textOf(page.records), expected.slice(offset, offset + 3).join(','))
  }
}

/** The listings of each version, as served when it was the last one. */
type History = Map<number, Map<number, Served | undefined>>

async function makeHistory(
  db: string,
  resource: Resource,
  steps: readonly Step[],
  store: () => Promise<StoreReader>,
  folder: () => string,
): Promise<History> {
  const history: History = new Map()
  let version: number | undefined
  for (const step of steps) {
    if (step === 'revert') {
      if (version === undefined) continue
      await revert(db, version)
      version += 1
    } else {
      const { rows, isSnapshot } = step
      version = (await importRows(folder(), resource.name, rows, { at: db, isSnapshot })).version
      assert.ok(version !== undefined)
    }
    const reader = await store()
    const listings = companies.map(
      async (company) => [company, await serve(reader, resource, company)] as const,
    )
    history.set(version, new Map(await Promise.all(listings)))
  }
  return history
}

for (const name of Object.keys(rowsOf)) {
  test(`any selection of ${name} is that of the listing as it was served (seed ${seed})`, async (t) => {
    const resource = resources.find((one) => one.name === name) ?? assert.fail()
    const property = async (steps: readonly Step[], some: readonly Asked[]) => {
      const db = storeAt(join(makeFolder(t), 'registry.db'))
      let reader: StoreReader | undefined
      const open = async () => (reader ??= await openStoreReader(db, patientBounds))
      const history = await makeHistory(db, resource, steps, open, () => makeFolder(t))
      const store = await open()
      const last = Math.max(...history.keys())
      for (const [version, served] of history) {
        for (const companyId of companies) {
          for (const one of [everything, ...some]) {
            const listing = { resource, companyId, ...one }
            const listed = served.get(companyId)
            await checkSelection(store, { ...listing, version }, listed)
            if (version === last)
              await checkSelection(store, { ...listing, version: undefined }, listed)
          }
        }
      }
      await store.close()
      assert.deepEqual((await verifyStore(db)).faults, [])
    }
    await fc.assert(
      fc.asyncProperty(stepsOf(name), fc.array(asked(name), { minLength: 2 }), property),
      { numRuns: runsOf(20), seed },
    )
  })
}
