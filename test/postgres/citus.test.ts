// A store that Citus has spread over several nodes: what travels between them, and what does not.
//
// Runs where DOSSIER_TEST_CITUS names a coordinator (CONTRIBUTING.md). There, the rest of the suite
// for PostgreSQL shows that a spread store does what others do.

import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { resources } from '../../src/resources/index.ts'
import { migrateStore, openStoreReader } from '../../src/store/open-store.ts'
import { withSession } from '../../src/store/postgres/connect.ts'
import { pageSql } from '../../src/store/postgres/read.ts'
import { withWriteLock } from '../../src/store/postgres/transaction.ts'
import { headSql } from '../../src/store/sql/listing.ts'
import { importRows, makeFolder, queryStore } from '../support/import-rows.ts'
import { onCitus, patientBounds, storeAt } from '../support/store-at.ts'
import { useOwnDatabase } from '../support/own-database.ts'
import { verifyStore } from '../support/verify-store.ts'

// A test changes what its nodes are for.
if (onCitus !== false) useOwnDatabase('citus')

const skip = onCitus === false ? 'DOSSIER_TEST_CITUS names no coordinator of Citus' : false

interface Explained {
  readonly sql: string
  readonly plan: string
}

type Query = (this: Client, ...words: unknown[]) => unknown

/** The lines of a plan. */
const planOf = ({ rows }: { rows: { 'QUERY PLAN': string }[] }) =>
  rows.map((row) => row['QUERY PLAN']).join('\n')

/** Explains each statement that changes rows before it is run. */
function explainChanges(t: TestContext): Explained[] {
  const explained: Explained[] = []
  const query = Reflect.get(Client.prototype, 'query') as Query
  async function explainAndRun(client: Client, sql: string, values: unknown): Promise<unknown> {
    const found = await query.call(client, `explain (costs off) ${sql}`, values)
    explained.push({ sql, plan: planOf(found as Parameters<typeof planOf>[0]) })
    return query.call(client, sql, values)
  }
  t.mock.method(Client.prototype, 'query', function (this: Client, ...words: unknown[]) {
    const [sql] = words
    return typeof sql === 'string' && /^\s*(insert|update|delete)/.test(sql)
      ? explainAndRun(this, sql, words[1])
      : query.apply(this, words)
  })
  return explained
}

/** Counts the statements that sessions send. */
function countStatements(
  t: TestContext,
  isCounted: (sql: unknown) => boolean = () => true,
): () => number {
  let sent = 0
  const query = Reflect.get(Client.prototype, 'query') as Query
  const { mock } = t.mock.method(
    Client.prototype,
    'query',
    function (this: Client, ...words: unknown[]) {
      if (isCounted(words[0])) sent += 1
      return query.apply(this, words)
    },
  )
  return () => {
    mock.restore()
    return sent
  }
}

/** The table that a statement changes. */
function targetOf(sql: string): string {
  return /^\s*(?:insert into|update|delete from) (\w+)/.exec(sql)?.[1] ?? assert.fail(sql)
}

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

// What passes through the coordinator: the names and ids of new companies, new keys, the ids of
// changed records, and refused rows and their ids.
const numbered = ['reference', 'new_companies', 'company_names', 'companies', 'companies_past']
const compared = ['rights_ids', 'carried', 'refused', 'removal']

test(
  'texts of records stay on the nodes; the coordinator numbers companies and keys',
  { skip },
  async (t) => {
    const db = `${makeFolder(t)}/registry.db`
    await importRows(db, 'companies', companies.slice(1))
    const explained = explainChanges(t)
    // To be explained, statements on tables that are on every node are sent there.
    const url = new URL(storeAt(db))
    const options = url.searchParams.get('options') ?? ''
    url.searchParams.set('options', `${options} -c citus.enable_local_execution=off`)
    const at = url.href
    await importRows(db, 'companies', companies, { at })
    await importRows(db, 'rights', rights, { at })
    const changed = rights.slice(1).map((right) => ({ ...right, name: 'Another' }))
    await importRows(db, 'rights', changed, { at, isSnapshot: true })
    const pulled = explained.filter(({ plan }) =>
      /pull to coordinator|Distributed Subplan/.test(plan),
    )
    const isOfCopies = (sql: string) => sql.includes('from carried')
    const allowed = [...numbered, ...compared]
    for (const { sql, plan } of pulled) {
      assert.ok(allowed.includes(targetOf(sql)) || isOfCopies(sql), `${sql}\n${plan}`)
    }
    const spread = new Set(explained.map(({ sql }) => targetOf(sql)))
    for (const table of ['stage', 'placed', 'laid', 'rights', 'rights_pieces', 'rights_past']) {
      assert.ok(spread.has(table), table)
    }
  },
)

test('names travel to the index of words once, however many there are', { skip }, async (t) => {
  const db = `${makeFolder(t)}/registry.db`
  const isRead = (sql: unknown) => /\bcompany_id, former, name from\b/.test(String(sql))
  const reads = countStatements(t, isRead)
  const many = Array.from({ length: 4_500 }, (_, n) => ({
    ...{ jurisdiction: 'GB', identifier: String(n), name: `Shared ${n}` },
  }))
  await importRows(db, 'companies', many)
  await importRows(
    db,
    'companies',
    many.map((company) => ({ ...company, name: `Other ${company.identifier}` })),
  )
  assert.equal(reads(), 2, 'one for each import')
})

