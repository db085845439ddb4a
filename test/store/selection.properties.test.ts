// Any selection of a listing - at any version, with any filters, in any order, any page of it -
// equals what a naive filter and sort of the listing as it was served then give.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import fc from 'fast-check'
import { filterFields, sortFields } from '../../src/resources/filters.ts'
import { changeResource, resources } from '../../src/resources/index.ts'
import type { Resource } from '../../src/resources/resource.ts'
import { openStoreReader } from '../../src/store/open-store.ts'
import type { Page } from '../../src/store/reading.ts'
import type { StoreReader } from '../../src/store/serving/store-reader.ts'
import { textOf } from '../../src/store/record-texts.ts'
import type { Filter, Interval, Selection, SortOrder } from '../../src/store/selection.ts'
import { anyRecord } from '../support/arbitrary-record.ts'
import { importRows, makeFolder } from '../support/import-rows.ts'
import type { WireRecord } from '../support/make-record.ts'
import { openReader } from '../support/open-reader.ts'
import { readListing } from '../support/read-listing.ts'
import { one, revert } from '../support/write-store.ts'
import { aboveStores, patientBounds, runsOf, seed, someOf, storeAt } from '../support/store-at.ts'
import { checkSound } from '../support/verify-store.ts'

const companies = [1, 2, 3]

interface Asked {
  readonly filters: readonly Filter[]
  readonly sort: SortOrder | undefined
}

const everything: Asked = { filters: [], sort: undefined }

/** The value of a field as a filter has it: a timestamp is a number. */
function valueOf(resource: Resource, record: WireRecord, field: string): string | number | null {
  const value = record[field] as string | number | null
  const kind = resource.fields[field]?.kind
  if (value === null || kind === undefined) return null
  if (kind === 'timestamp') return Date.parse(String(value)) / 1_000
  return kind === 'timestamp_ms' ? Date.parse(String(value)) : value
}

function compare(a: string | number, b: string | number): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return Buffer.from(String(a)).compare(Buffer.from(String(b)))
}

function isIn(value: string | number | null, one: Interval | null): boolean {
  if (one === null || value === null) return one === null && value === null
  const { from, to } = one
  if (from !== undefined && compare(value, from) < 0) return false
  return to === undefined || compare(value, to) <= 0
}

/** Sorts by a field, then by id, null last; the direction is that of both. */
function sorted(resource: Resource, records: readonly WireRecord[], sort: SortOrder): WireRecord[] {
  const sign = sort.direction === 'ascending' ? 1 : -1
  return records.toSorted((one, other) => {
    const a = valueOf(resource, one, sort.field)
    const b = valueOf(resource, other, sort.field)
    const byId = sign * (one.id - other.id)
    if (a === null || b === null) return Number(a === null) - Number(b === null) || byId
    return sign * compare(a, b) || byId
  })
}

/** The naive filter and sort. */
function select(resource: Resource, records: readonly WireRecord[], asked: Asked): string[] {
  const left = records.filter((record) =>
    asked.filters.every(({ field, anyOf }) =>
      anyOf.some((one) => isIn(valueOf(resource, record, field), one)),
    ),
  )
  const { by, direction } = resource.order
  return sorted(resource, left, asked.sort ?? { field: by, direction }).map((one) =>
    JSON.stringify(one),
  )
}

/** Filters and orders whose bounds are values that some of the records have. */
function askedOf(resource: Resource): fc.Arbitrary<Asked> {
  const value = (field: string) =>
    anyRecord(resource).map((record) => valueOf(resource, record, field))
  const interval = (field: string): fc.Arbitrary<Interval | null> =>
    fc.tuple(value(field), value(field), fc.integer({ min: 0, max: 2 })).map(([a, b, form]) => {
      if (a === null || b === null) return null
      if (form === 0) return { from: a, to: a }
      return form === 1 ? { from: a, to: undefined } : { from: undefined, to: b }
    })
  const filter = fc.constantFrom(...filterFields(resource)).chain((field) =>
    fc.record({
      field: fc.constant(field),
      anyOf: fc.array(interval(field), { minLength: 1, maxLength: 4 }),
    }),
  )
  const order = fc.record({
    field: fc.constantFrom('id', resource.order.by, ...sortFields(resource)),
    direction: fc.constantFrom('ascending' as const, 'descending' as const),
  })
  return fc.record({
    filters: fc.array(filter, { maxLength: 2 }),
    sort: fc.option(order, { nil: undefined }),
  })
}

type Step = 'revert' | { readonly isSnapshot: boolean; readonly rows: readonly object[] }

