// A store of the previous format: the first command that writes upgrades it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '../../src/resources/index.ts'
import { openStoreReader, openStoreWriter } from '../../src/store/open-store.ts'
import { importRows, makeFolder, query, queryStore } from '../support/import-rows.ts'
import { makeChangedRegistry } from '../support/changed-registry.ts'
import { storeKind } from '../support/store-at.ts'
import { changeStore } from '../support/store-state.ts'
import { verifyStore } from '../support/verify-store.ts'

const isFile = storeKind === 'sqlite'

/** Converts a store to the previous format. */
function makeFormer(db: string): void {
  changeStore(db, 'alter table imports drop column lineage')
  changeStore(db, 'alter table heads drop column largest')
  changeStore(db, isFile ? 'pragma user_version = 2' : 'delete from migrations where step = 2')
}

const lineagesOf = (db: string) =>
  query(db, 'select lineage from imports order by version').map(({ lineage }) => String(lineage))

async function upgrade(db: string): Promise<void> {
  await (await openStoreWriter(db, resources)).close()
}

test('upgrading the previous format draws lineages and finds large records', async (t) => {
  const folder = makeFolder(t)
  const db = await makeChangedRegistry(folder)
  const large = { company_id: 7, name: 'x'.repeat(20_000) }
  await importRows(`${folder}/rows`, 'rights', [{ id: 2, ...large }], { at: db })
  const said = /older Dossier \((format 2, this one reads 3|step 1 of 2)\)/
  const seen: string[][] = []
  for (let time = 0; time < 2; time += 1) {
    makeFormer(db)
    await assert.rejects(openStoreReader(db, resources), said)
    await upgrade(db)
    const lineages = lineagesOf(db)
    for (const lineage of lineages) assert.match(lineage, /^[0-9a-f]{12}$/)
    seen.push(lineages)
    assert.deepEqual((await verifyStore(db)).faults, [])
    const heads = await queryStore(db, 'select largest from heads where largest is not null')
    const [{ bytes } = {}] = await queryStore(
      db,
      'select octet_length(record) as bytes from rights where id = 2',
    )
    assert.deepEqual(
      heads.map(({ largest }) => largest),
      [bytes],
    )
  }
  const all = seen.flat()
  assert.equal(new Set(all).size, all.length, 'upgraded twice, lineages have nothing in common')
})

test('upgrading the previous format adds the table of a missing resource', async (t) => {
  const db = await makeChangedRegistry(makeFolder(t))
  makeFormer(db)
  changeStore(db, 'drop view rights_view')
  for (const table of ['rights', 'rights_ids', 'rights_past'])
    changeStore(db, `drop table ${table}`)
  changeStore(db, "delete from heads where resource = 'rights'")
  await upgrade(db)
  assert.deepEqual((await verifyStore(db)).faults, [])
})
