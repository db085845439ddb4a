// Reverts in listings of many segments that several sources share.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { resources } from '../../src/resources/index.ts'
import { openStoreReader } from '../../src/store/open-store.ts'
import type { Resource } from '../../src/resources/resource.ts'
import { importRows, makeFolder } from '../support/import-rows.ts'
import { readListing } from '../support/read-listing.ts'
import { storeAt } from '../support/store-at.ts'
import { checkSound } from '../support/verify-store.ts'
import { one, revert } from '../support/write-store.ts'

/** How many records each source has: together more segments than one directory names. */
const count = 6_000

const rows = (source: number, state: string, from = 0, to = count) =>
  Array.from({ length: to - from }, (_, n) => {
    const id = 1 + 2 * (from + n) + source
    const day = new Date(Date.UTC(2020, 0, 1 + ((id * 7) % 900))).toISOString().slice(0, 10)
    const before = `${state} ${'of many words '.repeat(8)} ${id}`
    return { id, company_id: 7, date: day, attr: `a${id % 5}`, before }
  })

async function wholeListing(db: string, resource: Resource): Promise<readonly string[]> {
  const store = await openStoreReader(storeAt(db))
  const pages: string[] = []
  try {
    for (let offset = 0; ; offset += 1_000) {
      const page = await readListing(store, resource, 7, { offset, limit: 1_000 })
      if (page === undefined || page.text === '') return pages
      pages.push(page.text, page.meta ?? '')
    }
  } finally {
    await store.close()
  }
}

test('a long listing that two sources have is again what it would be without an import', async (t) => {
  const events = resources.find(({ metaOf }) => metaOf !== undefined) ?? assert.fail()
  const [db, other] = ['a.db', 'b.db'].map((name) => join(makeFolder(t), name))
  assert.ok(db !== undefined && other !== undefined)
  const load = (to: string, source: number, given: object[], isSnapshot = false) =>
    importRows(to, events.name, given, { source: `s${source}`, isSnapshot })
  // The second import of source 0 changes a third, removes a third, and adds some.
  const later = [...rows(0, 'new', 0, count / 3), ...rows(0, 'old', (2 * count) / 3, count + 100)]
  for (const [at, isWhole] of [
    [db, true],
    [other, false],
  ] as const) {
    await load(at, 0, rows(0, 'old'))
    await load(at, 1, rows(1, 'old'))
    if (isWhole) await load(at, 0, later, true)
    await load(at, 1, rows(1, 'new', count / 2), true)
  }
  const after = await wholeListing(db, events)
  const { reverted } = await revert(db, one(3))
  const [{ restored, updated, removed } = assert.fail()] = reverted
  assert.deepEqual([restored, updated, removed], [count / 3, count / 3, 100])
  assert.deepEqual(await wholeListing(db, events), await wholeListing(other, events))
  await checkSound(db)
  await revert(db, one(5))
  assert.deepEqual(await wholeListing(db, events), after)
  await checkSound(db)
})
