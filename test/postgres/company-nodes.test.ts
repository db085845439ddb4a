// Reads about one company, at the node of Citus that holds it.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test, type TestContext } from 'node:test'
import type { Pool } from 'pg'
import { resources } from '../../src/resources/index.ts'
import { openStoreReader } from '../../src/store/open-store.ts'
import { createCompanyNodes } from '../../src/store/postgres/citus/company-nodes.ts'
import { hashOfId } from '../../src/store/postgres/citus/hash-id.ts'
import { openPool, withSession } from '../../src/store/postgres/connect.ts'
import { checkSchema } from '../../src/store/postgres/migrate.ts'
import { createReader } from '../../src/store/postgres/read.ts'
import { urlAt } from '../../src/store/postgres/url.ts'
import type { StoreReader } from '../../src/store/serving/store-reader.ts'
import { nodesOf, runOn } from '../support/citus-nodes.ts'
import { freePort } from '../support/free-port.ts'
import { importRows, makeFolder, queryStore } from '../support/import-rows.ts'
import { openReader } from '../support/open-reader.ts'
import { useOwnDatabase } from '../support/own-database.ts'
import { readListing } from '../support/read-listing.ts'
import { onCitus, patientBounds, storeAt, testServerUrl } from '../support/store-at.ts'
import { until } from '../support/until.ts'

if (onCitus !== false) useOwnDatabase('company_nodes')

const skip = onCitus === false ? 'DOSSIER_TEST_CITUS names no coordinator of Citus' : false
const rights = resources.find(({ name }) => name === 'rights') ?? assert.fail()

test('companies have the hash by which Citus distributes them', async () => {
  // Numbers of each length.
  const spread = Array.from({ length: 530 }, (_, n) => Math.floor(1.0717 ** n))
  const ids = [0, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1, ...spread]
  const sql =
    'select hashint8(id) as hash from unnest($1::bigint[]) with ordinality u (id, n) order by n'
  const { rows } = await withSession(testServerUrl(), (client) =>
    client.query<{ hash: number }>(sql, [`{${ids.join()}}`]),
  )
  const found = new Map(rows.map(({ hash }, n) => [ids[n], hash]))
  for (const id of ids) assert.equal(hashOfId(id), found.get(id), `of ${id}`)
})

test('a page is read from the shard of its company, at its node', { skip }, async (t) => {
  const { db, ids } = await makeStore(t)
  await readFromShards(await openReader(t, db), ids)
})

test('a shard that has moved is not read where it was', { skip }, async (t) => {
  const { db, ids } = await makeStore(t)
  const store = await openReader(t, db)
  await readFromShards(store, ids)
  const run = (sql: string) => withSession(storeAt(db), (client) => client.query(sql))
  for (const [n, id] of ids.slice(0, 2).entries()) {
    await run(`
      select citus_move_shard_placement(
        s.shardid, s.nodename, s.nodeport, n.nodename, n.nodeport, 'block_writes'
      )
      from citus_shards s
      join pg_dist_node n on n.shouldhaveshards and n.noderole = 'primary'
        and (n.nodename, n.nodeport) <> (s.nodename, s.nodeport)
      where s.shardid = get_shard_id_for_distribution_column('company_states', ${id})`)
    const company = { company_jurisdiction: 'GB', company_identifier: String(n) }
    await importRows(db, 'rights', [{ ...company, key: 'a', name: 'Moved' }])
    assert.equal(await nameOfRight(store, id), 'Moved')
    await run('call citus_cleanup_orphaned_resources()')
    assert.equal(await nameOfRight(store, id), 'Moved', 'after the old copy was dropped')
  }
})

/** Reads pages of companies until each worker has read one from a shard. */
async function readFromShards(store: StoreReader, ids: readonly number[]): Promise<void> {
  const [, ...workers] = await nodesOf(testServerUrl())
  const sql = `${servingSessions} and query ~ 'from \\S*heads_\\d'`
  const readsAt = (worker: string) => runOn({ url: worker }, sql)
  await until(async () => {
    for (const id of ids) assert.equal((await readListing(store, rights, id))?.records.length, 1)
    return (await Promise.all(workers.map(readsAt))).every((reads) => reads.length > 0)
  }, 'each worker has read a shard')
}

test('a node that cannot be reached is read by way of another', { skip }, async (t) => {
  const { db, ids } = await makeStore(t)
  const nowhere = await freePort()
  const { store, tried } = await openAt(t, db, (host) => urlAt(storeAt(db), host, nowhere))
  await until(() => tried.length > 1, 'the nodes are known')
  for (const id of ids) assert.equal(await nameOfRight(store, id), 'Right')
})

test('a node that has another store, or none, is read by way of another', { skip }, async (t) => {
  const { db, ids } = await makeStore(t)
  const { db: other } = await makeStore(t, 'Other')
  for (const there of [other, `${makeFolder(t)}/none.db`]) {
    const urlOf = (host: string, port: number) => urlAt(storeAt(there), host, port)
    const { store, tried } = await openAt(t, db, urlOf)
    await until(() => tried.length > 1, 'the nodes are known')
    for (const id of [...ids, ...ids]) assert.equal(await nameOfRight(store, id), 'Right')
  }
})

