// A revert makes a new version with the state before, and whatever else imports write.
// `changes.properties.test.ts` compares random reverts with a model.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { resources } from '../../src/resources/index.ts'
import type { Resource } from '../../src/resources/resource.ts'
import type { StoreReader } from '../../src/store/serving/store-reader.ts'
import { importRows, makeFolder, queryStore } from '../support/import-rows.ts'
import { makeApp } from '../support/make-app.ts'
import { withReader } from '../support/open-reader.ts'
import { readListing } from '../support/read-listing.ts'
import { readSaid } from '../support/said.ts'
import { checkSound, makeSoundStore } from '../support/verify-store.ts'
import { one, prune, remove, revert } from '../support/write-store.ts'
import { recordedOn } from '../support/history.ts'

test('after the revert of a first extract, the next one is first again: it records nothing', async (t) => {
  const db = makeSoundStore(t)
  const rows = (position: string) => [{ id: 1, company_id: 1, name: 'Jane Doe', position }]
  await importRows(db, 'employees', rows('Director'), recordedOn('2062-01-01'))
  await revert(db, one(1))
  // The mistyped day no longer counts either.
  const again = await importRows(db, 'employees', rows('Chair'), recordedOn('2026-01-01'))
  assert.deepEqual([again.counts.inserted, again.counts.recorded], [1, 0])
})

test('the revert of a company’s return leaves it as absent as it was', async (t) => {
  const db = makeSoundStore(t)
  const companies = (...identifiers: string[]) =>
    identifiers.map((identifier) => ({ jurisdiction: 'GB', identifier, town: 'Leeds' }))
  const extracts = [companies('1', '2'), companies('2'), companies('1', '2')]
  for (const [day, rows] of extracts.entries()) {
    const options = { ...recordedOn(`2026-01-0${day + 1}`), isSnapshot: true }
    await importRows(db, 'companies', rows, options)
  }
  await revert(db, one(3))
  const told = (await readSaid(db)).map((said) => [said.is_present, said.as_of])
  assert.deepEqual(told, [
    [false, '2026-01-02T00:00:00Z'],
    [true, '2026-01-01T00:00:00Z'],
  ])
})

test('an import that was reverted and restored can be reverted again, once at a time', async (t) => {
  const db = makeSoundStore(t)
  await importRows(db, 'rights', [{ id: 1, company_id: 7 }])
  await revert(db, one(1))
  await assert.rejects(
    revert(db, one(1)),
    /^OperatorError: version 1 was reverted by version 2; to restore it: dossier revert 2$/,
  )
  await revert(db, one(2))
  const { reverted } = await revert(db, one(1))
  assert.deepEqual(reverted[0]?.reverts, [1, 2, 3])
  assert.deepEqual(await queryStore(db, 'select id from rights_view'), [])
  assert.deepEqual((await revert(db, { to: 0 })).reverted, [])
  // At version 3, it was there.
  await revert(db, { to: 3 })
  assert.equal((await queryStore(db, 'select id from rights_view')).length, 1)
})

// What else is refused is in test/import/bad-inputs/options.ts.
test('a version whose state before was pruned cannot be reverted', async (t) => {
  const db = makeSoundStore(t)
  for (const id of [1, 2]) await importRows(db, 'rights', [{ id, company_id: 7 }])
  await prune(db)
  await assert.rejects(
    revert(db, one(2)),
    /: version 2 cannot be reverted: the state before it was pruned \(.* from version 2 on\)$/,
  )
})

/** How many records each source has: together more segments than one directory names. */
const count = 3_000

const rows = (source: number, state: string, from = 0, to = count) =>
  Array.from({ length: to - from }, (_, n) => {
    const id = 1 + 2 * (from + n) + source
    const day = new Date(Date.UTC(2020, 0, 1 + ((id * 7) % 900))).toISOString().slice(0, 10)
    const before = `${state} ${'of many words '.repeat(17)} ${id}`
    return { id, company_id: 7, date: day, attr: `a${id % 5}`, before }
  })

async function wholeListing(db: string, resource: Resource) {
  const read = (store: StoreReader) => readListing(store, resource, 7, { limit: 20_000 })
  const page = await withReader(db, read)
  return [page?.text, page?.meta]
}

test('a long listing that two sources have is again what it would be without an import', async (t) => {
  const events = resources.find(({ metaOf }) => metaOf !== undefined) ?? assert.fail()
  const [db, other] = [join(makeFolder(t), 'a.db'), join(makeFolder(t), 'b.db')]
  const load = (to: string, source: number, given: object[], isSnapshot = false) =>
    importRows(to, events.name, given, { source: `s${source}`, isSnapshot })
  // The second import of source 0 changes a third, removes a third, and adds some.
  const later = [...rows(0, 'new', 0, count / 3), ...rows(0, 'old', (2 * count) / 3, count + 100)]
  for (const [at, isWhole] of [
    [db, true],
    [other, false],
  ] as const) {
    await load(at, 0, rows(0, 'old'))
    await load(at, 1, rows(1, 'old'))
    if (isWhole) await load(at, 0, later, true)
    await load(at, 1, rows(1, 'new', count / 2), true)
  }
  const after = await wholeListing(db, events)
  const { reverted } = await revert(db, one(3))
  const [{ restored, updated, removed } = assert.fail()] = reverted
  assert.deepEqual([restored, updated, removed], [count / 3, count / 3, 100])
  assert.deepEqual(await wholeListing(db, events), await wholeListing(other, events))
  await checkSound(db)
  await revert(db, one(5))
  assert.deepEqual(await wholeListing(db, events), after)
  await checkSound(db)
})

