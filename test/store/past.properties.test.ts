// Each import is a version, and replaced data is kept: any listing at any earlier version can be
// rebuilt from present and past, byte for byte.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { resources } from '../../src/resources/index.ts'
import type { Resource } from '../../src/resources/resource.ts'
import { leavesOf } from '../../src/store/listing/open-listings.ts'
import { openStoreWriter } from '../../src/store/open-store.ts'
import { importRows, query } from '../support/import-rows.ts'
import { expectedBody, makeApp, pathOf, type TestApp } from '../support/make-app.ts'
import type { WireRecord } from '../support/make-record.ts'
import { readStatements, useTables } from '../support/read-statements.ts'
import { runsOf, storeAt } from '../support/store-at.ts'
import { verifyStore } from '../support/verify-store.ts'

const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)
const companies = [1, 2, 3]
const alone = { onWait: () => assert.fail('nobody else writes') }
const listed = resources.filter(({ name }) => ['rights', 'events'].includes(name))

/** The path that names its store, on any kind of store. */
function pathOfStore({ store }: TestApp): string {
  return join(store.folder, 'registry.db')
}

interface Step {
  readonly target: string
  readonly source: 'a' | 'b'
  readonly isSnapshot: boolean
  readonly rows: readonly object[]
}

const step: fc.Arbitrary<Step> = fc
  .record({
    target: fc.constantFrom('rights', 'events'),
    source: fc.constantFrom('a' as const, 'b' as const),
    isSnapshot: fc.boolean(),
    given: fc.uniqueArray(
      fc.record({
        id: fc.integer({ min: 1, max: 9 }),
        company: fc.constantFrom(...companies),
        value: fc.constantFrom('x', 'y', 'z'),
        day: fc.constantFrom('2020-01-01', '2020-01-02', '2020-01-03'),
      }),
      { minLength: 1, maxLength: 8, selector: ({ id, company }) => `${id} ${company}` },
    ),
  })
  .map(({ target, source, isSnapshot, given }) => {
    // One identity has one content in all its listings.
    const first = new Map(given.toReversed().map((one) => [one.id, one]))
    const rows = given.map(({ id, company }) => {
      const { value = 'x', day = '' } = first.get(id) ?? {}
      const content = target === 'rights' ? { name: value } : { date: day, attr: value }
      return { id: source === 'a' ? id : id + 100, company_id: company, ...content }
    })
    return { target, source, isSnapshot, rows }
  })

/** A listing at a version, with the lineage of its last change until then. */
async function rebuild(db: string, resource: Resource, company: number, version: number) {
  const found = await useTables(db, async (tables) => {
    const head = await tables.head(resource.name, company, version)
    const leaves = head === undefined ? [] : await leavesOf(tables, head)
    const segments = leaves.map(({ segment }) => segment)
    return { changed: head?.version, texts: await tables.texts(company, segments) }
  })
  const all = found.texts.flatMap(
    (text) => JSON.parse(`[${Buffer.from(text).toString()}]`) as WireRecord[],
  )
  const [changed] = query(db, `select lineage from imports where version = ${found.changed ?? 0}`)
  return { all, lineage: changed?.['lineage'] }
}

type Served = Map<string, { readonly text: string; readonly tag: string }>

async function serve({ ask }: TestApp): Promise<Served> {
  const served: Served = new Map()
  for (const resource of listed) {
    for (const company of companies) {
      const path = pathOf(resource, company)
      const { status, text, headers } = await ask(path)
      if (status === 200) served.set(path, { text, tag: headers['etag'] ?? '' })
    }
  }
  return served
}

