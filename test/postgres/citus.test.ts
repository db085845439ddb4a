// A store that Citus has spread over several nodes: what travels between them, and what does not.
//
// Runs where DOSSIER_TEST_CITUS names a coordinator (CONTRIBUTING.md). There, the rest of the suite
// for PostgreSQL shows that a spread store does what others do.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { resources } from '../../src/resources/index.ts'
import { migrateStore, openStoreReader } from '../../src/store/open-store.ts'
import { withSession } from '../../src/store/postgres/connect.ts'
import { segmentsSql } from '../../src/store/postgres/tables.ts'
import { headSql, heldByHead } from '../../src/store/sql/head-tables.ts'
import { wholeListing } from '../../src/store/selection.ts'
import { nodesOf } from '../support/citus-nodes.ts'
import { countStatements } from '../support/count-statements.ts'
import { openReader } from '../support/open-reader.ts'
import { readListing } from '../support/read-listing.ts'
import { importRows, makeFolder, queryStore } from '../support/import-rows.ts'
import { mustRun, runCommand } from '../support/run-command.ts'
import { onCitus, patientBounds, storeAt } from '../support/store-at.ts'
import { keepStore } from '../support/store-state.ts'
import { useOwnDatabase } from '../support/own-database.ts'
import { checkSound } from '../support/verify-store.ts'
import { lift, withhold } from '../support/write-store.ts'
import { checkExit } from '../support/run-dossier.ts'

// A test changes what its nodes are for.
if (onCitus !== false) useOwnDatabase('citus')

const skip = onCitus === false ? 'DOSSIER_TEST_CITUS names no coordinator of Citus' : false

const planOf = ({ rows }: { rows: { 'QUERY PLAN': string }[] }) =>
  rows.map((row) => row['QUERY PLAN']).join('\n')

const companies = Array.from({ length: 20 }, (_, n) => ({
  jurisdiction: 'GB',
  identifier: String(n),
  name: `Company ${n}`,
}))
const rights = companies.flatMap(({ jurisdiction, identifier }, n) =>
  ['a', 'b', 'c'].map((letter) => ({
    company_jurisdiction: jurisdiction,
    company_identifier: identifier,
    key: `${letter}${n}`,
    name: `Right ${letter}`,
  })),
)

for (const place of ['the coordinator', 'a worker']) {
  test(`each statement of a page is of one node, asked of ${place}`, { skip }, async (t) => {
    const db = `${makeFolder(t)}/registry.db`
    await importRows(db, 'rights', rights)
    const ids = await queryStore(db, 'select id from companies order by id')
    const at = place === 'a worker' ? await workerOf(storeAt(db)) : storeAt(db)
    await withSession(at, async (client) => {
      for (const { id } of ids) {
        for (const { name } of resources) {
          const statements = [
            ...[undefined, heldByHead].map((held) =>
              headSql(held).replace('$2', `'${name}'`).replace('$3', '9'),
            ),
            segmentsSql('entries').replace('$2', `'{1,2}'`),
            segmentsSql('texts').replace('$2', `'{1,2}'`),
          ]
          for (const sql of statements) {
            const ofCompany = sql.replaceAll('$1', String(id))
            const plan = planOf(await client.query(`explain (costs off) ${ofCompany}`))
            assert.match(plan, /^Custom Scan \(Citus Adaptive\)\n +Task Count: 1\n/)
          }
        }
      }
    })
  })
}

for (const place of ['the coordinator', 'a worker']) {
  test(`a page shows what was committed before it was asked of ${place}`, { skip }, async (t) => {
    const db = `${makeFolder(t)}/registry.db`
    await importRows(db, 'rights', rights)
    const [{ id } = {}] = await queryStore(db, "select id from companies where identifier = '3'")
    const at = place === 'a worker' ? await workerOf(storeAt(db)) : storeAt(db)
    const store = await openReader(t, at)
    const right = resources.find(({ name }) => name === 'rights') ?? assert.fail()
    const shown = async () => (await readListing(store, right, Number(id)))?.dataVersion
    for (let version = 2; version < 5; version++) {
      // By then, all nodes are known to show the version before.
      for (let n = 0; n < 5; n++) {
        assert.equal(await shown(), version - 1)
        await sleep(50)
      }
      const changed = rights.slice(9, 10).map((one) => ({ ...one, name: `Right ${version}` }))
      await importRows(db, 'rights', changed)
    }
    assert.equal(await shown(), 4)
  })
}