for (const place of ['the coordinator', 'a worker']) {
  test(`a page is one statement on one node, asked of ${place}`, { skip }, async (t) => {
    const db = `${makeFolder(t)}/registry.db`
    await importRows(db, 'rights', rights)
    const ids = await queryStore(db, 'select id from companies order by id')
    const at = place === 'a worker' ? await workerOf(storeAt(db)) : storeAt(db)
    await withSession(at, async (client) => {
      for (const { id } of ids) {
        for (const resource of resources) {
          const statements = [
            headSql(resource, String(id)),
            pageSql(resource)
              .replaceAll('$1', String(id))
              .replaceAll('$2', '1')
              .replaceAll('$3', '2'),
          ]
          for (const sql of statements) {
            const plan = planOf(await client.query(`explain (costs off) ${sql}`))
            assert.match(plan, /^Custom Scan \(Citus Adaptive\)\n +Task Count: 1\n/)
          }
        }
      }
    })
  })
}

/** The URL of a store on another node than the coordinator. */
async function workerOf(db: string): Promise<string> {
  const url = new URL(db)
  await withSession(db, async (client) => {
    const { rows } = await client.query<{ nodename: string; nodeport: number }>(
      'select nodename, nodeport from pg_dist_node where groupid <> 0 order by nodeid limit 1',
    )
    const [{ nodename, nodeport } = assert.fail('there is a worker')] = rows
    url.host = `${nodename}:${nodeport}`
  })
  return url.href
}

test('a worker is read, and refused by what writes', { skip }, async (t) => {
  const db = `${makeFolder(t)}/registry.db`
  await importRows(db, 'rights', rights)
  const at = await workerOf(storeAt(db))
  const [reader, ofWorker] = await Promise.all(
    [storeAt(db), at].map((url) => openStoreReader(url, resources, patientBounds)),
  )
  for (const { id } of await queryStore(db, 'select id from companies')) {
    for (const resource of resources) {
      const page = await ofWorker?.readPage(resource, Number(id), 0, 10)
      const expected = await reader?.readPage(resource, Number(id), 0, 10)
      assert.deepEqual(page, expected)
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

test('an import sends as many statements for 10,000 records as for 100', { skip }, async (t) => {
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
  // One more after many changes: `analyze`.
  for (const [n, count] of many.entries()) assert.ok(count - (few[n] ?? 0) <= 1, String(sent))
})

test('a store with records is spread, and goes on as one that always was', { skip }, async (t) => {
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
  const { faults } = await verifyStore(at)
  assert.deepEqual(faults, [])
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
  where s.shardid = get_shard_id_for_distribution_column('companies', $1::bigint)
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
  const store = await openStoreReader(storeAt(db), resources, patientBounds)
  t.after(() => store.close())
  const searches = [
    { words: ['company'] },
    { identifiers: companies.map(({ identifier }) => identifier), jurisdiction: 'GB' },
  ]
  for (const query of searches) {
    const catchUp = await holdBack(db, behind)
    await assert.rejects(async () => store.findCompanies(query), /different versions/)
    const found = Promise.resolve(store.findCompanies(query))
    assert.equal(await Promise.race([found, sleep(100)]), undefined, 'it waits')
    await catchUp()
    const { registry, companies: named } = await found
    assert.deepEqual([registry.version, named?.length], [2, companies.length])
  }
})

test('the answer about a company has the version of its node', { skip }, async (t) => {
  const db = `${makeFolder(t)}/registry.db`
  await importRows(db, 'companies', companies)
  await importRows(db, 'rights', rights.slice(0, 3))
  const sql = 'select id from companies where identifier <> $1'
  const { rows } = await withSession(storeAt(db), (client) =>
    client.query<{ id: number }>(sql, [companies[0]?.identifier]),
  )
  const store = await openStoreReader(storeAt(db), resources, patientBounds)
  t.after(() => store.close())
  const catchUp = await holdBack(db, rows[0]?.id ?? 0)
  const versions = new Set<unknown>()
  for (const { id: companyId } of rows) {
    const told = await store.readCompany({ companyId, version: undefined, resources })
    assert.ok(typeof told === 'object' && 'registry' in told)
    const page = await store.readPage(resources[0] ?? assert.fail(), companyId, 0, 1)
    assert.equal(told.registry.version, page?.dataVersion)
    versions.add(told.registry.version)
  }
  await catchUp()
  assert.deepEqual([...versions].toSorted(), [1, 2])
})

const otherNode = `
  select s.shardid, s.nodename as from_name, s.nodeport as from_port, n.nodename, n.nodeport
  from citus_shards s
  join pg_dist_node n on n.shouldhaveshards and n.noderole = 'primary'
    and (n.nodename, n.nodeport) <> (s.nodename, s.nodeport)
  where s.table_name = 'companies'::regclass limit 1`

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

test(
  'an import that has lost rows while shards were moved changes nothing',
  { skip },
  async (t) => {
    const db = `${makeFolder(t)}/registry.db`
    await importRows(db, 'companies', companies)
    await withSession(storeAt(db), async (client) => {
      const isWaiting = Promise.withResolvers<undefined>()
      const onWait = () => isWaiting.resolve(undefined)
      const imported = await withWriteLock(client, storeAt(db), { onWait }, async () => {
        const promise = importRows(db, 'rights', rights, { onWait })
        const told = assert.rejects(
          promise,
          /: 59 of 60 rows have arrived, [^\n]+; [^\n]+try again$/,
        )
        await isWaiting.promise
        const { rows } = await client.query<{ name: string }>(
          `select nspname as name from pg_namespace
         where starts_with(nspname, current_schema() || '_import_')`,
        )
        await client.query(`delete from ${rows[0]?.name ?? ''}.arrived where seq = 7`)
        return { told }
      })
      await imported.told
      const { rowCount } = await client.query('select from imports')
      assert.equal(rowCount, 1)
    })
  },
)