/** Imports, some of them snapshots, and reverts of the last version; an import first. */
function stepsOf(resource: Resource): fc.Arbitrary<Step[]> {
  // With long texts, a listing takes several segments, and a record may fill one.
  const [plain = assert.fail()] =
    Object.entries(resource.fields).find(
      ([, { kind, filter, required }]) => kind === 'text' && filter === undefined && !required,
    ) ?? []
  const given = fc
    .record({
      record: anyRecord(resource),
      id: fc.integer({ min: 1, max: 12 }),
      company_id: fc.constantFrom(...companies),
      long: fc.constantFrom(0, 0, 3_000, 12_000),
    })
    .map(({ record, long, ...names }) => {
      const texts = long === 0 ? {} : { [plain]: 'x'.repeat(long) }
      return { ...record, ...names, ...texts }
    })
  const load = fc.record({
    isSnapshot: fc.boolean(),
    rows: fc.uniqueArray(given, { minLength: 1, maxLength: 12, selector: ({ id }) => id }),
  })
  const later = fc.oneof(
    { weight: 4, arbitrary: load },
    { weight: 1, arbitrary: fc.constant('revert' as const) },
  )
  return fc.tuple(load, fc.array(later, { maxLength: 5 })).map(([first, rest]) => [first, ...rest])
}

/** What was served of a listing at a version. */
interface Served {
  readonly all: readonly WireRecord[]
  /** Its tags, times and counters. */
  readonly about: object
}

const aboutOf = ({ meta = '[]', lineage, version, changedAt, total }: Page) => ({
  meta,
  lineage,
  version,
  changedAt,
  total,
})

async function serve(
  store: StoreReader,
  resource: Resource,
  company: number,
): Promise<Served | undefined> {
  const page = await readListing(store, resource, company, { limit: 10_000 })
  if (page === undefined) return undefined
  return { all: JSON.parse(`[${page.text}]`) as WireRecord[], about: aboutOf(page) }
}

/** The listings of each version, as served when it was the last one. */
type History = Map<number, Map<number, Served | undefined>>

async function makeHistory(
  db: string,
  resource: Resource,
  steps: readonly Step[],
  { open, rows: path }: { readonly open: () => Promise<StoreReader>; readonly rows: string },
): Promise<History> {
  const history: History = new Map()
  let version = 0
  for (const step of steps) {
    if (step === 'revert') {
      await revert(db, one(version))
      version += 1
    } else {
      const { rows, isSnapshot } = step
      const report = await importRows(path, resource.name, rows, { at: db, isSnapshot })
      assert.deepEqual(report.problems, [])
      version = report.version ?? assert.fail()
    }
    const reader = await open()
    const listings = companies.map(
      async (company) => [company, await serve(reader, resource, company)] as const,
    )
    history.set(version, new Map(await Promise.all(listings)))
  }
  return history
}

async function checkSelection(
  store: StoreReader,
  asked: Omit<Selection, 'query'>,
  served: Served | undefined,
  limits: readonly number[] = [3],
): Promise<void> {
  const selection = { ...asked, query: JSON.stringify([asked.filters, asked.sort]) }
  const read = (offset: number, limit: number) => store.readPage(selection, offset, limit)
  const whole = await read(0, 10_000)
  if (served === undefined) {
    assert.equal(whole, undefined)
    return
  }
  assert.ok(whole !== undefined && !('outside' in whole))
  const expected = select(selection.resource, served.all, selection)
  assert.equal(textOf(whole.records), expected.join(','))
  assert.equal(whole.selected, expected.length)
  assert.deepEqual(aboutOf(whole), served.about)
  for (const limit of limits) {
    for (let offset = 0; offset <= expected.length; offset += limit) {
      const page = (await read(offset, limit)) as Page
      assert.equal(textOf(page.records), expected.slice(offset, offset + limit).join(','))
    }
  }
}

for (const resource of someOf(resources)) {
  test(`any selection of ${resource.name} equals that of the listing as served (seed ${seed})`, async (t) => {
    const property = async (steps: readonly Step[], some: readonly Asked[]) => {
      const folder = makeFolder(t)
      const db = storeAt(join(folder, 'registry.db'))
      let reader: StoreReader | undefined
      const open = async () => (reader ??= await openStoreReader(db, patientBounds))
      const history = await makeHistory(db, resource, steps, { open, rows: join(folder, 'rows') })
      const store = await open()
      const last = Math.max(...history.keys())
      for (const [version, served] of history) {
        for (const companyId of companies) {
          for (const asked of [everything, ...some]) {
            const listing = { resource, companyId, ...asked }
            const listed = served.get(companyId)
            await checkSelection(store, { ...listing, version }, listed)
            if (version === last)
              await checkSelection(store, { ...listing, version: undefined }, listed)
          }
        }
      }
      await store.close()
      await checkSound(db)
    }
    const asked = fc.array(askedOf(resource), { minLength: 2, maxLength: 5 })
    await fc.assert(fc.asyncProperty(stepsOf(resource), asked, property), {
      numRuns: runsOf(20),
      seed,
    })
  })
}

const above = { skip: aboveStores }

