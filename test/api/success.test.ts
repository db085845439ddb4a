// Contract section 3: the content of a page.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { events } from '../../src/resources/events.ts'
import { isNullable } from '../../src/resources/field.ts'
import { resources } from '../../src/resources/index.ts'
import { posTerminals } from '../../src/resources/pos-terminals.ts'
import type { Resource } from '../../src/resources/resource.ts'
import { rights } from '../../src/resources/rights.ts'
import {
  checkFailure,
  checkPage,
  expectedBody,
  makeApp,
  memberOf,
  pathOf,
} from '../support/make-app.ts'
import { makeRecord, makeRecords, type WireRecord } from '../support/make-record.ts'
import { someOf } from '../support/store-at.ts'

/** The fields of each resource in the specified order, and those that are never null. */
const seedFields: Readonly<Record<string, string>> = {
  rights:
    'id jurisdiction name object_type status registration_number registration_date ' +
    'application_date holders created_at updated_at',
  employees:
    'id identifier name position employer_identifier employer_name employer_jurisdiction ' +
    'start_date end_date created_at updated_at',
  jobs: 'id title description salary_from salary_to currency location created_at updated_at',
  pos_terminals: 'id terminal_id location bank_name status jurisdiction',
  events: 'id jurisdiction date attr before after identifier',
}
const neverNull: Readonly<Record<string, readonly string[]>> = {
  rights: ['id', 'holders'],
  events: ['id', 'date', 'attr'],
}

const [withSome, withNone] = [1, 2]
const shown = someOf(resources)
const recordsOf = new Map(shown.map((resource) => [resource, makeRecords(resource, 7)]))
const { ask } = await makeApp(
  { after },
  {
    companies: [withNone],
    records: [...recordsOf].map(([resource, records]) => ({
      resource,
      company: withSome,
      records,
    })),
  },
)

/** An application whose only company, 1, has these records. */
function appWith(t: Parameters<typeof makeApp>[0], resource: Resource, records: WireRecord[]) {
  return makeApp(t, { records: [{ resource, company: 1, records }] })
}

for (const [resource, all] of recordsOf) {
  const { name } = resource

  test(`${name}: 200, with content type and members in order (3.1)`, async () => {
    const answer = await ask(pathOf(resource, withSome))
    checkPage(answer, { resource, all })
    const meta = name === 'events' ? ['meta'] : []
    assert.deepEqual(Object.keys(JSON.parse(answer.text) as object), [
      ...['ok', name, ...meta],
      ...['total', 'pagination_total', 'pagination_offset'],
    ])
    assert.equal(memberOf(answer, 'ok'), true)
  })

  test(`${name}: exactly the specified fields, in their order (3.2)`, async () => {
    const answer = await ask(pathOf(resource, withSome))
    const records = memberOf(answer, name) as object[]
    assert.equal(records.length, 7)
    for (const record of records) {
      assert.equal(Object.keys(record).join(' '), seedFields[name])
    }
  })

  test(`${name}: an unknown value is null (3.2)`, async (t) => {
    const required = neverNull[name] ?? ['id']
    const unknown = Object.entries(resource.fields).map(([field, { kind, example }]) => [
      field,
      required.includes(field) ? (kind === 'text_list' ? [] : example) : null,
    ])
    const record = Object.fromEntries(unknown) as WireRecord
    const bare = Object.fromEntries(
      Object.entries(record).filter(([, value]) => value !== null && !Array.isArray(value)),
    ) as WireRecord
    const { ask } = await appWith(t, resource, [bare])
    checkPage(await ask(pathOf(resource, 1)), { resource, all: [record] })
    const nullable = Object.entries(resource.fields).filter(([, field]) => isNullable(field))
    assert.deepEqual(
      nullable.map(([field]) => field),
      (seedFields[name] ?? '').split(' ').filter((field) => !required.includes(field)),
    )
  })

  test(`${name}: the counters of each page (3.3)`, async () => {
    for (const limit of [1, 2, 3, 7, 8, 1_000]) {
      for (const page of [1, 2, 3, 4, 7]) {
        const answer = await ask(`${pathOf(resource, withSome)}?page=${page}&limit=${limit}`)
        checkPage(answer, { resource, all, page, limit })
        assert.equal(memberOf(answer, 'total'), 7)
        assert.equal(memberOf(answer, 'pagination_total'), 7)
        assert.equal(memberOf(answer, 'pagination_offset'), (page - 1) * limit)
      }
    }
  })

  test(`${name}: a page past the end is empty, with correct counters (3.4, A9)`, async () => {
    for (const page of [2, 3, 1_000, 90_071_992_547_409]) {
      const answer = await ask(`${pathOf(resource, withSome)}?page=${page}`)
      checkPage(answer, { resource, all, page })
      assert.deepEqual(memberOf(answer, name), [])
      assert.equal(memberOf(answer, 'total'), 7)
    }
  })

  test(`${name}: a company without records is 200, an unknown one 404 (3.4, A4, A5)`, async () => {
    checkPage(await ask(pathOf(resource, withNone)), { resource, all: [] })
    checkPage(await ask(`${pathOf(resource, withNone)}?page=9`), { resource, all: [], page: 9 })
    for (const query of ['', '?page=9', '?limit=1']) {
      const answer = await ask(pathOf(resource, 3) + query)
      checkFailure(answer, 404, 'Company 3 is not in the registry')
    }
    const conditional = await ask(pathOf(resource, 3), { headers: { 'if-none-match': '*' } })
    checkFailure(conditional, 404, 'Company 3 is not in the registry')
  })

  test(`${name}: a listing whose records were all removed is 200 and empty (3.4)`, async (t) => {
    const { ask, store } = await appWith(t, resource, makeRecords(resource, 2))
    const kept = makeRecords(resource, 1, 50)
    await store.load([{ resource, company: 9, records: kept }], { isSnapshot: true })
    checkPage(await ask(pathOf(resource, 1)), { resource, all: [] })
    checkPage(await ask(pathOf(resource, 9)), { resource, all: kept })
  })
}

