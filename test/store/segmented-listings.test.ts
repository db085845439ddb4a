// A listing is served as if it were one list, however its records are cut into segments: any page
// of it, and of any filter and order, is what a naive filter and sort of the records give.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { filterFields, filterValuesOf, sortFields } from '../../src/resources/filters.ts'
import { resources } from '../../src/resources/index.ts'
import type { Resource } from '../../src/resources/resource.ts'
import { buildDirectory, type DirectoryEntry } from '../../src/store/listing/directory.ts'
import { encodeSegment, type ListedRecord } from '../../src/store/listing/segment.ts'
import { shapeOf } from '../../src/store/listing/shape.ts'
import type { Page, StoreReader } from '../../src/store/reading.ts'
import { textOf } from '../../src/store/record-texts.ts'
import type { Filter, Interval, SortOrder } from '../../src/store/selection.ts'
import { openForReading, openForWriting } from '../../src/store/sqlite/open.ts'
import { createReader } from '../../src/store/sqlite/read.ts'
import { tablesOf } from '../../src/store/sqlite/tables.ts'
import { anyRecord } from '../support/arbitrary-record.ts'
import { makeFolder } from '../support/import-rows.ts'
import type { WireRecord } from '../support/make-record.ts'

const company = 7

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

const usual = ({ order }: Resource): SortOrder => ({
  field: order.by,
  direction: order.direction,
})

function listed(resource: Resource, record: WireRecord): ListedRecord {
  const { metaOf, order } = resource
  const values = [...filterValuesOf(resource)(record)]
  if (shapeOf(resource).columns.length > values.length) values.push(String(record[metaOf ?? '']))
  const sort = order.by === 'id' ? 0 : Number(valueOf(resource, record, order.by))
  return {
    ...{ id: record.id, sort, source: 1, digest: new Uint8Array(12), values },
    text: Buffer.from(JSON.stringify(record)),
  }
}

/** A store in which listings are written as they are cut by the test. */
function openCut(t: TestContext) {
  const path = join(makeFolder(t), 'a.db')
  const writer = openForWriting(path, resources)
  writer.exec(`
    insert into sources (id, name) values (1, 'a');
    insert into companies (id, version) values (${company}, 1)`)
  const tables = tablesOf(writer)
  const reader = createReader(openForReading(path))
  t.after(() => {
    void reader.close()
    writer.close()
  })
  let version = 0
  let segment = 0

  /** @param lengths the number of records of each segment; the last one holds the rest. */
  async function write(
    resource: Resource,
    records: readonly WireRecord[],
    lengths: readonly number[],
  ): Promise<void> {
    const shape = shapeOf(resource)
    const entries: DirectoryEntry[] = []
    let largest = 0
    for (let start = 0, n = 0; start < records.length; n += 1) {
      const end = n < lengths.length ? start + (lengths[n] ?? 1) : records.length
      const some = records.slice(start, end).map((record) => listed(resource, record))
      const encoded = encodeSegment(shape, some)
      const most = Math.max(...some.map(({ text }) => text.length))
      segment += 1
      await tables.putSegments([{ companyId: company, segment, ...encoded }])
      entries.push({ segment, records: some.length, bytes: encoded.texts.length, largest: most })
      largest = Math.max(largest, most)
      start = end
    }
    const { directory, nodes } = buildDirectory(entries, [], () => (segment += 1))
    await tables.putSegments(nodes.map((node) => ({ companyId: company, ...node, texts: null })))
    version += 1
    writer.exec(`
      insert into imports (version, resource, source_id, is_snapshot, started_at, committed_at,
        files, read, inserted, updated, unchanged, refused, removed, companies_created, lineage)
      values (${version}, '${resource.name}', 1, 0, 0, ${version * 1_000}, '[]',
        0, 0, 0, 0, 0, 0, 0, '${String(version).padStart(12, '0')}')`)
    const meta = resource.metaOf === undefined ? null : '[]'
    const head = { companyId: company, version, total: records.length, meta, largest, directory }
    await tables.putHeads(resource.name, [head])
  }
  return { reader, write }
}

