// Random sequences of imports into one store, compared with a small model: after each, every
// listing equals the model in records, their order, counters and version; and each record, by its
// id, by its key or by its content, has one id in all listings for good, as each company has.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { resources } from '../../src/resources/index.ts'
import type { Resource } from '../../src/resources/resource.ts'
import { openStoreReader } from '../../src/store/open-store.ts'
import type { StoreReader } from '../../src/store/reading.ts'
import { importRows, makeFolder, query } from '../support/import-rows.ts'
import { readListing } from '../support/read-listing.ts'
import { patientBounds, runsOf, storeAt } from '../support/store-at.ts'
import { checkSound } from '../support/verify-store.ts'

type Row = Readonly<Record<string, unknown>>

/** A company by its id, or by its name in a register. */
type Company = number | string

/** A record of one import, and the companies that list it. */
interface Given {
  /** What says which record it is; neither if its content does. */
  readonly identity: { readonly id?: number; readonly key?: string }
  readonly row: Row
  readonly companies: readonly Company[]
}

interface Step {
  readonly source: 'a' | 'b'
  readonly isSnapshot: boolean
  readonly given: readonly Given[]
}

/** Texts with which a listing takes several segments, and a record may fill one. */
const long = ['Ж'.repeat(900), '},{"id":1,'.repeat(150), 'x'.repeat(12_000)]

/** The fields that vary, so that records collide in order, change, move, and fill segments. */
const rowsOf: Readonly<Record<string, fc.Arbitrary<Row>>> = {
  rights: fc.record({ name: fc.constantFrom('n1', 'n2', ...long) }),
  events: fc.record({
    date: fc.constantFrom('2020-01-01', '2020-01-02', '2020-01-03T04:05:06+02:00'),
    attr: fc.constantFrom('name', 'a"b\\', '\uffee', '😀'),
    after: fc.constantFrom('x', 'y', null, ...long),
  }),
}

/** A text in which each record has its name in the model; no step changes it. */
const markers: Readonly<Record<string, string>> = { rights: 'object_type', events: 'before' }

/** Each source has its own range of ids. */
const idOf = (source: string, id: number) => (source === 'a' ? id : id + 100)

/** The name of a record in the model: sources do not share keys. */
const nameOf = (source: string, { identity, row }: Given) =>
  `${source} ${JSON.stringify('id' in identity || 'key' in identity ? identity : row)}`

const key = fc.constantFrom('1', 'x', 'X', ' x', 'é', '#', '=', `a,"\\{}'`)

function steps(row: fc.Arbitrary<Row>): fc.Arbitrary<Step[]> {
  const given: fc.Arbitrary<Given> = fc.record({
    identity: fc.oneof(
      { weight: 3, arbitrary: fc.record({ id: fc.integer({ min: 1, max: 12 }) }) },
      { weight: 2, arbitrary: fc.record({ key }) },
      fc.constant({}),
    ),
    row,
    companies: fc.uniqueArray(fc.constantFrom(1, 2, '1', '01'), { minLength: 1, maxLength: 3 }),
  })
  const selector = (one: Given) => nameOf('', one)
  const some = fc.uniqueArray(given, { minLength: 1, maxLength: 8, selector })
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
    .toSorted((a, b) => (a.identity.id ?? 0) - (b.identity.id ?? 0))
    .map((one) => {
      company = Math.max(company, Number(one.companies[0]))
      return { ...one, companies: [company] }
    })
}

/** The model's state of a record. */
interface Held {
  readonly source: string
  readonly id: number | undefined
  row: Row
  readonly companies: Set<Company>
}

type Model = Map<string, Held>

/** Applies a step to the model as the operator's guide describes; returns the counts. */
function take(model: Model, { source, isSnapshot, given }: Step) {
  const counts = { read: 0, inserted: 0, updated: 0, unchanged: 0, refused: 0, removed: 0 }
  const told = new Map(given.map((one) => [nameOf(source, one), one]))
  for (const [name, one] of told) {
    const held = model.get(name)
    const isChanged = JSON.stringify(held?.row) !== JSON.stringify(one.row)
    for (const company of one.companies) {
      counts.read += 1
      if (!held?.companies.has(company)) counts.inserted += 1
      else if (isChanged) counts.updated += 1
      else counts.unchanged += 1
    }
    const others = [...(held?.companies ?? [])].filter((id) => !one.companies.includes(id))
    if (isChanged && !isSnapshot) counts.updated += others.length
  }
  for (const [name, held] of model) {
    if (!isSnapshot || held.source !== source) continue
    for (const company of held.companies) {
      if (told.get(name)?.companies.includes(company)) continue
      held.companies.delete(company)
      counts.removed += 1
    }
  }
  for (const [name, { identity, row, companies }] of told) {
    const id = identity.id === undefined ? undefined : idOf(source, identity.id)
    const held = model.get(name) ?? { source, id, row, companies: new Set<Company>() }
    held.row = row
    for (const company of companies) held.companies.add(company)
    model.set(name, held)
  }
  return counts
}