/** The URL of a store on another node than the coordinator. */
const workerOf = async (db: string) => (await nodesOf(db))[1] ?? assert.fail('there is a worker')

test('a worker can be read, and is refused by commands that write', { skip }, async (t) => {
  const db = `${makeFolder(t)}/registry.db`
  await importRows(db, 'rights', rights)
  const at = await workerOf(storeAt(db))
  const [reader, ofWorker] = await Promise.all(
    [storeAt(db), at].map((url) => openStoreReader(url, patientBounds)),
  )
  for (const { id } of await queryStore(db, 'select id from companies')) {
    for (const resource of resources) {
      const page = await ofWorker?.readPage(wholeListing(resource, Number(id)), 0, 10)
      const expected = await reader?.readPage(wholeListing(resource, Number(id)), 0, 10)
      assert.deepEqual({ ...page, free: undefined }, { ...expected, free: undefined })
    }
  }
  await Promise.all([reader?.close(), ofWorker?.close()])
  const told = { message: / is a worker of Citus, .*; give the URL of the coordinator$/ }
  await assert.rejects(importRows(db, 'rights', rights, { at }), told)
  await assert.rejects(
    migrateStore(at, resources, { isDistributed: false, onWait: () => undefined }),
    told,
  )
})

test('a worker serves nothing withheld, and no store that is behind', { skip }, async (t) => {
  const db = `${makeFolder(t)}/registry.db`
  const given = rights.map((right, n) => ({ ...right, key: undefined, id: n + 1 }))
  await importRows(db, 'rights', given)
  const [at, ofWorker] = [storeAt(db), await workerOf(storeAt(db))]
  const [first] = await queryStore(db, `select id from companies where identifier = '0'`)
  const listing = wholeListing(resources[0] ?? assert.fail(), Number(first?.['id']))
  const served = async (url: string, version?: number) => {
    const reader = await openStoreReader(url, patientBounds)
    try {
      const page = await reader.readPage({ ...listing, version }, 0, 10)
      return page !== undefined && 'total' in page ? page.total : page
    } finally {
      await reader.close()
    }
  }
  await served(ofWorker)
  const restore = await keepStore(db)
  await withhold(db, 'erase', { resource: 'rights', id: 1 })
  for (const url of [at, ofWorker]) {
    assert.deepEqual([await served(url), await served(url, 1)], [2, 2], url)
  }
  for (const url of [at, ofWorker]) {
    const list = await runCommand('.', `withhold list --db ${url}`)
    assert.match(list.out, /erase/, url)
  }
  const { counts } = await importRows(db, 'rights', given)
  assert.equal(counts.inserted, 0, 'it stays withheld')
  assert.equal(await served(ofWorker), 2)

  await restore()
  const behind = /is behind .*, the list of what is withheld, by an entry.*dossier migrate --db/
  for (const url of [at, ofWorker]) await assert.rejects(openStoreReader(url), behind)
  await mustRun('.', `migrate --db ${at}`)
  for (const url of [at, ofWorker]) assert.equal(await served(url), 2)

  // A list that was restored is an ordinary table of the coordinator.
  await withSession(at, async (client) => {
    const { rows } = await client.query<{ list: string }>(
      `select quote_ident(current_schema() || '_withheld') || '.entries' as list`,
    )
    const [{ list } = assert.fail()] = rows
    await client.query(`create temp table kept as select * from ${list}`)
    await client.query(`drop table ${list}`)
    await client.query(`create table ${list} (number integer primary key, line text not null)`)
    await client.query(`insert into ${list} select * from kept`)
  })
  await assert.rejects(openStoreReader(ofWorker), /_withheld, the list [^;]* is missing/)
  await lift(db, 1)
  assert.equal(await served(ofWorker), 2)
  await importRows(db, 'rights', given)
  for (const url of [at, ofWorker]) assert.equal(await served(url), 3, 'it was lifted')
  await checkSound(at)
})

