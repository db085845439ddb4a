// Reads of a file that see one state, over a connection that all requests share.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { resources } from '../../src/resources/index.ts'
import type { Snapshot } from '../../src/store/sql/database.ts'
import { openForWriting } from '../../src/store/sqlite/open.ts'
import { createReads, createSnapshots } from '../../src/store/sqlite/reads.ts'
import { makeFolder } from '../support/import-rows.ts'

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
  const snapshots = createSnapshots(reader, createReads(reader), () => undefined)
  return { writer, reader, read, write, ...snapshots }
}

test('work that waits between its queries sees one state, or is done again', async (t) => {
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

test('what is read elsewhere after the last query counts as work, too', async (t) => {
  const { inSnapshot, read, write, writer } = makeNumber(t)
  let attempts = 0
  const seen = await inSnapshot(async (snapshot) => {
    const before = await read(snapshot)
    await nextTurn()
    if ((attempts += 1) === 1) write(2)
    return [before, writer.prepare('select n from t').get()?.['n']]
  })
  assert.deepEqual([seen, attempts], [[2, 2], 2])
})

test('no transaction is open while work waits, so that the log can be emptied', async (t) => {
  const { inSnapshot, read, reader, writer, write } = makeNumber(t)
  write(2)
  let emptied: unknown
  await inSnapshot(async (snapshot) => {
    await read(snapshot)
    assert.equal(reader.isTransaction, true)
    await nextTurn()
    assert.equal(reader.isTransaction, false)
    // An emptied log counts as a change, so the work is done again.
    emptied ??= writer.prepare('pragma wal_checkpoint(truncate)').get()?.['busy']
  })
  assert.equal(emptied, 0)
})

test('a read at once sees the state of the work that it interrupts', async (t) => {
  const { inSnapshot, now, reader, read, write } = makeNumber(t)
  const one = reader.prepare('select n from t')
  await inSnapshot(async (snapshot) => {
    assert.equal(await read(snapshot), 1)
    write(2)
    assert.equal(
      now(() => one.get()?.['n'] as number),
      1,
    )
  }).catch(() => undefined)
  await nextTurn()
  assert.equal(
    now(() => one.get()?.['n'] as number),
    2,
  )
  await nextTurn()
  assert.equal(reader.isTransaction, false)
})

test('work is given up where the store changes again and again', async (t) => {
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