interface Asked {
  readonly filters: readonly Filter[]
  readonly sort: SortOrder | undefined
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

function isIn(value: string | number | null, one: Interval | null): boolean {
  if (one === null || value === null) return one === null && value === null
  const { from, to } = one
  if (from !== undefined && compare(value, from) < 0) return false
  return to === undefined || compare(value, to) <= 0
}

function select(resource: Resource, records: readonly WireRecord[], asked: Asked): string[] {
  const left = records.filter((record) =>
    asked.filters.every(({ field, anyOf }) =>
      anyOf.some((one) => isIn(valueOf(resource, record, field), one)),
    ),
  )
  return sorted(resource, left, asked.sort ?? usual(resource)).map((one) => JSON.stringify(one))
}

async function checkPages(
  reader: StoreReader,
  resource: Resource,
  asked: Asked,
  {
    expected,
    limits,
  }: { readonly expected: readonly string[]; readonly limits: readonly number[] },
): Promise<void> {
  const selection = { resource, companyId: company, version: undefined, ...asked }
  // A turn of the event loop sees one state.
  await nextTurn()
  for (const limit of limits) {
    for (let offset = 0; offset <= expected.length; offset += limit) {
      const page = (await reader.readPage(selection, offset, limit)) as Page
      assert.equal(textOf(page.records), expected.slice(offset, offset + limit).join(','))
      assert.equal(page.selected, expected.length)
    }
  }
}

for (const resource of resources) {
  test(`any page of any selection of ${resource.name}, cut anyhow, is right`, async (t) => {
    const { reader, write } = openCut(t)
    const records = fc.uniqueArray(anyRecord(resource), {
      ...{ minLength: 1, maxLength: 30, selector: ({ id }) => id },
    })
    const lengths = fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 30 })
    const asked = fc.array(askedOf(resource), { minLength: 1, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(records, lengths, asked, async (given, cuts, selections) => {
        const inOrder = sorted(resource, given, usual(resource))
        await write(resource, inOrder, cuts)
        const everything = { filters: [], sort: undefined }
        for (const one of [everything, ...selections]) {
          const expected = select(resource, given, one)
          await checkPages(reader, resource, one, { expected, limits: [1, 3, 7, 50] })
        }
      }),
      { numRuns: 60 },
    )
  })
}

test('a listing of more segments than a directory takes is read through its levels', async (t) => {
  const { reader, write } = openCut(t)
  const jobs = resources.find(({ name }) => name === 'jobs') ?? assert.fail()
  const [sample] = fc.sample(anyRecord(jobs), { numRuns: 1, seed: 1 })
  const records = Array.from({ length: 1_500 }, (_, n) => ({
    ...{ ...sample, id: n + 1, currency: n % 3 === 0 ? 'EUR' : null },
  }))
  await write(
    jobs,
    records,
    Array.from({ length: 1_499 }, () => 1),
  )
  const asks: readonly Asked[] = [
    { filters: [], sort: undefined },
    { filters: [], sort: { field: 'id', direction: 'descending' } },
    { filters: [{ field: 'currency', anyOf: [{ from: 'EUR', to: 'EUR' }] }], sort: undefined },
    { filters: [], sort: { field: 'currency', direction: 'descending' } },
  ]
  for (const asked of asks) {
    const expected = select(jobs, records, asked)
    await checkPages(reader, jobs, asked, { expected, limits: [97, 1_000] })
  }
})

test('a record with a segment of its own, however large, is in its view', async (t) => {
  const { reader, write } = openCut(t)
  const jobs = resources.find(({ name }) => name === 'jobs') ?? assert.fail()
  const [sample] = fc.sample(anyRecord(jobs), { numRuns: 1, seed: 1 })
  const records = [10, 100_000, 20, 900_000].map((length, n) => ({
    ...{ ...sample, id: n + 1, title: 'x'.repeat(length), currency: n === 0 ? null : 'EUR' },
  }))
  await write(jobs, records, [1, 1, 1, 1])
  const asks: readonly Asked[] = [
    { filters: [{ field: 'currency', anyOf: [{ from: 'EUR', to: 'EUR' }] }], sort: undefined },
    { filters: [], sort: { field: 'title', direction: 'descending' } },
  ]
  for (const asked of asks) {
    const expected = select(jobs, records, asked)
    await checkPages(reader, jobs, asked, { expected, limits: [1, 1_000] })
  }
})
