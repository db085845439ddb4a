// A backup is made in several steps, with progress, while others commit.

import assert from 'node:assert/strict'
import { chmodSync, chownSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { resources } from '../../src/resources/index.ts'
import { openStoreInspector } from '../../src/store/open-store.ts'
import { importRows, makePlace, queryValue } from '../support/import-rows.ts'

/** An open store that is copied in several steps. */
async function makeOpen(t: TestContext) {
  const { folder, db } = makePlace(t, 'registry.db')
  const description = 'x'.repeat(60_000)
  const rows = Array.from({ length: 200 }, (_, n) => ({ id: n + 1, company_id: 7, description }))
  await importRows(db, 'jobs', rows)
  const store = await openStoreInspector(db, resources)
  t.after(() => store.close())
  return { folder, db, copy: join(folder, 'copy.db'), store }
}

test('a copy reports progress, and is a snapshot despite concurrent commits', async (t) => {
  const { db, copy, store } = await makeOpen(t)
  const writer = new DatabaseSync(db)
  const told: number[] = []
  let total = 0
  const bytes = await store.backup(copy, {
    onProgress(copied, totalBytes) {
      told.push(copied)
      total = totalBytes
      // A copy that restarted at each commit would never end.
      if (told.length > 100) throw new Error('the copy does not come to its end')
      writer.exec(`insert into sources (name) values ('another ${told.length}')`)
    },
    signal: new AbortController().signal,
  })
  writer.close()
  assert.ok(told.length > 2, `told ${told.length} times`)
  assert.deepEqual(
    told,
    told.toSorted((a, b) => a - b),
    'it never starts again',
  )
  assert.equal(bytes, total)
  const others = "select count(*) from sources where name like 'another %'"
  // The first is committed before the snapshot is taken.
  assert.deepEqual([queryValue(copy, others), queryValue(db, others)], [1, told.length])
  assert.equal(queryValue(copy, 'pragma integrity_check'), 'ok')
})

test('an aborted copy leaves nothing, and the store can be copied again', async (t) => {
  const { folder, copy, store } = await makeOpen(t)
  const stop = new AbortController()
  const copying = store.backup(copy, {
    onProgress: (copied) => copied > 0 && stop.abort('SIGINT'),
    signal: stop.signal,
  })
  await assert.rejects(copying, (reason) => reason === 'SIGINT')
  assert.ok(!readdirSync(folder).some((name) => name.startsWith('copy')))
  const { signal } = new AbortController()
  assert.ok((await store.backup(copy, { onProgress: () => undefined, signal })) > 0)
})

test('a copy whose folder is shut meanwhile is reported in one line', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('needs root, to become another user')
  const { folder, db, store } = await makeOpen(t)
  const nobody = 65_534
  const own = join(folder, 'own')
  mkdirSync(own)
  for (const path of [folder, own, db, `${db}-shm`]) chownSync(path, nobody, nobody)
  const copying = store.backup(join(own, 'copy.db'), {
    onProgress: () => chmodSync(own, 0o555),
    signal: new AbortController().signal,
  })
  process.seteuid?.(nobody)
  try {
    const says = /copy\.db: (the disk failed to read or write|cannot be written); /
    await assert.rejects(copying, says)
  } finally {
    process.seteuid?.(0)
  }
})