async function checkVersion(
  db: string,
  version: number,
  served: Served | undefined,
): Promise<void> {
  assert.ok(served)
  for (const resource of listed) {
    for (const company of companies) {
      const then = served.get(pathOf(resource, company))
      const listing = await rebuild(db, resource, company, version)
      if (then === undefined) assert.deepEqual(listing.all, [])
      else {
        assert.equal(expectedBody({ resource, all: listing.all }), then.text)
        // A listing that has always been empty has the lineage of its company.
        const lineage = String(listing.lineage ?? '[0-9a-f]{12}')
        assert.match(then.tag, new RegExp(`^W/"${lineage}/api/v1/companies/[^"]*"$`))
      }
    }
  }
}

async function checkSound(db: string): Promise<void> {
  assert.deepEqual((await verifyStore(storeAt(db))).faults, [])
}

test(`every listing at every version can be rebuilt byte for byte (seed ${seed})`, async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
      const app = await makeApp(t)
      const db = pathOfStore(app)
      const versions = [await serve(app)]
      for (const { target, source, isSnapshot, rows } of steps) {
        const { version } = await importRows(db, target, rows, { source, isSnapshot })
        assert.equal(version, versions.length)
        versions.push(await serve(app))
      }
      for (const [version, served] of versions.entries()) await checkVersion(db, version, served)
      await checkSound(db)
      await app.app.close()
    }),
    { numRuns: runsOf(30), seed },
  )
})

test('pruning keeps recent versions, and removes the whole past if none is recent', async (t) => {
  const app = await makeApp(t)
  const db = pathOfStore(app)
  const versions = [await serve(app)]
  for (const value of ['x', 'y', 'z', 'w']) {
    const rows = companies.map((company) => ({ id: company, company_id: company, name: value }))
    await importRows(db, 'rights', value === 'z' ? rows.slice(1) : rows, { isSnapshot: true })
    versions.push(await serve(app))
  }
  const writer = await openStoreWriter(storeAt(db), resources)
  const untouched = await writer.prune(0, alone)
  assert.equal(untouched.earliestVersion, 0)
  assert.equal(untouched.forgotten['rights'], 0)
  const all = await writer.prune(Date.now() + 1, alone)
  await writer.close()
  assert.equal(all.earliestVersion, 4)
  assert.equal(query(db, 'select 1 from heads').length, companies.length)
  await checkVersion(db, 4, versions[4])
  await checkSound(db)
})

test('pruning a store of many versions removes exactly the older past', async (t) => {
  const app = await makeApp(t)
  const db = pathOfStore(app)
  const versions = [await serve(app)]
  for (const value of ['x', 'y', 'z', 'w']) {
    await importRows(db, 'rights', [{ id: 1, company_id: 1, name: value }])
    versions.push(await serve(app))
    // Two imports within a millisecond would have the same time.
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  const [third] = query(db, 'select committed_at from imports where version = 3')
  const writer = await openStoreWriter(storeAt(db), resources)
  const pruned = await writer.prune(Number(third?.['committed_at']), alone)
  await writer.close()
  assert.equal(pruned.earliestVersion, 2)
  assert.deepEqual(pruned.forgotten['rights'], 1)
  for (const version of [2, 3, 4]) await checkVersion(db, version, versions[version])
  await assert.rejects(checkVersion(db, 1, versions[1]))
})

test('the state of a company before it had an identifier is kept in the past', async (t) => {
  const db = pathOfStore(await makeApp(t))
  await importRows(db, 'rights', [{ id: 1, company_id: 7, name: 'x' }])
  await importRows(db, 'companies', [{ id: 7, jurisdiction: 'XX', identifier: 'seven', town: 'A' }])
  await importRows(db, 'companies', [{ id: 7, jurisdiction: 'XX', identifier: 'seven', town: 'B' }])
  assert.deepEqual(
    query(db, 'select * from companies_past').map((row) => ({ ...row })),
    [{ company_id: 7, until: 2, version: 1, jurisdiction: null, identifier: null }],
  )
  const [former] = await readStatements(db, 2)
  assert.deepEqual(former, {
    ...{ companyId: 7, source: 1, version: 2, isPresent: true, asOf: null },
    attributes: '{"town":"A"}',
  })
})
