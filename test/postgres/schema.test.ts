// The tables in PostgreSQL: requirements of Citus, query plans of serving, and how they
// are made.

import assert from 'node:assert/strict'
import { cpSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Client } from 'pg'
import { resources } from '../../src/resources/index.ts'
import { migrateStore, openStoreReader } from '../../src/store/open-store.ts'
import { openSession } from '../../src/store/postgres/connect.ts'
import { findKeySql } from '../../src/store/postgres/read.ts'
import { distributedTables } from '../../src/store/postgres/schema.ts'
import { segmentsSql } from '../../src/store/postgres/tables.ts'
import { schemaIn } from '../../src/store/postgres/url.ts'
import { headSql, heldByHead } from '../../src/store/sql/head-tables.ts'
import { importRows, makeFolder } from '../support/import-rows.ts'
import { startPostgres } from '../support/postgres-server.ts'
import { runCommand } from '../support/run-command.ts'
import { checkExit, runDossier } from '../support/run-dossier.ts'
import { askPort, runServer } from '../support/run-server.ts'
import { sessionFor } from '../support/sessions.ts'
import { onCitus, schemaUrl } from '../support/store-at.ts'
import { until } from '../support/until.ts'

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

const here = { skip: onCitus }
const inSchema = 'relnamespace = current_schema()::regnamespace'

