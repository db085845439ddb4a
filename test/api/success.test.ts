// Contract section 3: the content of a page.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { events } from '../../src/resources/events.ts'
import { isNullable } from '../../src/resources/field.ts'
import { resources } from '../../src/resources/index.ts'
import type { Resource } from '../../src/resources/resource.ts'
import { checkFailure, checkPage, makeApp, memberOf, pathOf } from '../support/make-app.ts'
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

  test(`${name}: content type, members and fields as specified, in order (3.1, 3.2)`, async () => {
    const answer = await ask(pathOf(resource, withSome))
    checkPage(answer, { resource, all })
    const meta = name === 'events' ? ['meta'] : []
    assert.deepEqual(Object.keys(JSON.parse(answer.text) as object), [
      ...['ok', name, ...meta],
      ...['total', 'pagination_total', 'pagination_offset'],
    ])
    assert.equal(memberOf(answer, 'ok'), true)
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