/** The rows of a step, as a file has them. */
function rowsIn({ source, given }: Step, marker: string): object[] {
  return given.flatMap((one) => {
    const { id } = one.identity
    const record = { ...one.row, [marker]: nameOf(source, one) }
    return one.companies.map((company) => ({
      ...one.identity,
      ...(id !== undefined && { id: idOf(source, id) }),
      ...(typeof company === 'number'
        ? { company_id: company }
        : { company_jurisdiction: 'GB', company_identifier: company }),
      ...record,
    }))
  })
}

const momentOf = ({ date }: Row) => Date.parse(String(date))

function expectedMeta(records: readonly Row[]) {
  const groups = [...Map.groupBy(records, ({ attr }) => String(attr))]
  return groups
    .map(([type, { length: count }]) => ({ type, count }))
    .sort((a, b) => b.count - a.count || Buffer.from(a.type).compare(Buffer.from(b.type)))
}

/** What a run has seen: the ids of records and companies, and the listings with their versions. */
interface Seen {
  readonly ids: Map<string, number>
  readonly companies: Map<Company, number>
  readonly served: Map<number, { text: string; version: number }>
}

/** Finds the ids of the companies; each must keep its own. */
function noteCompanies(db: string, { companies }: Seen): void {
  for (const { id, jurisdiction, identifier } of query(db, 'select * from companies')) {
    const company = jurisdiction === null ? Number(id) : String(identifier)
    assert.equal(Number(id), companies.get(company) ?? Number(id))
    companies.set(company, Number(id))
  }
  assert.equal(new Set(companies.values()).size, companies.size)
}

async function checkListing(
  store: StoreReader,
  resource: Resource,
  model: Model,
  [company, companyId]: readonly [Company, number],
  seen: Seen,
): Promise<void> {
  const page = await readListing(store, resource, companyId)
  assert.ok(page !== undefined)
  const records = JSON.parse(`[${page.text}]`) as (Row & { readonly id: number })[]
  const marker = String(markers[resource.name])
  const expected = new Map([...model].filter(([, { companies }]) => companies.has(company)))
  const names = records.map((record) => String(record[marker]))
  assert.deepEqual(names.toSorted(), [...expected.keys()].toSorted())
  assert.equal(page.total, records.length)
  for (const [n, record] of records.entries()) {
    const name = names[n] ?? ''
    const { row, id } = expected.get(name) ?? assert.fail()
    for (const [field, value] of Object.entries(row)) {
      if (field === 'date') assert.equal(momentOf(record), momentOf(row))
      else assert.equal(record[field], value)
    }
    assert.equal(record.id, id ?? seen.ids.get(name) ?? record.id, `${name} keeps its id`)
    seen.ids.set(name, record.id)
  }
  assert.equal(new Set(seen.ids.values()).size, seen.ids.size, 'no two records have one id')
  const ordered = records.toSorted((a, b) =>
    resource.order.by === 'id' ? a.id - b.id : momentOf(b) - momentOf(a) || b.id - a.id,
  )
  assert.deepEqual(records, ordered)
  if (resource.metaOf) assert.deepEqual(JSON.parse(page.meta ?? '[]'), expectedMeta(records))
  await checkPages(store, resource, companyId, records)
  const before = seen.served.get(companyId)
  if (before) assert.equal(before.text === page.text, before.version === page.version)
  seen.served.set(companyId, { text: page.text, version: page.version })
}

/** Every page of up to four records has the bytes of its part of the whole. */
async function checkPages(
  store: StoreReader,
  resource: Resource,
  company: number,
  records: readonly Row[],
): Promise<void> {
  const all = records.map((record) => JSON.stringify(record))
  for (const limit of [1, 2, 4]) {
    for (let offset = 0; offset <= all.length; offset += limit) {
      const page = await readListing(store, resource, company, { offset, limit })
      assert.equal(page?.text, all.slice(offset, offset + limit).join(','))
    }
  }
}