test('an import sends two dozen statements more for each 1,000 records', { skip }, async (t) => {
  const db = `${makeFolder(t)}/registry.db`
  await importRows(db, 'companies', companies)
  const rowsOf = (count: number, name: string) =>
    Array.from({ length: count }, (_, n) => ({
      company_jurisdiction: 'GB',
      company_identifier: String(n % 40),
      key: `${count} ${n}`,
      name,
    }))
  // New companies and records; changes; what a snapshot lacks, and what it brings.
  const steps = [
    (count: number) => rowsOf(count, 'one'),
    (count: number) => rowsOf(count, 'other'),
    (count: number) => rowsOf(count, 'another').slice(count / 2),
  ]
  const sent: number[][] = []
  for (const count of [100, 10_000]) {
    const own: number[] = []
    for (const [n, rows] of steps.entries()) {
      const sentNow = countStatements(t)
      const source = `of ${count}`
      await importRows(db, 'rights', rows(count), { source, isSnapshot: n === 2 })
      own.push(sentNow())
    }
    sent.push(own)
  }
  const [few = [], many = []] = sent
  for (const [n, count] of many.entries()) {
    assert.ok(count - (few[n] ?? 0) <= 24 * 10, String(sent))
  }
})

test('a store with records can be distributed, and works as others do', { skip }, async (t) => {
  const path = `${makeFolder(t)}/registry.db`
  const url = new URL(storeAt(path))
  url.searchParams.delete('options')
  const at = url.href
  await importRows(path, 'companies', companies, { at })
  await importRows(path, 'rights', rights, { at })
  await migrateStore(at, resources, { isDistributed: true, onWait: () => undefined })
  const [first] = rights
  const changed = [{ ...first, name: 'Another' }]
  const { counts } = await importRows(path, 'rights', changed, { at, isSnapshot: true })
  assert.deepEqual([counts.updated, counts.removed], [1, rights.length - 1])
  await checkSound(at)
  const spread = await queryStore(at, 'select from citus_shards where shard_size > 8192')
  assert.ok(spread.length > 8, 'many shards have rows')
})

const holdsCompanies = (does: boolean) => `
  select citus_set_node_property(nodename, nodeport, 'shouldhaveshards', ${does})
  from pg_dist_node where groupid = 0`

test('a coordinator that would hold companies itself is refused', { skip }, async (t) => {
  const at = storeAt(`${makeFolder(t)}/registry.db`)
  const url = new URL(at)
  url.searchParams.delete('schema')
  const onCoordinator = (sql: string) => withSession(url.href, (client) => client.query(sql))
  await onCoordinator(holdsCompanies(true))
  t.after(() => onCoordinator(holdsCompanies(false)))
  const migrated = migrateStore(at, resources, { isDistributed: true, onWait: () => undefined })
  const told = /besides its coordinator.*; select citus_set_node_property\([^;]*, false\) of the/
  await assert.rejects(migrated, told)
})

/** Where a company's rows are. */
const nodeOf = `
  select s.nodename, s.nodeport, i.shardid as imports from citus_shards s, pg_dist_shard i
  where s.shardid = get_shard_id_for_distribution_column('company_states', $1::bigint)
    and i.logicalrelid = 'imports'::regclass`

/** Takes the last version from the node of a company, as if its commit had not reached it yet. */
async function holdBack(db: string, company: number): Promise<() => Promise<void>> {
  const { rows } = await withSession(storeAt(db), (client) =>
    client.query<{ nodename: string; nodeport: number; imports: string }>(nodeOf, [company]),
  )
  const [place = assert.fail('every company has a node')] = rows
  const url = new URL(storeAt(db))
  ;[url.hostname, url.port] = [place.nodename, String(place.nodeport)]
  const imports = `imports_${place.imports}`
  const onNode = (sql: string) =>
    withSession(url.href, (client) => client.query(sql), {
      'citus.enable_manual_changes_to_shards': 'on',
    })
  const kept = `${imports}_kept`
  const last = `version = (select max(version) from ${imports})`
  await onNode(`create table ${kept} as select * from ${imports} where ${last}`)
  await onNode(`delete from ${imports} where ${last}`)
  return async () => {
    await onNode(`insert into ${imports} select * from ${kept}`)
    await onNode(`drop table ${kept}`)
  }
}

