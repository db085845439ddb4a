// Who was masked first can be erased later (contract 13).

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import type { AskedSubject } from '../../src/store/withholding/withhold.ts'
import { importRows } from '../support/import-rows.ts'
import { makeApp, memberOf, type TestApp } from '../support/make-app.ts'
import { keepStore, storeBytes } from '../support/store-state.ts'
import { checkSound } from '../support/verify-store.ts'
import { lift, withhold } from '../support/write-store.ts'

const identifier = '770412345678'
const jane = 'Jáne Doe-Smith'
const person = { resource: 'employees', field: 'identifier', value: identifier } as const

const company = { company_jurisdiction: 'GB', company_identifier: '1' }
const officers = (position: string) => [
  { id: 1, ...company, identifier, name: jane, position },
  { id: 2, ...company, identifier: '2', name: 'John Roe', position: 'Chair' },
]
const companies = [{ jurisdiction: 'GB', identifier: '1', name: `${jane} Ltd` }]

const dbOf = ({ folder }: TestApp['store']) => join(folder, 'registry.db')

/** Nobody but John is left, now and in the past. */
async function checkErased({ ask, store }: TestApp): Promise<void> {
  const db = dbOf(store)
  for (const query of ['', '?version=2']) {
    const answer = await ask(`/api/v1/companies/GB:1/employees${query}`)
    const names = (memberOf(answer, 'employees') as { name: string }[]).map(({ name }) => name)
    assert.deepEqual(names, ['John Roe'])
  }
  const bytes = await storeBytes(db)
  for (const text of [identifier, jane]) assert.equal(bytes.includes(text), false, text)
  await checkSound(db)
}

const masks: Readonly<Record<string, AskedSubject>> = {
  'the same value': person,
  'their id': { resource: 'employees', id: 1 },
}

for (const [how, masked] of Object.entries(masks)) {
  test(`who was masked by ${how} can be erased by a value, also in a restored backup`, async (t) => {
    const app = await makeApp(t)
    const db = dbOf(app.store)
    await importRows(db, 'companies', companies)
    await importRows(db, 'employees', officers('Director'))
    await importRows(db, 'employees', officers('CEO'))
    await withhold(db, 'mask', masked)
    const restore = await keepStore(db)
    const { touched } = await withhold(db, 'erase', person)
    const [one, ...more] = touched
    assert.deepEqual([one?.id, one?.isGone, one?.states, more.length], [1, true, 2, 0])
    await checkErased(app)
    await assert.rejects(withhold(db, 'erase', person), /no record of employees has this/)

    await lift(db, 1)
    const again = await importRows(db, 'employees', officers('CTO'))
    assert.deepEqual([again.counts.unchanged, again.counts.withheld], [1, 1])
    await importRows(db, 'companies', companies)
    await checkErased(app)

    await restore()
    await importRows(db, 'companies', companies)
    await checkErased(app)
  })
}

test('an erasure by a value leaves who was masked with others by another one', async (t) => {
  const { store, ask } = await makeApp(t)
  const db = dbOf(store)
  await importRows(db, 'employees', [
    { id: 1, ...company, identifier, name: jane },
    { id: 2, ...company, identifier: '2', name: jane },
  ])
  await withhold(db, 'mask', { resource: 'employees', field: 'name', value: jane })
  const refused = withhold(db, 'erase', person)
  await assert.rejects(refused, /no record of employees has this identifier.*by its id/)
  assert.equal(memberOf(await ask('/api/v1/companies/GB:1/employees'), 'total'), 2)
})
