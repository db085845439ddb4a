// The write-ahead log (`registry.db-wal`) does not grow with imports, even during reads.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { resources } from '../../src/resources/index.ts'
import { openStoreInspector } from '../../src/store/open-store.ts'
import { enterWal } from '../../src/store/sqlite/wal.ts'
import { importRows, makeFolder, queryValue } from '../support/import-rows.ts'
import { makeRightsStore } from '../support/rights-store.ts'
import { askPort, runServer } from '../support/run-server.ts'
import { keepOpen } from '../support/store-state.ts'
import { patienceMs } from '../support/until.ts'

function rowsOf(description: string, count = 500): object[] {
  return Array.from({ length: count }, (_, n) => ({ id: n + 1, company_id: 7, description }))
}

function logBytes(db: string): number {
  return statSync(`${db}-wal`).size
}

test('an import empties the log while a server is constantly reading', async (t) => {
  const { store, key, path } = await makeRightsStore(t)
  const server = await runServer(t, store.db, ['--cache-mib', '0'])
  const state = { isOver: false }
  const client = async () => {
    while (!state.isOver) {
      assert.equal((await askPort(server.port, path, { key })).status, 200)
    }
  }
  const clients = Promise.all([client(), client(), client()])
  for (const description of ['first', 'second', 'third']) {
    await importRows(store.db, 'jobs', rowsOf(description))
    assert.equal(logBytes(store.db), 0, description)
  }
  state.isOver = true
  await clients
})

test('an import that changes nothing leaves nothing in the log', async (t) => {
  const db = join(makeFolder(t), 'registry.db')
  await importRows(db, 'jobs', rowsOf('first'))
  const server = keepOpen(t, db)
  assert.equal(server.prepare('select count(*) as n from jobs_view').get()?.['n'], 500)
  // More than the cache of a connection.
  await importRows(db, 'jobs', rowsOf('x'.repeat(20_000), 2_000), { isDryRun: true })
  assert.equal(logBytes(db), 0)
  assert.equal(server.prepare('select count(*) as n from jobs_view').get()?.['n'], 500)
})

test('a reader of an earlier state blocks no import; the next import empties the log', async (t) => {
  const db = join(makeFolder(t), 'registry.db')
  await importRows(db, 'jobs', rowsOf('first'))
  const reader = keepOpen(t, db)
  const latest = reader.prepare(
    "select count(*) as n from jobs_records where record like '%second%'",
  )
  reader.exec('begin')
  assert.equal(latest.get()?.['n'], 0)
  await importRows(db, 'jobs', rowsOf('second'))
  assert.ok(logBytes(db) > 0)
  assert.equal(latest.get()?.['n'], 0, 'it still reads what it began with')
  reader.exec('commit')
  assert.equal(latest.get()?.['n'], 500)
  await importRows(db, 'jobs', rowsOf('third'))
  assert.equal(logBytes(db), 0)
  assert.equal(queryValue(db, "select count(*) from jobs_records where record like '%third%'"), 500)
})

/** Another process, as far as SQLite is concerned: it holds the lock of a file for a while. */
const holder = `
  const { parentPort, workerData } = require('node:worker_threads')
  const { DatabaseSync } = require('node:sqlite')
  const db = new DatabaseSync(workerData)
  db.exec('begin immediate')
  parentPort.postMessage('held')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
  db.close()`

test('a file that another process is making is switched to a log once that has ended', async (t) => {
  const path = join(makeFolder(t), 'registry.db')
  await once(new Worker(holder, { eval: true, workerData: path }), 'message')
  using db = new DatabaseSync(path)
  // SQLite itself does not wait here.
  enterWal(db, patienceMs)
  assert.equal(queryValue(path, 'pragma journal_mode'), 'wal')
})

test('a store that is moved while a command reads it is not made anew', async (t) => {
  const folder = makeFolder(t)
  const db = join(folder, 'x.db')
  await importRows(db, 'rights', rowsOf('moved'))
  const store = await openStoreInspector(db, resources)
  renameSync(db, join(folder, 'moved.db'))
  await store.close()
  assert.equal(existsSync(db), false)
})
