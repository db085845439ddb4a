// The tables in PostgreSQL: requirements of Citus, query plans of serving, and how they
// are made and upgraded.

import assert from 'node:assert/strict'
import { cpSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { resources } from '../../src/resources/index.ts'
import type { Resource } from '../../src/resources/resource.ts'
import { migrateStore, openStoreReader } from '../../src/store/open-store.ts'
import { openSession } from '../../src/store/postgres/connect.ts'
import { isOutdated } from '../../src/store/postgres/migrate.ts'
import { witnessTables } from '../../src/store/postgres/citus-witnesses.ts'
import { findKeySql, pageSql } from '../../src/store/postgres/read.ts'
import { headSql } from '../../src/store/sql/listing.ts'
import { distributionColumns } from '../../src/store/postgres/schema.ts'
import { importRows, makeFolder } from '../support/import-rows.ts'
import { startPostgres } from '../support/postgres-server.ts'
import { runCommand } from '../support/run-command.ts'
import { runDossier } from '../support/run-dossier.ts'
import { runServer } from '../support/run-server.ts'
import { onCitus, schemaUrl } from '../support/store-at.ts'

const db = schemaUrl('schema')
let client: Client

before(async () => {
  await migrateStore(db, resources, { isDistributed: false, onWait: () => undefined })
  client = await openSession(db)
})

after(() => client.end())

async function values(sql: string): Promise<unknown[]> {
  const { rows } = await client.query<unknown[]>({ text: sql, rowMode: 'array' })
  return rows.map(([value]) => value)
}

const inSchema = 'relnamespace = current_schema()::regnamespace'

test('every table is distributed by a column, or small and replicated to every node', async () => {
  const tables = await values(`select relname from pg_class where ${inSchema} and relkind = 'r'`)
  const known = [
    ...distributionColumns(resources).map(({ table }) => table),
    ...['migrations', ...(onCitus === false ? [] : witnessTables)],
  ]
  assert.deepEqual(tables.map(String).toSorted(), known.toSorted())
  for (const { table, column } of distributionColumns(resources)) {
    if (column === undefined) continue
    const unique = await client.query<{ name: string; columns: string[] }>(
      `select i.indexrelid::regclass::text as name, array_agg(a.attname::text) as columns
       from pg_index i
       join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
       where i.indrelid = $1::regclass and i.indisunique group by 1`,
      [table],
    )
    for (const { name, columns } of unique.rows) assert.ok(columns.includes(column), name)
    const first = await values(
      `select attname from pg_attribute where attrelid = '${table}'::regclass and attnum = 1`,
    )
    if (column === 'company_id' || column === 'identifier') assert.deepEqual(first, [column])
  }
})

// Citus adds triggers of its own.
test('there is no foreign key, no trigger and no sequence', { skip: onCitus }, async () => {
  assert.deepEqual(
    await values(
      `select conname from pg_constraint
       where connamespace = current_schema()::regnamespace and contype = 'f'`,
    ),
    [],
  )
  assert.deepEqual(
    await values(`select relname from pg_class where ${inSchema} and relkind = 'S'`),
    [],
  )
  assert.deepEqual(
    await values(
      `select tgname from pg_trigger t join pg_class c on c.oid = t.tgrelid where ${inSchema}`,
    ),
    [],
  )
})

test('all text is compared by bytes, whatever the collation of the database', async () => {
  assert.deepEqual(await values(`select 'b' < 'C'`), [true], 'a locale that is not C')
  const other = `
    select c.relname || '.' || a.attname from pg_attribute a
    join pg_class c on c.oid = a.attrelid
    join pg_type t on t.oid = a.atttypid
    where ${inSchema} and c.relkind = 'r' and a.attnum > 0 and t.typcollation <> 0
      and a.attcollation <> 'pg_catalog."C"'::regcollation`
  assert.deepEqual(await values(other), [])
})

interface Plan {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Cond'?: string
  readonly Plans?: readonly Plan[]
}

function scansIn(plan: Plan): Plan[] {
  const own = plan['Relation Name'] === undefined ? [] : [plan]
  return [...own, ...(plan.Plans ?? []).flatMap(scansIn)]
}

const small = new Set(
  distributionColumns(resources)
    .filter((t) => !t.column)
    .map((t) => t.table),
)

// Statistics for the planner: many companies, one of them very large.
const largeStore = `
  insert into companies select n, null, null, 1 from generate_series(1, 20000) n;
  insert into imports values (1, 'x', 1, false, 0, 0, '', 0, 0, 0, 0, 0, 0, 0, null, '{}', 'x');
  analyze companies; analyze imports;`

const largeListing = ({ name }: Resource) => `
  insert into heads select n, '${name}', 1, 1, '[]' from generate_series(1, 20000) n;
  insert into ${name}
    select 1 + n % (n / 4 + 1), n, n, 0, 8, n, '', 1, 1, '' from generate_series(1, 40000) n;
  insert into ${name}_pieces
    select 1 + n % (n / 4 + 1), n, n, '{"id":1}' from generate_series(1, 40000) n;
  analyze heads; analyze ${name}; analyze ${name}_pieces;`

async function checkPlan(name: string, call: string): Promise<void> {
  const explained = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
    `explain (format json) execute ${call}`,
  )
  const plan = explained.rows[0]?.['QUERY PLAN'][0].Plan
  assert.ok(plan)
  const scans = scansIn(plan)
  assert.ok(scans.length >= 2)
  for (const scan of scans) {
    if (small.has(String(scan['Relation Name']))) continue
    assert.match(scan['Node Type'], /^Index/, `${name}: ${JSON.stringify(scan)}`)
    assert.match(scan['Index Cond'] ?? '', /\((company_id|id) = \$1\)/, name)
  }
  assert.ok(!JSON.stringify(plan).includes('"Sort"'), `${name}: the index gives the order`)
}