/** A store with rows of one company, and what it serves of them. */
async function serveRows(t: TestContext, resource: Resource, rows: readonly object[]) {
  const folder = makeFolder(t)
  const db = storeAt(join(folder, 'registry.db'))
  const { problems } = await importRows(join(folder, 'rows'), resource.name, rows, { at: db })
  assert.deepEqual(problems, [])
  const store = await openReader(t, db)
  const served = (await serve(store, resource, 7)) ?? assert.fail()
  assert.equal(served.all.length, rows.length)
  return { store, served }
}

const jobs = resources.find(({ name }) => name === 'jobs') ?? assert.fail()
const rights = resources.find(({ name }) => name === 'rights') ?? assert.fail()
const sampleOf = (resource: Resource) => fc.sample(anyRecord(resource), { numRuns: 1, seed: 1 })[0]

test('so does one from more segments than a directory names, of any size', above, async (t) => {
  const sample = sampleOf(jobs)
  const rows = Array.from({ length: 600 }, (_, n) => ({
    ...sample,
    id: n + 1,
    company_id: 7,
    currency: n % 3 === 0 ? 'EUR' : null,
    title: `${n % 7}`.repeat(n % 200 === 9 ? 65_000 : 5_000),
  }))
  const { store, served } = await serveRows(t, jobs, rows)
  const euros: Filter = { field: 'currency', anyOf: [{ from: 'EUR', to: 'EUR' }] }
  for (const asked of [
    everything,
    { filters: [], sort: { field: 'id', direction: 'descending' } },
    { filters: [euros], sort: undefined },
    { filters: [], sort: { field: 'title', direction: 'descending' } },
  ] as const) {
    const selection = { resource: jobs, companyId: 7, version: undefined, ...asked }
    await checkSelection(store, selection, served, [97, 1_000])
  }
})

test(`so does one by the field of the order, of many segments (seed ${seed})`, above, async (t) => {
  const sample = sampleOf(changeResource)
  const day = 86_400
  const rows = Array.from({ length: 200 }, (_, n) => ({
    ...sample,
    id: n + 1,
    company_id: 7,
    date: `${new Date(1_000 * day * Math.floor(n / 20)).toISOString().slice(0, 19)}Z`,
    attr: `attribute ${n % 3}`,
    // Each record has a segment of its own.
    before: 'x'.repeat(12_000),
  }))
  const { store, served } = await serveRows(t, changeResource, rows)
  const bound = fc.option(
    fc.integer({ min: -1, max: 10 }).map((n) => n * day),
    { nil: undefined },
  )
  const interval = fc.option(fc.record({ from: bound, to: bound }))
  const anyOf = fc.array(interval, { minLength: 1, maxLength: 3 })
  const property = async (filters: readonly Filter['anyOf'][], isOfOne: boolean) => {
    const of = { field: 'attr', anyOf: [{ from: 'attribute 1', to: 'attribute 1' }] }
    const dates = filters.map((dated) => ({ field: 'date', anyOf: dated }))
    const asked = { filters: isOfOne ? [of, ...dates] : dates, sort: undefined }
    const selection = { resource: changeResource, companyId: 7, version: undefined, ...asked }
    await checkSelection(store, selection, served, [50])
  }
  const some = fc.array(anyOf, { minLength: 1, maxLength: 2 })
  await fc.assert(fc.asyncProperty(some, fc.boolean(), property), { numRuns: runsOf(50), seed })
})

// Some texts look like parts of a record.
const unit = fc.constantFrom('"', '\\', 'a', 'é', '\uffff', '😀', '\n', ',"name":"', '"],"name":')
const texts = fc
  .string({ unit, minLength: 1, maxLength: 12, size: 'max' })
  .filter((text) => text !== '\n')
const ofRights = fc.record({
  name: fc.option(texts, { nil: null }),
  holders: fc.array(fc.oneof(texts, fc.constantFrom('name', ':')), { maxLength: 3 }),
})

for (const [resource, field, others] of [
  [rights, 'name', ofRights],
  [jobs, 'salary_from', fc.constant({})],
] as const) {
  test(`so does an order by ${field}, which no index has (seed ${seed})`, above, async (t) => {
    const given = fc.tuple(anyRecord(resource), others, fc.nat())
    // Blocks of more than two lengths are merged; the ids are in any order.
    const rows = fc.sample(given, { numRuns: 3_500, seed }).map(([record, own, id], n) => {
      return { ...record, ...own, id: id * 3_500 + n + 1, company_id: 7 }
    })
    const { store, served } = await serveRows(t, resource, rows)
    for (const direction of ['ascending', 'descending'] as const) {
      const asked = { filters: [], sort: { field, direction } }
      const selection = { resource, companyId: 7, version: undefined, ...asked }
      await checkSelection(store, selection, served, [500])
    }
  })
}
