// Reliability rows F3 to F16: a server whose store is damaged, replaced, locked or
// unreadable while it serves. (What commands report about a bad store at their start is in
// test/cli/store-file.test.ts.)

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import {
  closeSync,
  copyFileSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeSync,
} from 'node:fs'
import { once } from 'node:events'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import { resources } from '../../src/resources/index.ts'
import { rights } from '../../src/resources/rights.ts'
import { openForReading } from '../../src/store/sqlite/open.ts'
import { createReader } from '../../src/store/sqlite/read.ts'
import { queryValue } from '../support/import-rows.ts'
import { pathOf } from '../support/make-app.ts'
import { makeRecords } from '../support/make-record.ts'
import { makeRightsStore } from '../support/rights-store.ts'
import { mustRun } from '../support/run-command.ts'
import { runDossier } from '../support/run-dossier.ts'
import { askPort, checkRawFailure, runServer } from '../support/run-server.ts'
import { changeStore } from '../support/store-state.ts'
import { makeTempStore } from '../support/temp-store.ts'
import { until } from '../support/until.ts'

/** A server of a store with one company of 40 rights, and ways to send requests. */
async function serve(t: TestContext, count = 40) {
  const { store, key, path } = await makeRightsStore(t, count)
  const server = await runServer(t, store.db, ['--cache-mib', '0'])
  const ask = (path: string) => askPort(server.port, path, { key })
  return { store, server, ask, page: () => ask(path) }
}

function overwrite(path: string, bytes: Buffer, at: number): void {
  const file = openSync(path, 'r+')
  writeSync(file, bytes, 0, bytes.length, at)
  closeSync(file)
}

test('damage while serving: 503, alive but not ready, and ready again once repaired (F3, F4)', async (t) => {
  const { store, server, ask, page } = await serve(t)
  assert.equal((await page()).status, 200)
  changeStore(store.db, 'pragma wal_checkpoint(truncate)')
  const whole = readFileSync(store.db)
  // Only one page, so that other reads of the store, such as of the key, still succeed.
  const root = queryValue(store.db, "select rootpage from sqlite_schema where name = 'segments'")
  const pageBytes = 32_768
  for (const fill of [0, 0xaa]) {
    overwrite(store.db, Buffer.alloc(pageBytes, fill), (Number(root) - 1) * pageBytes)
    checkRawFailure(await page(), 503)
    checkRawFailure(await ask('/readyz'), 503)
    assert.equal((await ask('/healthz')).status, 200)
    overwrite(store.db, whole, 0)
    await until(async () => (await ask('/readyz')).status === 200, 'it is ready')
    assert.equal((await page()).status, 200)
  }
  overwrite(store.db, Buffer.alloc(100, 0xaa), 0)
  assert.ok([200, 503].includes((await page()).status), 'the head of the file is gone')
  assert.equal((await ask('/healthz')).status, 200)
  await until(() => /malformed|not a database/.test(server.printed()), 'the log says why')
})

test('a server whose store is repaired in part stays alive and not ready (F3, F4)', async (t) => {
  const { store, ask } = await serve(t, 10_001)
  changeStore(store.db, 'pragma wal_checkpoint(truncate)')
  const whole = readFileSync(store.db)
  const pageBytes = 32_768
  const placeOf = (table: string) => {
    const sql = `select rootpage from sqlite_schema where name = '${table}'`
    return (Number(queryValue(store.db, sql)) - 1) * pageBytes
  }
  const [heads, segments] = [placeOf('heads'), placeOf('segments')]
  for (const at of [heads, segments]) overwrite(store.db, Buffer.alloc(pageBytes), at)
  checkRawFailure(await ask(`${pathOf(rights, 1)}?sort=name`), 503)
  checkRawFailure(await ask('/readyz'), 503)
  overwrite(store.db, whole.subarray(heads, heads + pageBytes), heads)
  checkRawFailure(await ask('/readyz'), 503)
  assert.equal((await ask('/healthz')).status, 200)
  overwrite(store.db, whole, 0)
  await until(async () => (await ask('/readyz')).status === 200, 'it is ready')
})

test('a page that lacks a segment is a 503 that the log explains, not a shorter page (F5)', async (t) => {
  const { store, server, page } = await serve(t)
  changeStore(store.db, 'delete from segments where segment = (select max(segment) from segments)')
  checkRawFailure(await page(), 503)
  const cause = /segment \d+ of company 1 is missing/
  await until(() => cause.test(server.printed()), 'its cause is in the log')
})

test('a store replaced by another file: 503 and not ready until a restart (F8)', async (t) => {
  const { store, server, ask, page } = await serve(t)
  assert.equal((await page()).status, 200)
  const copy = join(store.folder, 'copy.db')
  await mustRun(store.folder, `backup ${copy} --db ${store.db}`)
  const old = join(store.folder, 'old.db')
  renameSync(store.db, old)
  checkRawFailure(await ask('/readyz'), 503)
  copyFileSync(copy, store.db)
  checkRawFailure(await ask('/readyz'), 503)
  // A key is looked up again after half a second; a key revoked in the new file must not open.
  await until(async () => (await page()).status === 503, 'requests are refused')
  assert.equal((await ask('/healthz')).status, 200)
  const said = /was replaced while being served; restart/
  await until(() => said.test(server.printed()), 'it is said')
  renameSync(old, store.db)
  assert.equal((await ask('/readyz')).status, 200)
  assert.equal((await page()).status, 200)
})