test('the offset of a page is exact beyond 2^53 (3.3)', async () => {
  const { text } = await ask(`${pathOf(rights, withSome)}?page=9007199254740991&limit=999`)
  assert.ok(text.endsWith(`"pagination_offset":${9_007_199_254_740_990n * 999n}}`), text)
})

test('the last page of a long listing is as fast as the first (3.5)', async (t) => {
  const all = makeRecords(posTerminals, 20_000)
  const { ask } = await makeApp(t, {
    records: [{ resource: posTerminals, company: 1, records: all }],
    cacheBytesMax: 0,
  })
  const path = `${pathOf(posTerminals, 1)}?limit=100&page=`
  checkPage(await ask(`${path}200`), { resource: posTerminals, all, page: 200 })
  // The minimum of many alternating runs: other work on the machine can only slow one down.
  let [first, last] = [Infinity, Infinity]
  const msOf = async (page: number) => {
    const start = performance.now()
    await ask(`${path}${page}`)
    return performance.now() - start
  }
  for (let turn = 0; turn < 41; turn += 1) {
    first = Math.min(first, await msOf(1))
    last = Math.min(last, await msOf(200))
  }
  assert.ok(last < first * 3 + 1, `page 1 takes ${first} ms, page 200 ${last} ms`)
})

for (const resource of shown.filter(({ order }) => order.by === 'id')) {
  test(`${resource.name}: ordered by id as a number, whatever the order of import (3.6)`, async (t) => {
    assert.equal(resource.order.direction, 'ascending')
    const ids = [100, 9, 1_000_000_000_000, 10, 1, 99, 2]
    const all = ids.map((id) => makeRecord(resource, { id }))
    const { ask, store } = await appWith(t, resource, all.slice(0, 3))
    await store.load([{ resource, company: 1, records: all.slice(3) }])
    const answer = await ask(pathOf(resource, 1))
    checkPage(answer, { resource, all })
    assert.deepEqual(
      (memberOf(answer, resource.name) as WireRecord[]).map(({ id }) => id),
      [1, 2, 9, 10, 99, 100, 1_000_000_000_000],
    )
  })
}

test('events: newest first, equal dates by descending id (3.6)', async (t) => {
  const dated = (id: number, date: string) => makeRecord(events, { id, date })
  const all = [
    dated(1, '2020-01-01T00:00:00Z'),
    dated(9, '2020-01-01T00:00:00Z'),
    dated(10, '2020-01-01T00:00:00Z'),
    dated(2, '2021-01-01T00:00:00Z'),
    dated(11, '1999-12-31T23:59:59Z'),
    dated(3, '2020-01-01T00:00:01Z'),
  ]
  const { ask, store } = await appWith(t, events, all.slice(0, 2))
  await store.load([{ resource: events, company: 1, records: all.slice(2) }])
  const answer = await ask(pathOf(events, 1))
  checkPage(answer, { resource: events, all })
  const ids = (memberOf(answer, 'events') as WireRecord[]).map(({ id }) => id)
  assert.deepEqual(ids, [2, 3, 10, 9, 1, 11])
})

test('events: one whose date changes moves to its new position (3.6)', async (t) => {
  const all = makeRecords(events, 5)
  const { ask, store } = await appWith(t, events, all)
  const moved = makeRecord(events, { id: 3, date: '2030-01-01T00:00:00Z' })
  await store.load([{ resource: events, company: 1, records: [moved] }])
  const now = all.map((record) => (record.id === 3 ? moved : record))
  checkPage(await ask(pathOf(events, 1)), { resource: events, all: now })
})