test('the revert of an import with another attribute of names restores the names', async (t) => {
  const { ask, db } = await makeApp(t)
  const rows = [{ id: 1, jurisdiction: 'GB', identifier: '1', name: 'Acme', title: 'Other' }]
  await importRows(db, 'companies', rows)
  await importRows(db, 'companies', rows, { nameAttribute: 'title' })
  await revert(db, one(2))
  for (const [version, word] of [
    [2, 'Other'],
    [3, 'Acme'],
  ] as const) {
    const { text } = await ask(`/api/v1/companies/1?version=${version}`)
    assert.match(text, new RegExp(`"name":"${word}","sources"`))
  }
  assert.match((await ask('/api/v1/companies?q=acme')).text, /"total":1,/)
  await importRows(db, 'companies', [{ ...rows[0], name: 'New' }])
  assert.match((await ask('/api/v1/companies?q=new')).text, /"total":1,/)
  await checkSound(db)
})

test('a restored change does not replace one that was recorded since', async (t) => {
  const { ask, db } = await makeApp(t)
  const load = (source: string, day: number, said: object) =>
    importRows(db, 'companies', [{ jurisdiction: 'GB', identifier: '1', ...said }], {
      source,
      ...recordedOn(`2024-01-0${day}`),
    })
  await load('a', 1, { name: 'A' })
  await load('b', 1, { town: 'x' })
  await load('a', 2, { name: 'B' })
  await revert(db, one(3))
  await load('b', 3, { town: 'y' })
  await revert(db, one(4))
  const [first, last] = [1_000_000_000_001, 1_000_000_000_002]
  const { text } = await ask('/api/v1/companies/GB:1/events')
  const { events } = JSON.parse(text) as { events: { id: number; after: string }[] }
  const told = events.map(({ id, after }) => [id, after])
  assert.deepEqual(told, [
    [last, 'y'],
    [first, 'B'],
  ])
})

test('recorded changes that were removed are reverted with the imports of their source', async (t) => {
  const db = makeSoundStore(t)
  for (const [day, name] of ['A', 'B', 'C'].entries()) {
    if (name === 'C') await remove(db, 'events', 'a/companies')
    await importRows(db, 'companies', [{ jurisdiction: 'GB', identifier: '1', name }], {
      source: 'a',
      ...recordedOn(`2024-01-0${day + 1}`),
    })
  }
  const told = async () => {
    const rows = await queryStore(db, 'select "after" as name from events_view')
    return rows.map(({ name }) => name)
  }
  const refused =
    /later imports of the same source: (2, 3, 4|3, 4|4); revert them, too, with --with-later$/
  for (const version of [1, 2, 3]) await assert.rejects(revert(db, one(version)), refused)
  assert.deepEqual(await told(), ['C'])
  const { reverted } = await revert(db, { to: 2 })
  const inLog = reverted.map(({ source, reverts }) => [source, reverts])
  assert.deepEqual(inLog, [['a', [3, 4]]])
  assert.deepEqual(await told(), ['B'])
  await revert(db, one(5))
  assert.deepEqual(await told(), ['C'])
  await revert(db, one(4))
  assert.deepEqual(await told(), [])
  await revert(db, one(3))
  assert.deepEqual(await told(), ['B'])
})

test('a record is not restored under an id that another source has used since', async (t) => {
  const db = makeSoundStore(t)
  const load = (source: string, ids: readonly number[], isSnapshot = false) => {
    const rows = ids.map((id) => ({ id, company_id: 1, name: source }))
    return importRows(db, 'rights', rows, { source, isSnapshot })
  }
  await load('a', [5, 7])
  await load('a', [7], true)
  await load('b', [5])
  const message = /^record 5 of rights cannot be restored: the source b has used its id since/
  await assert.rejects(revert(db, one(2)), { message })
  await revert(db, { to: 1 })
})

test('a version of a revert in which a record has two sources is not restored', async (t) => {
  const db = makeSoundStore(t)
  const load = (source: string, ids: readonly number[], target = 'rights') => {
    const company = source === 'a' ? 1 : 2
    const rows = ids.map((id) => ({ id, company_id: company, name: source }))
    return importRows(db, target, rows, { source, isSnapshot: true })
  }
  await load('a', [5, 7])
  await load('a', [7])
  await load('b', [5])
  const { reverted } = await revert(db, { to: 1 })
  assert.deepEqual(
    reverted.map(({ source, version }) => [source, version]),
    [
      ['a', 4],
      ['b', 5],
    ],
  )
  await load('a', [1], 'employees')
  const message =
    /^version 4 cannot be restored: .* record 5 of rights has two sources; restore the one before/
  await assert.rejects(revert(db, { to: 4 }), { message })
  for (const to of [3, 5]) await revert(db, { to })
})