for (const [what, replace] of [
  ['the link to a store is removed', (_db: string, link: string) => rmSync(link)],
  [
    'the log of a store and its index are removed',
    (db: string) => ['-wal', '-shm'].forEach((ending) => rmSync(db + ending)),
  ],
] as const) {
  test(`${what}: not ready, and a key that is then revoked is refused (2.2, F8)`, async (t) => {
    const { store, key, path } = await makeRightsStore(t, 1)
    changeStore(store.db, 'pragma wal_checkpoint(truncate)')
    const link = join(store.folder, 'link.db')
    symlinkSync(store.db, link)
    const server = await runServer(t, link, ['--cache-mib', '0'])
    const ask = (asked: string) => askPort(server.port, asked, { key })
    assert.equal((await ask(path)).status, 200)
    replace(store.db, link)
    // In a process of its own: in ours, the files that were removed are still open.
    const revoked = await runDossier(store.folder, `keys revoke test --db ${store.db}`)
    assert.equal(revoked.code, 0, revoked.err)
    checkRawFailure(await ask('/readyz'), 503)
    await until(async () => (await ask(path)).status === 503, 'requests are refused')
    const said = /was replaced while being served; restart/
    await until(() => said.test(server.printed()), 'it is said')
  })
}

test('a lock of another process blocks no request; a start waits 5 s and reports it (F11)', async (t) => {
  const { store, ask, page } = await serve(t)
  const other = new DatabaseSync(store.db)
  other.exec('begin exclusive; delete from heads')
  assert.equal((await page()).status, 200)
  assert.equal((await ask('/readyz')).status, 200)
  other.exec('rollback')
  other.close()
  const alone = await makeTempStore(t, resources)
  const copy = join(alone.folder, 'copy.db')
  await mustRun(alone.folder, `backup ${copy} --db ${store.db}`)
  const holder = new DatabaseSync(copy)
  holder.exec('pragma locking_mode = exclusive; begin exclusive; update heads set total = total')
  const { code, err } = await runDossier(alone.folder, `serve --db ${copy} --port 0`)
  holder.close()
  assert.equal(code, 1, err)
  assert.match(err, /^dossier: [^\n]*another process is writing to it; try again[^\n]*\n$/)
})

/** Attaches strace to a process, with a fault; undefined if that is not possible here. */
async function inject(t: TestContext, pid: number, fault: string) {
  if (spawnSync('strace', ['-o', '/dev/null', 'true']).status !== 0) return undefined
  const words = ['-f', '-p', String(pid), '-o', '/dev/null', '-e', `inject=${fault}`]
  const tracer = spawn('strace', words, { stdio: ['ignore', 'ignore', 'pipe'] })
  t.after(() => tracer.kill('SIGKILL'))
  let said = ''
  tracer.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
  for (let turn = 0; turn < 100 && !/attached/.test(said); turn += 1) await sleep(50)
  if (!/attached/.test(said)) return undefined
  return async () => {
    tracer.kill('SIGINT')
    await once(tracer, 'exit')
  }
}

test('disk read errors: 503, alive but not ready, and ready again when reads succeed (F12)', async (t) => {
  const { store, server, ask, page } = await serve(t)
  assert.equal((await page()).status, 200)
  const detach = await inject(t, server.pid, 'pread64:error=EIO')
  if (detach === undefined) return t.skip('needs strace, and the right to trace')
  // Recently imported data is in the log, which is not mapped.
  await store.load([{ resource: rights, company: 1, records: makeRecords(rights, 41) }])
  checkRawFailure(await page(), 503)
  checkRawFailure(await ask('/readyz'), 503)
  assert.equal((await ask('/healthz')).status, 200)
  await detach()
  await until(async () => (await ask('/readyz')).status === 200, 'it is ready')
  assert.match((await page()).body, /"total":41/)
})

test('every statement of a request uses an index and sorts nothing (F14)', async (t) => {
  const { store } = await makeRightsStore(t)
  const db = openForReading(store.db)
  t.after(() => db.close())
  const prepared: string[] = []
  const prepare = db.prepare.bind(db)
  db.prepare = (sql) => {
    prepared.push(sql)
    return prepare(sql)
  }
  createReader(db)
  // One serves metrics, not requests; the other has one row, which it has to scan.
  const isExempt = (sql: string) =>
    /from imports i join sources|from store|pragma|^(begin|commit|rollback)$/.test(sql)
  const asked = prepared.filter((sql) => !isExempt(sql))
  assert.ok(asked.length >= 9)
  const wanted =
    /^(SEARCH \w+ USING|SEARCH imports$|(CORRELATED )?SCALAR SUB|CO-ROU|SCAN (\(sub|CONST|sums))/
  for (const sql of asked) {
    const plan = prepare(`explain query plan ${sql}`).all()
    const details = plan.map(({ detail }) => String(detail))
    assert.ok(details.length > 0)
    for (const detail of details) {
      assert.match(detail, wanted, sql)
    }
  }
})

test('the SQLite of this runtime has no known bug that damages a store in WAL mode (F16)', () => {
  const version = String(process.versions['sqlite']).split('.').map(Number)
  const [major = 0, minor = 0, patch = 0] = version
  assert.ok(major * 1e6 + minor * 1e3 + patch >= 3_051_003, version.join('.'))
})
