// A store of an earlier format: the first command that writes upgrades it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '../../src/resources/index.ts'
import { openStoreReader, openStoreWriter } from '../../src/store/open-store.ts'
import { importRows, makeFolder, query, queryStore } from '../support/import-rows.ts'
import { makeChangedRegistry } from '../support/changed-registry.ts'
import {
  makeOfRows,
  makeWithoutLineage,
  makeWithoutNames,
  makeWithoutPastHeads,
  upgradeHalfway,
} from '../support/former-format.ts'
import { onCitus } from '../support/store-at.ts'
import { changeStore } from '../support/store-state.ts'
import { verifyStore } from '../support/verify-store.ts'

const lineagesOf = (db: string) =>
  query(db, 'select lineage from imports order by version').map(({ lineage }) => String(lineage))

// No store of an earlier format could be imported into on Citus.
const skip = onCitus

async function upgrade(db: string): Promise<void> {
  await (await openStoreWriter(db, resources)).close()
}

test('upgrading from before lineages draws them and finds large records', { skip }, async (t) => {
  const folder = makeFolder(t)
  const db = await makeChangedRegistry(folder)
  const large = { company_id: 7, name: 'x'.repeat(20_000) }
  await importRows(`${folder}/rows`, 'rights', [{ id: 2, ...large }], { at: db })
  const said = /older Dossier \((format 2, this one reads 7|step 1 of 6)\)/
  const seen: string[][] = []
  for (let time = 0; time < 2; time += 1) {
    makeWithoutLineage(db, resources)
    await assert.rejects(openStoreReader(db, resources), said)
    await upgrade(db)
    const lineages = lineagesOf(db)
    for (const lineage of lineages) assert.match(lineage, /^[0-9a-f]{12}$/)
    seen.push(lineages)
    assert.deepEqual((await verifyStore(db)).faults, [])
    const heads = await queryStore(db, 'select largest from heads where largest is not null')
    const [{ bytes } = {}] = await queryStore(
      db,
      'select octet_length(record) as bytes from rights_records where id = 2',
    )
    assert.deepEqual(
      heads.map(({ largest }) => largest),
      [bytes],
    )
  }
  const all = seen.flat()
  assert.equal(new Set(all).size, all.length, 'upgraded twice, lineages have nothing in common')
})

test('upgrading an earlier format adds the table of a missing resource', { skip }, async (t) => {
  const db = await makeChangedRegistry(makeFolder(t))
  makeOfRows(db, resources)
  changeStore(db, 'drop view rights_view')
  for (const table of ['rights', 'rights_ids', 'rights_past'])
    changeStore(db, `drop table ${table}`)
  changeStore(db, "delete from heads where resource = 'rights'")
  await upgrade(db)
  assert.deepEqual((await verifyStore(db)).faults, [])
})

test(
  'upgrading moves texts into pieces, and leaves every record as it was',
  { skip },
  async (t) => {
    const folder = makeFolder(t)
    const db = await makeChangedRegistry(folder)
    const rows = Array.from({ length: 500 }, (_, n) => ({
      company_id: 1 + (n % 3),
      id: 1_000 + n,
      name: `Имя, {"id": ${n}`.repeat(1 + (n % 40)),
      salary_from: n % 5 === 0 ? null : n,
      registration_date: n % 6 === 0 ? null : `${1_000 + n}-12-3${n % 2}`,
      updated_at: n % 7 === 0 ? null : `0${100 + n}-02-0${1 + (n % 9)}T01:02:03.${100 + n}Z`,
    }))
    const rights = rows.map((row) => ({ ...row, salary_from: undefined }))
    const jobs = rows.map(({ name, ...row }) => ({
      ...row,
      title: name,
      registration_date: undefined,
    }))
    await importRows(`${folder}/rights`, 'rights', rights, { at: db })
    await importRows(`${folder}/jobs`, 'jobs', jobs, { at: db })
    const recordsOf = async () => {
      const all = resources.map(({ name }) =>
        queryStore(db, `select * from ${name}_view order by company_id, id`),
      )
      return Promise.all(all)
    }
    const before = await recordsOf()
    makeOfRows(db, resources)
    await upgrade(db)
    assert.deepEqual(await recordsOf(), before)
    assert.deepEqual((await verifyStore(db)).faults, [])
  },
)

test(
  'an upgrade that was killed between two resources goes on where it was',
  { skip },
  async (t) => {
    const db = await makeChangedRegistry(makeFolder(t))
    const [, second] = resources
    assert.equal(second?.name, 'employees')
    makeOfRows(db, [second])
    upgradeHalfway(db)
    await assert.rejects(openStoreReader(db, resources), /no table for employees; /)
    await upgrade(db)
    await (await openStoreReader(db, resources)).close()
    assert.deepEqual((await verifyStore(db)).faults, [])
  },
)

test('upgrading finds the former heads of listings', { skip }, async (t) => {
  const folder = makeFolder(t)
  const db = await makeChangedRegistry(folder)
  for (const [n, attrs] of [['name', 'name', 'town'], ['town', 'seat'], ['seat']].entries()) {
    const event = { company_id: 7, date: '2025-01-01T00:00:00Z', before: `${n}` }
    const rows = attrs.map((attr, id) => ({ ...event, id: id + 1, attr }))
    await importRows(`${folder}/${n}`, 'events', rows, { at: db, isSnapshot: true })
  }
  const formerHeads = async () => {
    const all = resources.map(({ name }) =>
      queryStore(db, `select * from ${name}_heads_past order by company_id, until`),
    )
    return Promise.all(all)
  }
  const before = await formerHeads()
  assert.deepEqual(
    before.map((heads) => heads.map(({ version, until, total }) => [version, until, total])),
    [
      [[3, 4, 1]],
      [],
      [],
      [],
      [
        [5, 6, 3],
        [6, 7, 2],
      ],
    ],
  )
  assert.match(String(before.at(-1)?.[0]?.['meta']), /^\[{"type":"name","count":2}/)
  makeWithoutPastHeads(db, resources)
  await upgrade(db)
  assert.deepEqual(await formerHeads(), before)
  assert.deepEqual((await verifyStore(db)).faults, [])
})

test('upgrading indexes the names of companies, and goes on after a kill', { skip }, async (t) => {
  const folder = makeFolder(t)
  const db = await makeChangedRegistry(folder)
  const rows = ['Łódź Spółka', '삼성전자', 'Northwind & Sons', null].map((name, n) => ({
    jurisdiction: 'PL',
    identifier: `${n}`,
    name,
  }))
  await importRows(`${folder}/names`, 'companies', rows, { at: db, source: 'names' })
  const index = async () => [
    await queryStore(db, 'select company_id, name from names order by company_id'),
    await queryStore(db, 'select word, first from words order by word, first'),
  ]
  const before = await index()
  assert.ok(before.every((part) => part.length >= 3))
  makeWithoutNames(db)
  await upgrade(db)
  assert.deepEqual(await index(), before)
  // As a kill during the fill leaves it: the tables are there, and the rules are not noted.
  changeStore(db, 'delete from words')
  changeStore(db, 'update store set words = null')
  await assert.rejects(openStoreReader(db, resources), /no index of names yet; .*dossier migrate/)
  await upgrade(db)
  assert.deepEqual(await index(), before)
  // Words that were made by other rules are made anew; until then they serve.
  changeStore(db, 'delete from words')
  changeStore(db, "update store set words = '0'")
  await (await openStoreReader(db, resources)).close()
  await upgrade(db)
  assert.deepEqual(await index(), before)
  assert.deepEqual((await verifyStore(db)).faults, [])
})