test('a node whose connections are all busy is asked again', { skip }, async (t) => {
  const { db, ids } = await makeStore(t)
  const bounds = { ...patientBounds, pool: 1, waitMs: 500 }
  const pool = openPool(storeAt(db), patientBounds)
  const pools: Pool[] = []
  const checked: unknown[] = []
  const nodes = createCompanyNodes(
    pool,
    (host, port) => {
      const opened = openPool(urlAt(storeAt(db), host, port), bounds)
      pools.push(opened)
      return opened
    },
    async (client) => void checked.push(await client.query('select 1')),
  )
  t.after(() => Promise.all([nodes.close(), pool.end()]))
  await until(() => checked.length > 1, 'the nodes are checked')
  const busy = await Promise.all(pools.map((one) => one.connect()))
  const ask = (id: number) =>
    nodes.rowsOfCompany('select total from heads where company_id = $1', id)
  for (const asked of await Promise.allSettled(ids.map(ask))) assert.equal(asked.status, 'rejected')
  for (const client of busy) client.release()
  let acquired = 0
  for (const one of pools) one.on('acquire', () => (acquired += 1))
  for (const id of ids) assert.deepEqual(await ask(id), [[1]])
  assert.equal(acquired, ids.length)
})

// At its end it would wait for one that does not answer, for 30 s.
test('a command has no session at other nodes', { skip }, async (t) => {
  const { db, ids } = await makeStore(t)
  const [, ...workers] = await nodesOf(testServerUrl())
  const served = async () => {
    const sessions = workers.map((url) => runOn({ url }, servingSessions))
    return (await Promise.all(sessions)).flat().length
  }
  await until(async () => (await served()) === 0, 'the sessions of other tests have ended')
  const store = await openStoreReader(storeAt(db))
  t.after(async () => store.close())
  for (const id of ids) assert.equal(await nameOfRight(store, id), 'Right')
  assert.equal(await served(), 0)
})

/** Opens a reader that looks for other nodes at URLs of the test; also returns those. */
async function openAt(t: TestContext, db: string, urlOf: (host: string, port: number) => string) {
  const url = storeAt(db)
  const { storeId } = await openReader(t, db)
  const tried: string[] = []
  const open = (at: string) => openPool(at, patientBounds, 'auto')
  const store = createReader(open(url), {
    storeId,
    role: 'coordinator',
    openNode(host, port) {
      tried.push(urlOf(host, port))
      return open(urlOf(host, port))
    },
    check: (client) => checkSchema(client, url),
  })
  t.after(async () => store.close())
  return { store, tried }
}

async function nameOfRight(store: StoreReader, id: number): Promise<unknown> {
  const { text = '{}' } = (await readListing(store, rights, id)) ?? {}
  return (JSON.parse(text) as { readonly name?: unknown }).name
}

for (const [n, place] of ['the coordinator', 'a worker'].entries()) {
  // Since 13.2.1, a session would keep 50 kB of each page that it reads.
  test(`sessions stay small, however much they read for ${place}`, { skip }, async (t) => {
    const { db, ids } = await makeStore(t)
    const store = await openReader(t, (await nodesOf(storeAt(db)))[n] ?? assert.fail())
    const [, ...workers] = await nodesOf(testServerUrl())
    const read = async (times: number) => {
      for (let round = 0; round < times; round++) {
        for (const id of ids) await readListing(store, rights, id)
      }
    }
    await read(10)
    const before = await largestSession(workers)
    await read(40)
    const grown = (await largestSession(workers)) - before
    assert.ok(grown < 8_192, `a session has grown by ${grown} kB`)
  })
}

const servingSessions = `
  select pid from pg_stat_activity
  where datname = current_database() and application_name = 'dossier serve'`

/** The memory of the largest session of a server, in kB. */
async function largestSession(nodes: readonly string[]): Promise<number> {
  const found = await Promise.all(
    nodes.map((url) => runOn<{ pid: number }>({ url }, servingSessions)),
  )
  return Math.max(...found.flat().map(({ pid }) => memoryOf(pid)))
}

/** The memory of a process that it shares with no other, in kB. */
function memoryOf(pid: number): number {
  const [, kilobytes] =
    /RssAnon:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes)
}

/** A store of companies with one right each. */
async function makeStore(t: TestContext, name = 'Right') {
  const db = `${makeFolder(t)}/registry.db`
  const rows = Array.from({ length: 40 }, (_, n) => ({
    company_jurisdiction: 'GB',
    company_identifier: String(n),
    key: 'a',
    name,
  }))
  await importRows(db, 'rights', rows)
  const ids = await queryStore(db, 'select id from companies order by identifier::integer')
  return { db, ids: ids.map(({ id }) => Number(id)) }
}
