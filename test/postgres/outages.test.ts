// A PostgreSQL failure under a server: 503 in the contract's form, then recovery by itself.

import assert from 'node:assert/strict'
import { after, test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { issueKey } from '../support/issue-key.ts'
import { resources } from '../../src/resources/index.ts'
import { storedChecks } from '../../src/import/rows/check-stored.ts'
import { openStoreInspector, openStoreWriter } from '../../src/store/open-store.ts'
import { openSession, withSession } from '../../src/store/postgres/connect.ts'
import { importRows, makeFolder } from '../support/import-rows.ts'
import { startPostgres } from '../support/postgres-server.ts'
import { mustRun, runCommand } from '../support/run-command.ts'
import { checkExit } from '../support/run-dossier.ts'
import { askPort, runServer, type Server } from '../support/run-server.ts'
import { sessionFor } from '../support/sessions.ts'
import { until } from '../support/until.ts'

const pool = 3
const path = '/api/v1/companies/7/rights'
const failure = '{"ok":false,"error":{"code":503,"message":"Service Unavailable"}}'

/** Its own PostgreSQL, so that other tests of this run are not affected. */
const postgres = await startPostgres()
const db = `${postgres.url}?schema=dossier`
const key = await fillStore()
/** One for all outages, since it recovers from each. */
const server = await runServer({ after }, db, ['--pool', String(pool), '--cache-mib', '0'])
after(() => postgres.remove())

/** Returns a key. */
async function fillStore(): Promise<string> {
  const rows = Array.from({ length: 50 }, (_, n) => ({ id: n + 1, company_id: 7, name: `n${n}` }))
  const files = makeFolder({ after })
  await importRows(`${files}/x`, 'rights', rows, { at: db })
  const store = await openStoreWriter(db, resources)
  const unset = { scopes: undefined, expiresAt: undefined, rate: undefined }
  const plan = { name: 'x', createdAt: Date.now(), ...unset }
  const issued = await issueKey(store, plan, { onWait: () => undefined })
  await store.close()
  return issued
}

interface Told {
  readonly status: number
  readonly body: string
  readonly ms: number
}

async function ask({ port }: Server, url = path): Promise<Told> {
  const start = performance.now()
  const { status, body } = await askPort(port, url, { key })
  return { status, body, ms: performance.now() - start }
}

/** Sends requests now and for a while, as unaware clients do. */
async function askMany(server: Server, count = 30): Promise<Told[]> {
  const answers: Promise<Told>[] = []
  for (let n = 0; n < count; n++) {
    answers.push(ask(server))
    await sleep(10)
  }
  return Promise.all(answers)
}

/** A request that waits for a server that hangs, on a machine slower by a factor of ten. */
const hangingMs = 20_000

/** Every answer is valid or a 503 in the contract's form; none takes long. */
function checkBounded(answers: readonly Told[]): void {
  for (const { status, body, ms } of answers) {
    assert.ok(status === 200 || status === 503, body)
    if (status === 503) assert.equal(body, failure)
    assert.ok(ms < hangingMs, `${status} after ${ms.toFixed(0)} ms`)
  }
}

/** The log has ten causes a second, so twenty where two seconds meet; they count the others. */
function checkLog(server: Server): void {
  const lines = server
    .printed()
    .split('\n')
    .filter((line) => line.includes('could not be answered'))
  const times = lines.map((line) => Number(/"time":(\d+)/.exec(line)?.[1]))
  for (const [n, time] of times.slice(20).entries()) assert.ok(time - (times[n] ?? 0) > 900)
}

async function untilWell(server: Server): Promise<void> {
  const isWell = async (url?: string) => (await ask(server, url)).status === 200
  await until(async () => (await isWell()) && (await isWell('/readyz')))
}

/** The number of server sessions in PostgreSQL. */
async function sessions(): Promise<number> {
  const sql = `select from pg_stat_activity where application_name = 'dossier serve'`
  const { rowCount } = await withSession(postgres.url, (client) => client.query(sql))
  return rowCount ?? 0
}

for (const [how, signal] of [
  ['stopped at once', 'SIGQUIT'],
  ['killed', 'SIGKILL'],
] as const) {
  test(`PostgreSQL is ${how} and restarted: 503 meanwhile, then recovery`, async () => {
    assert.equal((await ask(server)).status, 200)
    const meanwhile = askMany(server, 60)
    await sleep(100)
    await postgres.stop(signal)
    checkBounded(await meanwhile)
    const [page, ready, alive] = await Promise.all([
      ask(server),
      ask(server, '/readyz'),
      ask(server, '/healthz'),
    ])
    assert.deepEqual([page.status, page.body], [503, failure])
    assert.deepEqual([ready.status, ready.body], [503, failure])
    assert.equal(alive.status, 200)
    checkLog(server)
    await postgres.start()
    await untilWell(server)
    checkBounded(await askMany(server))
    assert.ok((await sessions()) <= pool, 'no connection has leaked')
  })
}

test('its sessions are killed repeatedly: errors are bounded, recovery is immediate', async (t) => {
  const client = await sessionFor(t, postgres.url)
  for (let round = 0; round < 5; round++) {
    const meanwhile = askMany(server, 20)
    await sleep(50)
    await client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = 'dossier serve'`,
    )
    checkBounded(await meanwhile)
  }
  await untilWell(server)
  assert.ok((await sessions()) <= pool)
})

test('hanging statements exhaust the pool: 503 until they end; a command waits', async (t) => {
  assert.equal((await ask(server)).status, 200)
  const client = await sessionFor(t, postgres.url)
  await client.query('begin')
  await client.query('lock table dossier.segments in access exclusive mode')
  const command = runCommand('.', `listing 7 rights --db ${db}`)
  const answers = await Promise.all(Array.from({ length: 4 * pool }, () => ask(server)))
  checkBounded(answers)
  assert.ok(answers.every(({ status }) => status === 503))
  await client.query('rollback')
  const { code, err } = await command
  assert.equal(code, 0, err)
  await untilWell(server)
  assert.ok((await sessions()) <= pool)
})

test('it hangs silently: 503, and recovery when it continues', async () => {
  assert.equal((await ask(server)).status, 200)
  const pids = postgres.pids()
  for (const pid of pids) process.kill(pid, 'SIGSTOP')
  try {
    const answers = [...(await askMany(server, 20)), await ask(server, '/readyz')]
    checkBounded(answers)
    assert.ok(answers.every(({ status }) => status === 503))
  } finally {
    for (const pid of pids) process.kill(pid, 'SIGCONT')
  }
  await untilWell(server)
  await sleep(500)
  assert.ok((await sessions()) <= pool, 'statements that timed out have ended')
})

/** The URL of a role that has the rights in the guide to PostgreSQL, and a session of the owner. */
async function makeReader(t: TestContext) {
  const owner = await openSession(postgres.url)
  t.after(async () => {
    await owner.query('drop owned by reader; drop role reader')
    await owner.end()
  })
  await owner.query(`create role reader login password 'reader'`)
  await owner.query('grant usage on schema dossier to reader')
  await owner.query('grant select on all tables in schema dossier to reader')
  const url = new URL(db)
  url.username = url.password = 'reader'
  return { owner, url: url.href }
}

test('a user who lacks a right is told which, and neither serves nor compacts in vain', async (t) => {
  const { owner, url } = await makeReader(t)
  const folder = makeFolder(t)
  const told = async (command: string, says: RegExp) => {
    const run = await runCommand(folder, [...command.split(' '), '--db', url])
    checkExit(run, 1, says)
    assert.match(run.err, /^dossier: [^\n]*\n$/)
  }
  await told('compact', /permission denied to vacuum .*; run it as the owner of the tables\n$/)
  // Reading is all that the documented rights permit.
  await told(
    'keys create --name mine',
    /for table keys; to change .*, name the owner of its tables/,
  )
  await owner.query('alter table dossier.imports enable row level security')
  await told(
    'imports',
    /may not read imports \(row-level security may hide rows\); grant it the rights/,
  )
  const one = await openSession(url)
  await assert.rejects(one.query('select from imports'), /affected by row-level security policy/)
  await one.end()
  await owner.query('alter table dossier.imports disable row level security')
  await owner.query('revoke select on dossier.heads, dossier.segments from reader')
  await told('serve', /this user may not read heads, segments; grant it the rights/)
  await owner.query('revoke usage on schema dossier from reader')
  await told('serve', /this user may not use the schema dossier; grant it the rights/)
  await told('compact', /this user may not use the schema dossier; grant it the rights/)
})

test('a user who may not create schemas is told what to create, and needs no more', async (t) => {
  const { owner, url } = await makeReader(t)
  const at = url.replace('schema=dossier', 'schema=mine')
  const folder = makeFolder(t, { 'c.csv': 'jurisdiction,identifier,name\nGB,7,Ann\n' })
  const commands = [
    ['import', 'companies', 'c.csv'],
    ['withhold', 'erase', 'company', 'GB:7', '--yes', '--reason', 'x', '--by', 'x'],
  ]
  for (const [n, schema] of ['mine', 'mine_withheld'].entries()) {
    const args = [...(commands[n] ?? []), '--db', at]
    const sql = `create schema ${schema} authorization reader`
    checkExit(
      await runCommand(folder, args),
      1,
      new RegExp(`owner of the database, run: ${sql}\n$`),
    )
    await owner.query(sql)
    await mustRun(folder, args)
  }
  // A schema of the user's search path may have any name.
  const creations = ['My. Own', 'My. Own_withheld'].map(
    (schema) => `create schema "${schema}" authorization reader`,
  )
  await owner.query(creations.join(';'))
  await owner.query('alter role reader set search_path = "My. Own"')
  for (const args of [...commands, ['compact']]) {
    await mustRun(folder, [...args, '--db', url.replace(/\?.*/, '')])
  }
})

test('a list that a member of the owner’s role began is the owner’s', async (t) => {
  const { owner, url } = await makeReader(t)
  const folder = makeFolder(t, { 'c.csv': 'jurisdiction,identifier,name\nGB,7,Ann\nGB,8,Bob\n' })
  await owner.query('create schema theirs authorization reader')
  const own = url.replace('schema=dossier', 'schema=theirs')
  await mustRun(folder, ['import', 'companies', 'c.csv', '--db', own])
  const erase = ['withhold', 'erase', 'company', '--yes', '--reason', 'x', '--by', 'x']
  await owner.query(`create role member login password 'reader' in role reader`)
  await owner.query('grant create on database postgres to member')
  const asMember = own.replace('reader:', 'member:')
  await mustRun(folder, [...erase, 'GB:7', '--db', asMember])
  await mustRun(folder, [...erase, 'GB:8', '--db', own])
  await owner.query('drop owned by member; drop role member')
})

test('a database that could not store every name is refused', async (t) => {
  const owner = await sessionFor(t, postgres.url)
  await owner.query(`create database latin encoding 'LATIN1' locale 'C' template template0`)
  const url = postgres.url.replace('/postgres', '/latin')
  const run = await runCommand(makeFolder(t), `migrate --db ${url}`)
  checkExit(run, 1, /has the encoding LATIN1; create one with: createdb --encoding=UTF8 [^\n]*\n$/)
})

test('the server refuses all connections: 503, then recovery (H6)', async (t) => {
  const { owner, url } = await makeReader(t)
  const setLimit = (limit: number) =>
    owner.query(`alter database postgres connection limit ${limit}`)
  // A user who may read the store may read its list, too, which the first order creates.
  const order = ['withhold', 'erase', 'rights', '50', '--reason', 'x', '--by', 'x', '--yes']
  await mustRun('.', [...order, '--db', db])
  const refused = await runServer(t, url, ['--pool', '2', '--cache-mib', '0'])
  assert.equal((await ask(refused)).status, 200, 'a role that has SELECT alone')
  const inspector = await openStoreInspector(url, resources)
  assert.deepEqual((await inspector.verify(storedChecks(resources), () => undefined)).faults, [])
  assert.ok((await inspector.listImports(1)).length === 1, 'and may look at it')
  await setLimit(0)
  await owner.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'reader'`,
  )
  await until(async () => (await ask(refused)).status === 503)
  await setLimit(-1)
  await untilWell(refused)
  assert.equal((await ask(server)).status, 200)
  await owner.query('revoke select on dossier.heads from reader')
  assert.equal((await ask(refused, '/readyz')).status, 503, 'a lost right is noticed')
})