test('every table is distributed by a column, or small and replicated to every node', async () => {
  const tables = await values(`select relname from pg_class where ${inSchema} and relkind = 'r'`)
  const known = [...distributedTables.map(({ table }) => table)]
  assert.deepEqual(tables.map(String).toSorted(), known.toSorted())
  for (const { table, column } of distributedTables) {
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
test('there is no foreign key, no trigger and no sequence', here, async () => {
  assert.deepEqual(
    await values(
      `select conname from pg_constraint
       where connamespace = current_schema()::regnamespace and contype = 'f'`,
    ),
    [],
  )
  const sequences = await values(`select relname from pg_class where ${inSchema} and relkind = 'S'`)
  assert.deepEqual(sequences, [])
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
  readonly 'Recheck Cond'?: string
  readonly Plans?: readonly Plan[]
}

function scansIn(plan: Plan): Plan[] {
  const own = plan['Relation Name'] === undefined ? [] : [plan]
  return [...own, ...(plan.Plans ?? []).flatMap(scansIn)]
}

const small = new Set(distributedTables.filter((t) => !t.column).map((t) => t.table))

// Many companies, one of them with many versions and segments.
const largeStore = `
  insert into heads select n, 'rights', 1, 1, null, 8, '' from generate_series(1, 20000) n;
  insert into heads select 1, 'rights', n, 1, null, 8, '' from generate_series(2, 20000) n;
  insert into segments select n, n, '', 'x' from generate_series(1, 20000) n;
  insert into segments select 1, n, '', 'x' from generate_series(20001, 40000) n;`

async function checkPlan(name: string, call: string): Promise<void> {
  const explained = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
    `explain (format json) execute ${call}`,
  )
  const plan = explained.rows[0]?.['QUERY PLAN'][0].Plan
  assert.ok(plan)
  const scans = scansIn(plan)
  assert.ok(scans.length >= 1)
  for (const scan of scans) {
    if (small.has(String(scan['Relation Name']))) continue
    assert.match(scan['Node Type'], /^(Index|Bitmap)/, `${name}: ${JSON.stringify(scan)}`)
    assert.match(scan['Index Cond'] ?? scan['Recheck Cond'] ?? '', /company_id = \$1/, name)
  }
  assert.ok(!JSON.stringify(plan).includes('"Sort"'), `${name}: the index gives the order`)
}

const onlySeeks = 'a head and texts: only index seeks of one company, whatever the amount of data'
// citus.test.ts has what a page is there.
test(onlySeeks, here, async () => {
  await client.query('begin')
  try {
    await client.query(largeStore)
    await client.query('set local plan_cache_mode = force_generic_plan')
    await client.query(`prepare head (bigint, text, integer) as ${headSql(heldByHead)}`)
    await client.query(`prepare texts (bigint, bigint[]) as ${segmentsSql('texts')}`)
    for (const isAnalysed of [false, true]) {
      if (isAnalysed) await client.query('analyze heads, segments')
      await checkPlan('head', `head (1, 'rights', 5)`)
      await checkPlan('texts', `texts (1, '{7,8}')`)
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
  const early = await runDossier(folder, `serve --db ${url}`)
  checkExit(early, 1, /^dossier: postgres:[^\n]* holds no registry; create it with[^\n]*\n$/)
  assert.ok(!early.err.includes('test%20password'), 'no password is shown')
  const runs = await Promise.all([migrate(), migrate()])
  for (const { code, err } of runs) assert.equal(code, 0, err)
  const steps = runs.map(({ out }) => out).join('')
  assert.equal(steps.match(/created the tables/g)?.length, 1, steps)
  assert.match((await migrate()).out, /^postgres:.* is up to date\.\n$/)
  if (onCitus !== false) {
    assert.match((await migrate('--distributed')).out, /^postgres:.* is up to date\.\n$/)
  }
  await (await openStoreReader(url)).close()
})

test('what needs Citus is refused without it, and leaves no schema', here, async () => {
  const url = schemaUrl('spread')
  const run = await runCommand('.', `migrate --distributed --db ${url}`)
  checkExit(run, 1, /has no Citus[^\n]*create extension citus\n$/)
  const sql = 'select from pg_namespace where nspname = $1'
  assert.equal((await client.query(sql, [schemaIn(url)])).rowCount, 0)
})

test('tables of another version are left alone, and the reason is given in one line', async (t) => {
  const url = schemaUrl('versions')
  const folder = makeFolder(t)
  await migrateStore(url, resources, { isDistributed: false, onWait: () => undefined })
  const session = await sessionFor(t, url)
  const refused = async (says: RegExp) => {
    for (const args of [['serve'], ['migrate'], ['import', 'jobs', '-'], ['imports']]) {
      const run = await runCommand(folder, [...args, '--db', url])
      checkExit(run, 1, says)
      assert.match(run.err, /^dossier: [^\n]*\n$/)
    }
  }
  await session.query('update store set format = 99')
  await refused(/another version of Dossier \(format 99, [^\n]*; use that version, or [^\n]*\n$/)
  await session.query('alter table store drop column format')
  await refused(/another version of Dossier \(format null, [^\n]*: dossier import\n$/)
})

test('names of another program in the schema are left alone, and reported', async (t) => {
  const url = schemaUrl('taken')
  const schema = schemaIn(url)
  const session = await sessionFor(t, url)
  await session.query(`create schema ${schema}`)
  for (const one of [
    'table companies (id int)',
    'sequence store',
    'view rights_records as select',
  ]) {
    await session.query(`create ${one}`)
    const says = /" already exists; another program uses this schema; name one [^\n]*\?schema=\n$/
    checkExit(await runCommand('.', `migrate --db ${url}`), 1, says)
    const [kind, name] = one.split(' ')
    await session.query(`drop ${kind} ${name}`)
  }
})

test('a hot standby serves the data of its primary, later imports included', async (t) => {
  const primary = await startPostgres()
  t.after(() => primary.remove())
  const url = `${primary.url}?schema=dossier`
  const folder = makeFolder(t)
  await importRows(join(folder, 'x'), 'rights', [{ id: 1, company_id: 7 }], { at: url })
  const made = await runCommand(folder, `keys create --name x --db ${url}`)
  await primary.stop()
  const standby = await startPostgres({
    fill(data) {
      cpSync(primary.data, data, { recursive: true, preserveTimestamps: true })
      rmSync(join(data, 'postmaster.opts'), { force: true })
      writeFileSync(join(data, 'standby.signal'), '')
    },
    settings: {
      primary_conninfo: primaryConnection(primary.url),
      default_transaction_isolation: 'serializable',
    },
  })
  t.after(() => standby.remove())
  await primary.start()
  const server = await runServer(t, standby.url + '?schema=dossier', ['--cache-mib', '0'])
  const total = async () => {
    const request = { key: made.out.trim() }
    const { status, body } = await askPort(server.port, '/api/v1/companies/7/rights', request)
    assert.equal(status, 200)
    return (JSON.parse(body) as { total: number }).total
  }
  assert.equal(await total(), 1)
  await importRows(join(folder, 'x'), 'rights', [{ id: 2, company_id: 7 }], { at: url })
  await until(async () => (await total()) === 2, 'the standby follows')
  const input = '{"id":3,"company_id":7}\n'
  const args = ['import', 'rights', '-', '--db', `${standby.url}?schema=dossier`]
  const refused = await runDossier(folder, args, { input })
  checkExit(refused, 1, /^dossier: [^\n]*name the primary in --db\n$/)
})

function primaryConnection(url: string): string {
  const { hostname, port, username, password } = new URL(url)
  const quoted = decodeURIComponent(password).replaceAll("'", "\\'")
  return `host=${hostname} port=${port} user=${username} password=''${quoted}''`
}