test('a search is of one version, and waits until all nodes have it', { skip }, async (t) => {
  const db = `${makeFolder(t)}/registry.db`
  await importRows(db, 'companies', companies)
  await importRows(db, 'rights', rights)
  const ids = (await queryStore(db, 'select id from companies')).map(({ id }) => Number(id))
  const [behind = 0] = ids
  const searches = [
    { words: ['company'] },
    { identifiers: companies.map(({ identifier }) => identifier), jurisdiction: 'GB' },
  ]
  for (const query of searches) {
    const store = await openReader(t, db)
    const catchUp = await holdBack(db, behind)
    await assert.rejects(async () => store.findCompanies(query), /different versions/)
    const run = await runCommand('.', ['find', 'company', '--db', storeAt(db)])
    checkExit(run, 1, /^dossier: .* different versions .* try again\n$/)
    const found = Promise.resolve(store.findCompanies(query))
    assert.equal(await Promise.race([found, sleep(100)]), undefined, 'it waits')
    await catchUp()
    const { registry, companies: named } = await found
    assert.deepEqual([registry.version, named?.length], [2, companies.length])
  }
})

test('a search on a worker checks the other nodes afterwards', { skip }, async (t) => {
  const db = `${makeFolder(t)}/registry.db`
  await importRows(db, 'companies', companies)
  await importRows(db, 'rights', rights)
  const at = await workerOf(storeAt(db))
  const store = await openReader(t, at)
  const search = async () => (await store.findCompanies({ words: ['company'] })).companies?.length
  assert.equal(await search(), companies.length)
  const [elsewhere] = await queryStore(
    db,
    `select c.id from companies c join citus_shards s
       on s.shardid = get_shard_id_for_distribution_column('company_states', c.id)
     where s.nodeport <> ${new URL(at).port}`,
  )
  const catchUp = await holdBack(db, Number(elsewhere?.['id']))
  await assert.rejects(search, /different versions/)
  await catchUp()
  assert.equal(await search(), companies.length)
})

test('the answer about a company has the version of its node', { skip }, async (t) => {
  const db = `${makeFolder(t)}/registry.db`
  await importRows(db, 'companies', companies)
  await importRows(db, 'rights', rights.slice(0, 3))
  const sql = 'select id from companies where identifier <> $1'
  const { rows } = await withSession(storeAt(db), (client) =>
    client.query<{ id: number }>(sql, [companies[0]?.identifier]),
  )
  const store = await openReader(t, db)
  const catchUp = await holdBack(db, rows[0]?.id ?? 0)
  const versions = new Set<unknown>()
  for (const { id: companyId } of rows) {
    const told = await store.readCompany({ companyId, version: undefined, resources })
    assert.ok(typeof told === 'object' && 'registry' in told)
    const page = await readListing(store, resources[0] ?? assert.fail(), companyId)
    assert.equal(told.registry.version, page?.dataVersion)
    versions.add(told.registry.version)
  }
  await catchUp()
  const found = [...versions].map(Number).toSorted((a, b) => a - b)
  assert.deepEqual(found, [1, 2])
})

const otherNode = `
  select s.shardid, s.nodename as from_name, s.nodeport as from_port, n.nodename, n.nodeport
  from citus_shards s
  join pg_dist_node n on n.shouldhaveshards and n.noderole = 'primary'
    and (n.nodename, n.nodeport) <> (s.nodename, s.nodeport)
  where s.table_name = 'company_states'::regclass limit 1`

test('an import waits for a move of shards', { skip }, async (t) => {
  const db = `${makeFolder(t)}/registry.db`
  await importRows(db, 'companies', companies)
  await withSession(storeAt(db), async (client) => {
    const { rows } = await client.query<Record<string, string | number>>(otherNode)
    const [shard = assert.fail('there are two nodes')] = rows
    await client.query('begin')
    await client.query(`select citus_move_shard_placement($1, $2, $3, $4, $5, 'block_writes')`, [
      ...[shard['shardid'], shard['from_name'], shard['from_port']],
      ...[shard['nodename'], shard['nodeport']],
    ])
    const isWaiting = Promise.withResolvers<undefined>()
    const imported = importRows(db, 'rights', rights, {
      onWait: () => isWaiting.resolve(undefined),
    })
    await Promise.race([isWaiting.promise, imported])
    const before = await client.query('select from imports')
    assert.equal(before.rowCount, 1)
    await client.query('commit')
    assert.equal((await imported).counts.inserted, rights.length)
  })
  const [counted] = await queryStore(db, 'select count(*) as n from rights_records')
  assert.equal(Number(counted?.['n']), rights.length)
})