const onlySeeks = 'each head and page: only index seeks of one company, whatever the amount of data'
// citus.test.ts has what a page is there.
test(onlySeeks, { skip: onCitus }, async () => {
  await client.query('begin')
  try {
    await client.query(largeStore)
    await client.query('set local plan_cache_mode = force_generic_plan')
    for (const resource of resources) {
      const { name } = resource
      await client.query(largeListing(resource))
      await client.query(`prepare ${name}_head (bigint) as ${headSql(resource, '$1')}`)
      await client.query(`prepare ${name}_page (bigint, bigint, bigint) as ${pageSql(resource)}`)
      await checkPlan(name, `${name}_head (1)`)
      await checkPlan(name, `${name}_page (1, 1000, 100)`)
    }
  } finally {
    await client.query('rollback')
    await client.query('deallocate all')
  }
})

test('a key is found by an index', async () => {
  await client.query('set enable_seqscan = off')
  const { rows } = await client.query<{ 'QUERY PLAN': string }>(
    `explain ${findKeySql.replace('$1', `'\\x00'`)}`,
  )
  await client.query('reset enable_seqscan')
  assert.match(JSON.stringify(rows), /Index Scan using keys_hash_key/)
})

test('migrate creates everything once, also when run twice concurrently, then has nothing to do', async (t) => {
  const url = schemaUrl('migrate')
  const folder = makeFolder(t)
  const migrate = (...options: string[]) => runCommand(folder, ['migrate', '--db', url, ...options])
  const early = await runDossier(folder, ['serve', '--db', url])
  assert.equal(early.code, 1)
  assert.match(early.err, /^dossier: postgres:[^\n]* holds no registry; create it with[^\n]*\n$/)
  assert.ok(!early.err.includes('test%20password'), 'no password is shown')
  const runs = await Promise.all([migrate(), migrate()])
  for (const { code, err } of runs) assert.equal(code, 0, err)
  const steps = runs.map(({ out }) => out).join('')
  assert.equal(steps.match(/upgraded to step 6 of 6/g)?.length, 1, steps)
  assert.match((await migrate()).out, /^postgres:.* is up to date\.\n$/)
  const distributed = await migrate('--distributed')
  if (onCitus === false) {
    assert.equal(distributed.code, 1)
    assert.match(distributed.err, /has no Citus[^\n]*create extension citus\n$/)
  } else assert.match(distributed.out, /^postgres:.* is up to date\.\n$/)
  await (await openStoreReader(url, resources)).close()
})

