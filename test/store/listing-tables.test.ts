// The seam between listings and a database: what is written is read back, by its keys.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { HeadRow, SegmentRow } from '../../src/store/listing/tables.ts'
import { makeFolder } from '../support/import-rows.ts'
import { storeAt } from '../support/store-at.ts'
import { openTables } from '../support/open-tables.ts'

const tables = await openTables(storeAt(`${makeFolder({ after })}/x.db`))

// Every value of a byte, and what is neither UTF-8 nor text of PostgreSQL.
const anyBytes = Buffer.from(Array.from({ length: 256 }, (_, n) => n))
const headOf = (companyId: number, version: number, more: Partial<HeadRow> = {}): HeadRow => ({
  ...{ companyId, version, total: 3, meta: null, largest: 40, directory: '[0]' },
  ...more,
})
const segmentOf = (companyId: number, segment: number, texts: string | null): SegmentRow => ({
  companyId,
  segment,
  entries: anyBytes,
  texts: texts === null ? null : Buffer.from(texts),
})

/** Rows with their bytes as the hexadecimal digits of them, to be compared. */
const plain = (rows: readonly (object | undefined)[]) =>
  rows.map((row) =>
    Object.fromEntries(
      Object.entries(row ?? {}).map(([name, value]: [string, unknown]) => [
        name,
        value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value,
      ]),
    ),
  )

test('a head is found at each version from its own on', async () => {
  const first = headOf(2 ** 40, 3)
  const second = headOf(2 ** 40, 5, { total: 2 ** 31 - 1, meta: '[{"type":"ž"}]', largest: 0 })
  await tables.putHeads('x', [second, first, headOf(2, 4)])
  await tables.putHeads('y', [headOf(2 ** 40, 1)])
  const at = async (version: number) => plain([await tables.head('x', 2 ** 40, version)])
  assert.deepEqual(await at(2), [{}])
  assert.deepEqual(await at(3), plain([first]))
  assert.deepEqual(await at(4), plain([first]))
  assert.deepEqual(await at(5), plain([second]))
  assert.deepEqual(await at(Number.MAX_SAFE_INTEGER), plain([second]))
  assert.deepEqual(plain(await tables.headsOf('x', [2 ** 40])), plain([first, second]))
  const companies = [2 ** 40, 2, 7]
  const heads = async (version: number) =>
    plain((await tables.heads('x', companies, version)).toSorted(byCompany))
  assert.deepEqual(await heads(4), plain([headOf(2, 4), first]))
  assert.deepEqual(
    await heads(Number.MAX_SAFE_INTEGER),
    plain([headOf(2, 4), second]),
    'only the last one of each company',
  )
})

const byCompany = (a: HeadRow, b: HeadRow) => a.companyId - b.companyId

test('a head of the same version is replaced, and others stay', async () => {
  await tables.putHeads('x', [headOf(20, 1), headOf(20, 2), headOf(21, 2)])
  const other = headOf(20, 2, { total: 9, directory: '[0,[1,2,3,4]]' })
  await tables.putHeads('x', [other])
  assert.deepEqual(
    plain(await tables.headsOf('x', [20, 21, 22])),
    plain([headOf(20, 1), other, headOf(21, 2)]),
  )
  await tables.dropHeads('x', [{ companyId: 20, version: 1 }, headOf(21, 1)])
  await tables.dropHeads('y', [headOf(21, 2)])
  assert.deepEqual(plain(await tables.headsOf('x', [20])), plain([other]))
  assert.deepEqual(plain(await tables.headsOf('x', [21])), plain([headOf(21, 2)]))
})

test('companies with a listing are walked in order, from one on', async () => {
  const heads = [headOf(33, 4), headOf(31, 1), headOf(32, 2), headOf(31, 5), headOf(2 ** 33, 1)]
  await tables.putHeads('walked', heads)
  const walk = (after: number, limit: number) => tables.companiesWith('walked', { after, limit })
  assert.deepEqual(await walk(-1, 10), [31, 32, 33, 2 ** 33])
  assert.deepEqual(await walk(31, 2), [32, 33])
  assert.equal(await tables.hasHeads('walked'), true)
  assert.equal(await tables.hasHeads('unknown'), false)
  assert.deepEqual(await tables.companiesWith('unknown', { after: -1, limit: 10 }), [])
})

