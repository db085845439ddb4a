// Random sequences of imports by natural key, compared with a model: each key keeps its id, and
// so does each company; sources do not share keys; companies are found by their identifiers.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { resources } from '../../src/resources/index.ts'
import { openStoreReader } from '../../src/store/open-store.ts'
import { importRows, makeFolder, query } from '../support/import-rows.ts'
import { readListing } from '../support/read-listing.ts'
import { patientBounds, runsOf, storeAt } from '../support/store-at.ts'

interface Given {
  /** Undefined if the content is the key. */
  readonly key: string | undefined
  readonly date: string
  readonly attr: string
  readonly companies: readonly string[]
}

interface Step {
  readonly source: 'a' | 'b'
  readonly isSnapshot: boolean
  readonly given: readonly Given[]
}

const anyGiven: fc.Arbitrary<Given> = fc.record({
  key: fc.option(fc.constantFrom('1', '2', 'x', 'X', ' x', 'é', '#', '='), { nil: undefined }),
  date: fc.constantFrom('2020-01-01', '2020-01-02', '2020-01-03'),
  attr: fc.constantFrom('name', 'address', 'a"b\\', '\uffee', '😀'),
  companies: fc.uniqueArray(fc.constantFrom('1', '01', '2'), { minLength: 1, maxLength: 3 }),
})

/** The identity of a record in an import: the key or the content. */
const identityOf = ({ key, date, attr }: Omit<Given, 'companies'>) =>
  JSON.stringify(key ?? { date, attr })

const anyStep: fc.Arbitrary<Step> = fc.record({
  source: fc.constantFrom('a' as const, 'b' as const),
  isSnapshot: fc.boolean(),
  given: fc.uniqueArray(anyGiven, { minLength: 1, maxLength: 7, selector: identityOf }),
})

/** A record in some listing; the model's key is source and identity. */
interface ListingState {
  readonly given: Given
  readonly companies: Set<string>
}

/** Applies a step to the model as the operator's guide describes. */
function take(model: Map<string, ListingState>, { source, isSnapshot, given }: Step): void {
  const told = new Map(given.map((one) => [`${source} ${identityOf(one)}`, one]))
  if (isSnapshot) {
    for (const [name, { companies }] of model) {
      if (!name.startsWith(`${source} `)) continue
      for (const company of companies) {
        if (told.get(name)?.companies.includes(company) !== true) companies.delete(company)
      }
    }
  }
  for (const [name, one] of told) {
    const companies = model.get(name)?.companies ?? new Set()
    model.set(name, { given: one, companies: new Set([...companies, ...one.companies]) })
  }
}

/** The rows of a step; `after` contains the record's name in the model, which identifies it. */
function rowsOf({ source, given }: Step): object[] {
  return given.flatMap(({ companies, ...record }) =>
    companies.map((identifier) => ({
      ...{ company_jurisdiction: 'GB', company_identifier: identifier },
      ...{ ...record, after: `${source} ${identityOf(record)}` },
    })),
  )
}

interface Listed {
  readonly id: number
  readonly date: string
  readonly attr: string
  readonly after: string
}

/** The ids of companies by their identifiers; each must keep its id. */
function readCompanies(db: string, known: Map<string, number>): void {
  for (const { id, jurisdiction, identifier } of query(db, 'select * from companies')) {
    assert.equal(jurisdiction, 'GB')
    assert.equal(id, known.get(String(identifier)) ?? id)
    known.set(String(identifier), Number(id))
  }
  assert.equal(new Set(known.values()).size, known.size)
}

async function listing(db: string, company: number): Promise<readonly Listed[]> {
  const events = resources.find(({ name }) => name === 'events')
  assert.ok(events)
  const store = await openStoreReader(storeAt(db), patientBounds)
  const page = await readListing(store, events, company)
  await store.close()
  assert.ok(page !== undefined)
  const records = JSON.parse(`[${page.text}]`) as Listed[]
  assert.equal(page.total, records.length)
  return records
}

/** Checks a listing; each record has the id under which it was first seen anywhere. */
function checkListing(
  records: readonly Listed[],
  expected: ReadonlyMap<string, Given>,
  ids: Map<string, number>,
): void {
  assert.deepEqual(records.map(({ after }) => after).sort(), [...expected.keys()].sort())
  for (const { id, date, attr, after } of records) {
    const given = expected.get(after)
    assert.deepEqual([date.slice(0, 10), attr], [given?.date, given?.attr], after)
    assert.equal(id, ids.get(after) ?? id, `${after} has the id that it had`)
    ids.set(after, id)
  }
  assert.equal(new Set(ids.values()).size, ids.size, 'no two records have one id')
  const newestFirst = records.toSorted(
    (a, b) => Date.parse(b.date) - Date.parse(a.date) || b.id - a.id,
  )
  assert.deepEqual(records, newestFirst)
}

test('any sequence of imports by key keeps the id of each record in all listings permanently', async (t) => {
  const folder = makeFolder(t)
  let runs = 0
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 1, maxLength: 5 }), async (steps) => {
      const db = join(folder, `${(runs += 1)}.db`)
      const model = new Map<string, ListingState>()
      const ids = new Map<string, number>()
      const companies = new Map<string, number>()
      for (const step of steps) {
        take(model, step)
        const { source, isSnapshot } = step
        const report = await importRows(db, 'events', rowsOf(step), { source, isSnapshot })
        assert.deepEqual(report.problems, [])
        readCompanies(db, companies)
        for (const [company, id] of companies) {
          const standing = [...model].filter(([, record]) => record.companies.has(company))
          const expected = new Map(standing.map(([name, { given }]) => [name, given]))
          checkListing(await listing(db, id), expected, ids)
        }
      }
    }),
    { numRuns: runsOf(30) },
  )
})

test('keys of different sources are independent', async (t) => {
  const db = join(makeFolder(t), 'test.db')
  const row = { key: 'K', company_id: 7, name: 'a' }
  for (const source of ['a', 'b']) await importRows(db, 'rights', [row], { source })
  const ids = query(db, 'select id from rights_view').map(({ id }) => id)
  assert.equal(new Set(ids).size, 2)
  await importRows(db, 'rights', [{ ...row, name: 'b' }], { source: 'b' })
  assert.deepEqual(
    query(db, 'select name from rights_view order by id').map(({ name }) => name),
    ['a', 'b'],
  )
})

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