for (const [name, marker] of Object.entries(markers)) {
  test(`any sequence of imports of ${name} gives the listings of a model`, async (t) => {
    const resource = resources.find((known) => known.name === name) ?? assert.fail()
    const folder = makeFolder(t)
    let runs = 0
    await fc.assert(
      fc.asyncProperty(steps(rowsOf[name] ?? assert.fail()), async (sequence) => {
        const db = join(folder, `${(runs += 1)}.db`)
        const model: Model = new Map()
        const seen: Seen = { ids: new Map(), companies: new Map(), served: new Map() }
        for (const step of sequence) {
          const expected = take(model, step)
          const { source, isSnapshot } = step
          const { counts, problems } = await importRows(db, name, rowsIn(step, marker), {
            ...{ source, isSnapshot },
          })
          assert.deepEqual(problems, [])
          const { companiesCreated, recorded, erased, withheld, ...told } = counts
          assert.ok(companiesCreated >= 0)
          assert.deepEqual([recorded, erased, withheld], [0, 0, 0])
          assert.deepEqual(told, expected)
          noteCompanies(db, seen)
          const store = await openStoreReader(storeAt(db), patientBounds)
          for (const company of seen.companies) {
            await checkListing(store, resource, model, company, seen)
          }
          await store.close()
        }
        await checkSound(db)
      }),
      { numRuns: runsOf(45) },
    )
  })
}

test('another source may not claim an id that the store assigned, even if it is free', async (t) => {
  const db = join(makeFolder(t), 'test.db')
  await importRows(db, 'rights', [{ key: 'K', company_id: 7 }], { source: 'a' })
  const id = Number(query(db, 'select id from rights_view')[0]?.['id'])
  await importRows(db, 'rights', [{ key: 'L', company_id: 7 }], { source: 'a', isSnapshot: true })
  const claim = await importRows(db, 'rights', [{ id, company_id: 7 }], { source: 'b' })
  assert.match(claim.problems[0]?.reason ?? '', /belongs to a record of the source a/)
})

test('an id from a source is never assigned to another record', async (t) => {
  const db = join(makeFolder(t), 'test.db')
  const taken = 1_000_000_000_005
  await importRows(db, 'rights', [{ id: taken, company_id: 7, name: 'own' }])
  const rows = Array.from({ length: 9 }, (_, n) => ({ key: `k${n}`, company_id: 7, name: `k${n}` }))
  assert.equal((await importRows(db, 'rights', rows)).counts.inserted, 9)
  assert.equal(query(db, 'select count(distinct id) as n from rights_view')[0]?.['n'], 10)
  assert.equal(query(db, `select name from rights_view where id = ${taken}`)[0]?.['name'], 'own')
})

test('an id and keys in one import do not collide', async (t) => {
  const db = join(makeFolder(t), 'test.db')
  const rows = [
    { key: 'k', company_id: 7, name: 'k' },
    { id: 1_000_000_000_001, company_id: 7, name: 'own' },
  ]
  const { counts, problems } = await importRows(db, 'rights', rows)
  assert.deepEqual(problems, [])
  assert.equal(counts.inserted, 2)
})

test('given and assigned company ids do not collide', async (t) => {
  const db = join(makeFolder(t), 'test.db')
  const rows = [
    { id: 1, company_jurisdiction: 'GB', company_identifier: '1' },
    { id: 2, company_id: 1_000_000_000_001 },
  ]
  await importRows(db, 'rights', rows)
  const companies = query(db, 'select company_id from rights_view order by id').map(
    (r) => r['company_id'],
  )
  assert.equal(new Set(companies).size, 2, 'two records of two companies')
})

test('an assigned id is within the allowed range, even if a source uses the greatest id', async (t) => {
  const db = join(makeFolder(t), 'test.db')
  const greatest = Number.MAX_SAFE_INTEGER
  await importRows(db, 'rights', [{ id: greatest, company_id: greatest }], { source: 'a' })
  const row = { key: 'k', company_jurisdiction: 'GB', company_identifier: '1' }
  await importRows(db, 'rights', [row], { source: 'b' })
  for (const table of ['companies', 'rights_view']) {
    const ids = query(db, `select id from ${table}`).map(({ id }) => Number(id))
    const safe = ids.filter((id) => Number.isSafeInteger(id) && id > 0)
    assert.equal(safe.length, 2, table)
  }
})