test('segments come as they were written, in the order asked for', async () => {
  const rows = [
    segmentOf(1, 11, '{"id":1,"name":"Ž"}'),
    segmentOf(1, 12, ''),
    segmentOf(2, 13, null),
  ]
  await tables.putSegments(rows)
  const texts = await tables.texts(1, [12, 11])
  assert.deepEqual(
    texts.map((bytes) => Buffer.from(bytes).toString()),
    ['', '{"id":1,"name":"Ž"}'],
  )
  const entries = await tables.entries(2, [13])
  assert.deepEqual(
    entries.map((bytes) => [...bytes]),
    [[...anyBytes]],
  )
  const keys = [
    { companyId: 2, segment: 13 },
    { companyId: 1, segment: 11 },
  ]
  assert.deepEqual(plain(await tables.segments(keys, 'both')), plain([rows[2], rows[0]]))
  assert.deepEqual(
    plain(await tables.segments(keys, 'entries')),
    plain([rows[2], { ...segmentOf(1, 11, null) }]),
  )
  assert.deepEqual(await tables.segments([], 'both'), [])
  assert.deepEqual(await tables.texts(1, []), [])
})

test('many segments at once, and one of several megabytes', async () => {
  const long = 'Ž'.repeat(2_500_000)
  const many = Array.from({ length: 400 }, (_, n) => segmentOf(n % 7, 1_000 + n, `${n}`.repeat(n)))
  const rows = [...many, segmentOf(5, 2_000, long)]
  await tables.putSegments(rows)
  const asked = rows.toReversed()
  const found = await tables.segments(asked, 'both')
  assert.deepEqual(plain(found), plain(asked))
})

test('parts of texts come as bytes, in the order asked for, also several of one segment', async () => {
  await tables.putSegments([segmentOf(61, 6_001, 'aŽb,c'), segmentOf(62, 6_002, 'dé')])
  const parts = [
    { companyId: 62, segment: 6_002, from: 1, length: 2 },
    { companyId: 61, segment: 6_001, from: 5, length: 1 },
    { companyId: 61, segment: 6_001, from: 0, length: 4 },
  ]
  const read = await tables.textRanges(parts)
  assert.deepEqual(
    read.map((bytes) => Buffer.from(bytes).toString()),
    ['é', 'c', 'aŽb'],
  )
  assert.deepEqual(await tables.textRanges([]), [])
})

test('a missing segment is an error that names it', async () => {
  await tables.putSegments([segmentOf(41, 4_001, 'x'), segmentOf(42, 4_002, null)])
  const missing = (segment: number) => ({ message: `segment ${segment} of company 41 is missing` })
  await assert.rejects(async () => tables.texts(41, [4_001, 4_003]), missing(4_003))
  await assert.rejects(async () => tables.entries(41, [4_002]), missing(4_002), "another's")
  await assert.rejects(
    async () => tables.segments([{ companyId: 41, segment: 4_002 }], 'both'),
    missing(4_002),
  )
  await assert.rejects(async () => tables.texts(42, [4_002]), 'a node has no texts')
  const part = { companyId: 41, segment: 4_003, from: 0, length: 1 }
  await assert.rejects(async () => tables.textRanges([part]), missing(4_003))
  await tables.dropSegments([
    { companyId: 41, segment: 4_001 },
    { companyId: 41, segment: 4_002 },
  ])
  await assert.rejects(async () => tables.entries(41, [4_001]), missing(4_001))
  assert.equal((await tables.entries(42, [4_002])).length, 1)
})

test('the greatest number of a segment is kept', async () => {
  assert.equal(await tables.lastSegment(), 0)
  await tables.noteLastSegment(2 ** 40)
  assert.equal(await tables.lastSegment(), 2 ** 40)
})