test('tables of an older version are upgraded, of a newer one left alone', async (t) => {
  const url = schemaUrl('versions')
  const folder = makeFolder(t)
  await migrateStore(url, resources, { isDistributed: false, onWait: () => undefined })
  const session = await openSession(url)
  t.after(() => session.end())
  await session.query(
    'drop view rights_view, rights_records; drop table rights, rights_pieces, rights_ids',
  )
  const served = await runDossier(folder, ['serve', '--db', url])
  assert.match(served.err, /no table for rights; add it with: dossier migrate\n$/)
  assert.equal(await isOutdated(url, resources), true)
  const input = '{"id":1,"company_id":7}\n'
  const imported = await runDossier(folder, ['import', 'jobs', '-', '--db', url], { input })
  assert.equal(imported.code, 0, imported.err)
  assert.equal(await isOutdated(url, resources), false, 'an import does what migrate does')
  await session.query('insert into migrations values (99, 0)')
  for (const args of [['serve'], ['migrate'], ['import', 'jobs', '-']]) {
    const { code, err } = await runDossier(folder, [...args, '--db', url], { input })
    assert.equal(code, 1)
    assert.match(err, /newer Dossier \(step 99, this one knows up to 6\); use the newer version\n$/)
  }
})

/** Faults of a URL, and their one-line messages without the password. */
const strangers: readonly (readonly [what: string, url: (good: URL) => string, says: RegExp])[] = [
  [
    'nothing listens',
    (url) => url.href.replace(/:\d+\//, ':1/'),
    /start PostgreSQL, or correct --db/,
  ],
  ['no such host', (url) => url.href.replace('127.0.0.1', 'no.invalid'), /correct --db/],
  ['a wrong password', (url) => url.href.replace('password', 'secret'), /correct the password/],
  ['no such database', (url) => url.href.replace('/postgres?', '/none?'), /createdb/],
  ['an invalid schema name', (url) => `${url.href}X;--`, /schema= takes up to 63/],
]

for (const [what, urlOf, says] of strangers) {
  // The nodes of a trial cluster trust each other, and so every password.
  const skip = what === 'a wrong password' && onCitus
  test(`serve, import and keys list: ${what} is reported in one line`, { skip }, async (t) => {
    const url = urlOf(new URL(schemaUrl('strangers')))
    for (const args of [['serve'], ['import', 'rights', '-'], ['keys', 'list']]) {
      const { code, err } = await runCommand(makeFolder(t), [...args, '--db', url])
      assert.equal(code, 1, err)
      assert.match(err, says)
      assert.match(err, /^dossier: [^\n]*\n$/)
      assert.ok(!/test%20password|secret/.test(err), 'no password is shown')
    }
  })
}

test('a hot standby serves the data of its primary, later imports included', async (t) => {
  const primary = await startPostgres()
  t.after(() => primary.remove())
  const url = `${primary.url}?schema=dossier`
  const folder = makeFolder(t)
  await importRows(join(folder, 'x'), 'rights', [{ id: 1, company_id: 7 }], { at: url })
  const made = await runCommand(folder, ['keys', 'create', '--name', 'x', '--db', url])
  await primary.stop()
  const standby = await startPostgres({
    fill(data) {
      cpSync(primary.data, data, { recursive: true, preserveTimestamps: true })
      rmSync(join(data, 'postmaster.opts'), { force: true })
      writeFileSync(join(data, 'standby.signal'), '')
    },
    settings: { primary_conninfo: primaryConnection(primary.url) },
  })
  t.after(() => standby.remove())
  await primary.start()
  const server = await runServer(t, standby.url + '?schema=dossier', ['--cache-mib', '0'])
  const total = async () => {
    const headers = { authorization: `Bearer ${made.out.trim()}` }
    const page = await fetch(`http://127.0.0.1:${server.port}/api/v1/companies/7/rights`, {
      headers,
    })
    assert.equal(page.status, 200)
    return ((await page.json()) as { total: number }).total
  }
  assert.equal(await total(), 1)
  await importRows(join(folder, 'x'), 'rights', [{ id: 2, company_id: 7 }], { at: url })
  for (let waited = 0; (await total()) !== 2; waited += 50) {
    assert.ok(waited < 20_000, 'the standby follows')
    await sleep(50)
  }
  const input = '{"id":3,"company_id":7}\n'
  const args = ['import', 'rights', '-', '--db', `${standby.url}?schema=dossier`]
  const refused = await runDossier(folder, args, { input })
  assert.equal(refused.code, 1)
  assert.match(refused.err, /^dossier: [^\n]*name the primary in --db\n$/)
})

function primaryConnection(url: string): string {
  const { hostname, port, username, password } = new URL(url)
  const quoted = decodeURIComponent(password).replaceAll("'", "\\'")
  return `host=${hostname} port=${port} user=${username} password=''${quoted}''`
}
