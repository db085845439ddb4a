// A page is at most 16 MiB and a record at most 1 MiB (contract 3.10).

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { rights } from '../../src/resources/rights.ts'
import { importRows, makeFolder, queryValue } from '../support/import-rows.ts'
import { checkFailure, makeApp, memberOf, pathOf } from '../support/make-app.ts'
import type { WireRecord } from '../support/make-record.ts'

const mib = 1_048_576
const textBytes = 65_536

/** A right whose stored JSON has this many bytes. */
function rightOf(id: number, bytes: number): Record<string, unknown> {
  const fields = Object.fromEntries(Object.keys(rights.fields).map((name) => [name, null]))
  const right = (holders: readonly string[]) => ({ ...fields, id, holders })
  const missing = () => bytes - JSON.stringify(right(holders)).length
  const holders: string[] = []
  while (missing() > textBytes + 3) holders.push('x'.repeat(textBytes))
  // Two, since one text may not be long enough.
  holders.push('x'.repeat(Math.floor((missing() - 3) / 2)))
  holders.push('x'.repeat(missing() - 3))
  assert.equal(JSON.stringify(right(holders)).length, bytes)
  return right(holders)
}

const count = 24
const bytes = 900_000
// 16 MiB hold 18 of them.
const greatest = 18

const { ask, store } = await makeApp({ after })
const load = (company: number, records: readonly object[]) =>
  store.load([{ resource: rights, company, records: records as WireRecord[] }])
await load(
  1,
  Array.from({ length: count }, (_, n) => rightOf(n + 1, bytes)),
)
await load(2, [rightOf(99, 300)])
const path = pathOf(rights, 1)

test('a record of 1 MiB is imported, a larger one refused (3.10)', async (t) => {
  const db = join(makeFolder(t), 'dossier.db')
  const rows = [rightOf(1, mib), rightOf(2, mib + 1), rightOf(3, 2 * mib)]
  const report = await importRows(
    db,
    'rights',
    rows.map((row) => ({ company_id: 7, ...row })),
    { onRejected: () => undefined },
  )
  const told = report.problems.map(({ number, reason }) => [number, reason])
  const expected = [2, 3].map((number) => [number, 'is longer than 1 MiB as JSON'])
  assert.deepEqual(told, expected)
  const longest = 'select max(octet_length(cast(record as text))) from rights_records'
  assert.equal(queryValue(db, longest), mib)
})

test('a page of more than 16 MiB is a 400 that names a limit that fits (3.10)', async () => {
  const message = `The page would be larger than 16 MiB; ask for it with a limit of ${greatest} or less`
  for (const query of ['', '?limit=1000', `?limit=${greatest + 1}`, '?jurisdiction=']) {
    checkFailure(await ask(path + query), 400, message)
    const head = await ask(path + query, { method: 'HEAD' })
    assert.deepEqual([head.status, head.bytes.length], [400, 0])
  }
  for (const filter of ['', '&jurisdiction=']) {
    const ids: unknown[] = []
    for (const page of [1, 2]) {
      const answer = await ask(`${path}?page=${page}&limit=${greatest}${filter}`)
      assert.equal(answer.status, 200)
      assert.ok(answer.bytes.length <= 16 * mib)
      ids.push(...(memberOf(answer, 'rights') as { id: unknown }[]).map(({ id }) => id))
    }
    const all = Array.from({ length: count }, (_, n) => n + 1)
    assert.deepEqual(ids, all)
  }
})

test('a page that fits is served, whatever its limit and listing (3.10)', async () => {
  for (const [query, records] of [
    ['?page=2&limit=19', 5],
    ['?page=2&limit=1000', 0],
    ['?page=9007199254740991&limit=1000', 0],
  ] as const) {
    const answer = await ask(path + query)
    assert.equal(answer.status, 200, query)
    assert.equal((memberOf(answer, 'rights') as unknown[]).length, records)
    assert.equal(memberOf(answer, 'total'), count)
  }
  assert.equal((await ask(`${pathOf(rights, 2)}?limit=1000`)).status, 200)
})

test('in a listing that grows, earlier large records still count (3.10)', async (t) => {
  const { ask, store } = await makeApp(t)
  const load = (records: readonly object[]) =>
    store.load([{ resource: rights, company: 1, records: records as WireRecord[] }])
  await load(Array.from({ length: 17 }, (_, n) => rightOf(n + 1, mib)))
  await load([{ id: 1, name: 'small' }])
  checkFailure(await ask(path), 400, /with a limit of 15 or less$/)
  await load([2, 3].map((id) => ({ id, name: 'small' })))
  assert.equal((await ask(path)).status, 200)
})

test('a company of more than 16 MiB is a 400 that names another way (3.10)', async (t) => {
  const { ask, store } = await makeApp(t)
  const texts = Array.from({ length: 15 }, (_, n) => [`text ${n}`, 'x'.repeat(textBytes)] as const)
  const company = { jurisdiction: 'GB', identifier: '1', ...Object.fromEntries(texts) }
  for (let n = 0; n < 18; n++) {
    await store.importRows('companies', [company], { source: `source ${n}` })
  }
  const says = /^Company \d+ has attributes of more than 16 MiB; ask for its listings one by one$/
  checkFailure(await ask('/api/v1/companies/GB:1'), 400, says)
})