test('the listings of a record are found by its id', async () => {
  const rows = [
    { id: 2 ** 45, companyId: 1, source: 1 },
    { id: 2 ** 45, companyId: 2 ** 40, source: 1 },
    { id: 7, companyId: 1, source: 2 },
  ]
  await tables.putIds('x', rows)
  await tables.putIds('y', [{ id: 7, companyId: 5, source: 1 }])
  const places = async (listing: string, ...ids: number[]) =>
    (await tables.whereListed(listing, ids)).toSorted(
      (a, b) => a.id - b.id || a.companyId - b.companyId,
    )
  assert.deepEqual(await places('x', 7, 8, 2 ** 45), [rows[2], rows[0], rows[1]])
  await tables.putIds('x', [{ id: 7, companyId: 1, source: 3 }])
  assert.deepEqual(await places('x', 7), [{ id: 7, companyId: 1, source: 3 }])
  assert.equal(await tables.lastId('x', 2 ** 50), 2 ** 45)
  assert.equal(await tables.lastId('x', 2 ** 45), 7)
  await tables.dropIds('x', [{ id: 2 ** 45, companyId: 1 }])
  assert.deepEqual(await places('x', 2 ** 45), [rows[1]])
  assert.deepEqual(await places('y', 7), [{ id: 7, companyId: 5, source: 1 }])
})

test('natural keys have their ids, by source', async () => {
  const odd = `a,"\\{}' Ž`
  assert.equal(await tables.lastId('keyed', 2 ** 50), 0)
  await tables.putKeys('keyed', 1, [
    { key: odd, id: 2 ** 41 },
    { key: 'b', id: 8 },
  ])
  await tables.putKeys('keyed', 2, [{ key: 'b', id: 9 }])
  const ids = await tables.keyIds('keyed', 1, ['b', odd, 'B', ''])
  assert.deepEqual(new Map(ids), new Map([['b', 8]]).set(odd, 2 ** 41))
  assert.deepEqual([...(await tables.keyIds('other', 1, ['b']))], [])
  const keys = await tables.recordKeys('keyed', [9, 8, 7])
  assert.deepEqual(
    keys.toSorted((a, b) => a.id - b.id),
    [
      { id: 8, source: 1, key: 'b' },
      { id: 9, source: 2, key: 'b' },
    ],
  )
  assert.equal(await tables.lastId('keyed', 2 ** 50), 2 ** 41)
})

test('companies are found by their names and ids, and renamed', async () => {
  const named = { id: 2 ** 42, jurisdiction: 'ČZ', identifier: 'a"b\\', version: 3 }
  const nameless = { id: 6, jurisdiction: null, identifier: null, version: 4 }
  await tables.putCompanies([named, nameless])
  assert.deepEqual(await tables.companiesByName([['ČZ', 'a"b\\']]), [named])
  assert.deepEqual(await tables.companiesByName([['a"b\\', 'ČZ']]), [])
  assert.deepEqual(await tables.companiesById([6, 5]), [nameless])
  await tables.putCompanies([
    { ...nameless, jurisdiction: 'XX', identifier: '6', version: 9 },
    { ...named, jurisdiction: null, identifier: null },
  ])
  const known = { ...nameless, jurisdiction: 'XX', identifier: '6' }
  assert.deepEqual(await tables.companiesByName([['XX', '6']]), [known], 'only the name is written')
  assert.deepEqual(await tables.companiesByName([['ČZ', 'a"b\\']]), [])
  assert.equal(await tables.lastCompanyId(2 ** 50), 2 ** 42)
  assert.equal(await tables.lastCompanyId(2 ** 42), 6)
})

test('former companies are found by their former names', async () => {
  await tables.putCompanies([
    { id: 51, jurisdiction: 'XX', identifier: '51', version: 1 },
    { id: 52, jurisdiction: 'XX', identifier: '52', version: 1 },
  ])
  const past = [
    { companyId: 51, until: 2, version: 1, jurisdiction: null, identifier: null },
    { companyId: 51, until: 7, version: 2, jurisdiction: 'XX', identifier: '51' },
    { companyId: 52, until: 3, version: 1, jurisdiction: 'XX', identifier: 'former' },
  ]
  await tables.putPastCompanies(past.toReversed())
  await tables.dropCompanies([51])
  assert.deepEqual(await tables.companiesById([51]), [])
  assert.deepEqual(await tables.companiesByName([['XX', '51']]), [])
  const forgotten = await tables.forgottenByName([
    ['XX', '51'],
    ['XX', 'former'],
  ])
  assert.deepEqual(forgotten, [past[1]], 'a company that is known is none')
  assert.deepEqual(await tables.pastCompanies([52, 51, 9]), past)
  await tables.putCompanies([{ id: 53, jurisdiction: 'XX', identifier: '51', version: 8 }])
})