test('meta counts each attr, by count descending, then by type ascending (3.7)', async (t) => {
  const attrs = ['status', 'address', 'name', 'address', 'ceo', 'status', 'Zulu', 'address']
  const all = attrs.map((attr, index) => makeRecord(events, { id: index + 1, attr }))
  const { ask } = await appWith(t, events, all)
  for (const query of ['', '?limit=2', '?page=99', '?page=2&limit=3']) {
    const answer = await ask(pathOf(events, 1) + query)
    assert.deepEqual(memberOf(answer, 'meta'), [
      { type: 'address', count: 3 },
      { type: 'status', count: 2 },
      { type: 'Zulu', count: 1 },
      { type: 'ceo', count: 1 },
      { type: 'name', count: 1 },
    ])
    assert.equal(memberOf(answer, 'total'), 8)
  }
})

test('types of equal count are ordered by Unicode code point (3.7)', async (t) => {
  const attrs = [
    '\u{1F600}',
    '\uFFFD',
    'é',
    'z',
    'Z',
    'a"b',
    'a\\b',
    'x\u2028',
    'ä',
    'aa',
    'a',
    '1',
  ]
  const all = attrs.map((attr, index) => makeRecord(events, { id: index + 1, attr }))
  const { ask } = await appWith(t, events, all)
  checkPage(await ask(pathOf(events, 1)), { resource: events, all })
})

test('meta is complete at any length of its types (3.7)', async (t) => {
  const lengths = Array.from({ length: 40 }, (_, index) => 150 + index)
  const companies = lengths.map((length, index) => ({
    resource: events,
    company: index + 1,
    records: [makeRecord(events, { id: index + 1, attr: 'é'.repeat(2) + 'x'.repeat(length - 4) })],
  }))
  const { ask } = await makeApp(t, { records: companies })
  for (const { company, records } of companies) {
    checkPage(await ask(pathOf(events, company)), { resource: events, all: records })
  }
})

test('meta follows additions, changes and removals (3.7)', async (t) => {
  const { ask, store } = await appWith(t, events, makeRecords(events, 3))
  const renamed = makeRecord(events, { id: 2, attr: 'status' })
  await store.load([{ resource: events, company: 1, records: [renamed] }])
  const more = makeRecords(events, 2, 10)
  await store.load([{ resource: events, company: 1, records: more }])
  const all = [...makeRecords(events, 1), renamed, ...makeRecords(events, 1, 3), ...more]
  checkPage(await ask(pathOf(events, 1)), { resource: events, all })
  await store.load([{ resource: events, company: 1, records: [renamed] }], { isSnapshot: true })
  checkPage(await ask(pathOf(events, 1)), { resource: events, all: [renamed] })
})

test('no other listing has meta (3.7)', async () => {
  for (const resource of shown.filter(({ name }) => name !== 'events')) {
    assert.equal(memberOf(await ask(pathOf(resource, withSome)), 'meta'), undefined)
  }
  assert.deepEqual(memberOf(await ask(pathOf(events, withNone)), 'meta'), [])
})

test('timestamps are UTC, with milliseconds only in created_at and updated_at (3.8)', async (t) => {
  const given = { registration_date: '2019-08-02', created_at: '2024-02-29T23:30:00.1239-01:30' }
  const rest = { application_date: '2019-03-14 01:00:00+02:00', updated_at: '2023-01-17' }
  const { ask } = await appWith(t, rights, [makeRecord(rights, { ...given, ...rest })])
  const [record] = memberOf(await ask(pathOf(rights, 1)), 'rights') as WireRecord[]
  assert.equal(record?.['registration_date'], '2019-08-02T00:00:00Z')
  assert.equal(record['application_date'], '2019-03-13T23:00:00Z')
  assert.equal(record['created_at'], '2024-03-01T01:00:00.123Z')
  assert.equal(record['updated_at'], '2023-01-17T00:00:00.000Z')
  for (const resource of shown) {
    const [first] = memberOf(await ask(pathOf(resource, withSome)), resource.name) as WireRecord[]
    for (const [name, value] of Object.entries(first ?? {})) {
      if (name === 'created_at' || name === 'updated_at') {
        assert.match(String(value), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      } else if (name.endsWith('date')) {
        assert.match(String(value), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
      }
    }
  }
})

test('text is served unchanged (3.9)', async (t) => {
  const texts = [
    'Société Générale — «Ёлка» 東京 \u{1F3E2}',
    'e\u0301 and \u00e9 are two texts',
    '\u202Eright to left\u200B',
    ' leading and trailing ',
    'quote " slash / back \\ tab \t line \n \u2028\u2029 bell \u0007 del \u007F',
    '<script>&amp;\u0000'.replace('\u0000', ''),
    '\uFEFFmark',
    '\uFFFF\u{10FFFF}',
  ]
  const all = texts.map((name, index) =>
    makeRecord(rights, { id: index + 1, name, holders: texts }),
  )
  const { ask } = await appWith(t, rights, all)
  const answer = await ask(pathOf(rights, 1))
  checkPage(answer, { resource: rights, all })
  assert.equal(answer.bytes.toString('utf8'), expectedBody({ resource: rights, all }))
  assert.ok(answer.bytes.includes(Buffer.from('東京')), 'not escaped')
})
