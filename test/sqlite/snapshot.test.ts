// Reads of a file that see one state, over a connection that all requests share.

import assert from 'node:assert/strict'
import { stat } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { resources } from '../../src/resources/index.ts'
import type { Snapshot } from '../../src/store/sql/database.ts'
import { openForWriting } from '../../src/store/sqlite/open.ts'
import { rights } from '../../src/resources/rights.ts'
import { createReads } from '../../src/store/sqlite/reads.ts'
import { importRows, makeFolder, makePlace } from '../support/import-rows.ts'
import { openReader } from '../support/open-reader.ts'

/** A file with one number in it, read over one connection and written over another. */
function makeNumber(t: TestContext) {
  const file = join(makeFolder(t), 'number.db')
  const writer = openForWriting(file, resources)
  writer.exec('create table t (n); insert into t values (1)')
  const reader = new DatabaseSync(file, { readOnly: true })
  t.after(() => {
    reader.close()
    writer.close()
  })
  const read = async (snapshot: Snapshot) => {
    const [row] = await snapshot.rows<[n: number]>('select n from t')
    return row?.[0]
  }
  const write = (n: number) => writer.exec(`update t set n = ${n}`)
  const { inSnapshot } = createReads(reader, () => undefined)
  return { read, write, inSnapshot }
}

test('work that waits between its queries sees one state, or is repeated', async (t) => {
  const { inSnapshot, read, write } = makeNumber(t)
  let attempts = 0
  const seen = await inSnapshot(async (snapshot) => {
    attempts += 1
    const before = await read(snapshot)
    await nextTurn()
    if (attempts === 1) write(2)
    return [before, await read(snapshot)]
  })
  assert.deepEqual([seen, attempts], [[2, 2], 2])
})

test('work is given up if the store changes again and again', async (t) => {
  const { inSnapshot, read, write } = makeNumber(t)
  let n = 1
  const work = inSnapshot(async (snapshot) => {
    await read(snapshot)
    await nextTurn()
    write((n += 1))
    return read(snapshot)
  })
  await assert.rejects(work, /changed during each of 5 attempts/)
})

test('a request that comes after a commit sees it, whatever work goes on', async (t) => {
  const { inSnapshot, read, write } = makeNumber(t)
  await nextTurn()
  const before = inSnapshot(read)
  // It arrives before the next immediates.
  const request = new Promise((resolve) => stat('.', resolve)).then(() => inSnapshot(read))
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50)
  write(2)
  assert.deepEqual(await Promise.all([before, request]), [1, 2])
})

test('a day is looked up in one state, even if a restore takes versions back meanwhile', async (t) => {
  const { db } = makePlace(t, 'registry.db')
  for (const name of ['jobs', 'rights']) {
    await importRows(db, name, [{ id: 1, company_id: 7 }], { asOf: '2026-11-01' })
  }
  const reader = await openReader(t, db)
  const found = reader.findVersion(rights, { asOf: '2026-10-31' })
  using restored = new DatabaseSync(db)
  restored.exec('delete from imports where version > 1')
  assert.deepEqual(await found, { first: '2026-11-01' })
})
