// The names of companies and the index of their words, as what sources say of them changes.

import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import fc from 'fast-check'
import { valuesOf } from '../../src/store/companies/attributes.ts'
import { createNameKeeper } from '../../src/store/companies/keep-names.ts'
import type { ListedRecord } from '../../src/store/listing/segment.ts'
import { wordsOfName } from '../../src/store/name-words.ts'
import type { RegistryDatabase } from '../../src/store/sql/database.ts'
import { idsOf } from '../../src/store/sql/postings.ts'
import { registryOf } from '../../src/store/sqlite/database.ts'
import { createTables } from '../../src/store/sqlite/schema.ts'
import { runsOf } from '../support/store-at.ts'

function makeDatabase(): RegistryDatabase {
  const db = new DatabaseSync(':memory:')
  db.exec(createTables('test'))
  db.exec(`insert into sources values (1, 'a', null), (2, 'b', '[[1,"title"]]')`)
  return registryOf(db)
}

interface Said {
  readonly source: number
  readonly version: number
  readonly isPresent: boolean
  readonly attributes: object
}

const record = ({ source, version, isPresent, attributes }: Said): ListedRecord => ({
  ...{ id: source, sort: 0, source, digest: new Uint8Array(12) },
  values: valuesOf({ version, asOf: null, isPresent }),
  text: Buffer.from(JSON.stringify(attributes)),
})

function namesIn(db: RegistryDatabase): Map<number, string> {
  const rows = db.rows('select company_id, name from names') as Record<string, unknown>[]
  return new Map(rows.map((row) => [Number(row['company_id']), String(row['name'])]))
}

function wordsIn(db: RegistryDatabase): Map<number, string[]> {
  const words = new Map<number, string[]>()
  const rows = db.rows('select word, first, distances from words order by word') as Record<
    string,
    unknown
  >[]
  for (const { word, first, distances } of rows) {
    for (const id of idsOf([{ first: Number(first), distances: distances as Uint8Array }])) {
      words.set(id, [...(words.get(id) ?? []), String(word)])
    }
  }
  return words
}

function checkWords(db: RegistryDatabase, names: ReadonlyMap<number, string>): void {
  const expected = [...names]
    .map(([id, name]) => [id, wordsOfName(name).toSorted()] as const)
    .filter(([, words]) => words.length > 0)
  const found = [...wordsIn(db)].map(([id, words]) => [id, words.toSorted()] as const)
  const byId = (a: readonly [number, unknown], b: readonly [number, unknown]) => a[0] - b[0]
  assert.deepEqual(found.sort(byId), expected.sort(byId))
}

test('a name is what a source that has the company said last, else one that had it (8.3)', async () => {
  const cases: readonly (readonly [string | undefined, ...Said[]])[] = [
    ['A', { source: 1, version: 1, isPresent: true, attributes: { name: 'A' } }],
    ['A', { source: 1, version: 1, isPresent: false, attributes: { name: 'A' } }],
    [undefined, { source: 1, version: 1, isPresent: true, attributes: { name: 7 } }],
    [undefined, { source: 1, version: 1, isPresent: true, attributes: { title: 'A' } }],
    [
      'B',
      { source: 1, version: 1, isPresent: true, attributes: { name: 'A' } },
      { source: 2, version: 2, isPresent: true, attributes: { name: 'C', title: 'B' } },
    ],
    [
      'A',
      { source: 1, version: 1, isPresent: true, attributes: { name: 'A' } },
      { source: 2, version: 2, isPresent: false, attributes: { title: 'B' } },
    ],
    [
      'A',
      { source: 1, version: 1, isPresent: false, attributes: { name: 'A' } },
      { source: 2, version: 2, isPresent: true, attributes: {} },
    ],
  ]
  const db = makeDatabase()
  const keeper = await createNameKeeper(db)
  for (const [id, [, ...said]] of cases.entries()) {
    await keeper.change(id + 1, undefined, said.map(record))
  }
  await keeper.finish()
  const expected = cases.map(([name], id) => [id + 1, name] as const)
  const named = expected.filter(([, name]) => name !== undefined) as [number, string][]
  assert.deepEqual(namesIn(db), new Map(named))
})

test('whatever changes, names and words are those of what was said last', async () => {
  const name = fc.constantFrom('North Wind', 'north', 'Wind Ltd', 'é', '', undefined)
  const change = fc.record({ id: fc.nat(5), name })
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(change, { maxLength: 8 }), { maxLength: 5 }),
      async (all) => {
        const db = makeDatabase()
        const said = new Map<number, readonly ListedRecord[]>()
        const expected = new Map<number, string>()
        for (const [at, changes] of all.entries()) {
          const keeper = await createNameKeeper(db)
          const before = new Map(expected)
          for (const { id, name: now } of changes) {
            const attributes = now === undefined ? {} : { name: now }
            const records = [record({ source: 1, version: at + 1, isPresent: true, attributes })]
            await keeper.change(id, said.get(id), records)
            said.set(id, records)
            if (now === undefined) expected.delete(id)
            else expected.set(id, now)
          }
          const differing = [...said.keys()].filter((id) => before.get(id) !== expected.get(id))
          assert.equal(await keeper.finish(), differing.length)
          assert.deepEqual(namesIn(db), expected)
          checkWords(db, expected)
        }
      },
    ),
    { numRuns: runsOf(100) },
  )
})

test('the names of many companies are written in parts', async () => {
  const db = makeDatabase()
  const expected = new Map<number, string>()
  for (const version of [1, 2]) {
    const keeper = await createNameKeeper(db)
    for (let id = 1; id <= 5_000; id++) {
      const name = `Company ${(id * version) % 97} of ${id}`
      const former = version === 1 ? undefined : [said(1, `Company ${id % 97} of ${id}`)]
      await keeper.change(id, former, [said(version, name)])
      expected.set(id, name)
    }
    await keeper.finish()
    assert.deepEqual(namesIn(db), expected)
    checkWords(db, expected)
  }
})

const said = (version: number, name: string) =>
  record({ source: 1, version, isPresent: true, attributes: { name } })
