// Faults of a store: SQL that every kind of store understands, or changes of its segments. The
// store has had the imports of changed-registry.ts.

import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { changeResource, resources } from '../../src/resources/index.ts'
import { leavesOf } from '../../src/store/listing/open-listings.ts'
import {
  decodeEntries,
  encodeSegment,
  type ListedRecord,
  recordsOf,
} from '../../src/store/listing/segment.ts'
import { attributesShape, shapeOf } from '../../src/store/listing/shape.ts'
import type { HeadRow, ListingTables, SegmentRow } from '../../src/store/listing/tables.ts'
import { isServerStore } from '../../src/config/setting-kinds.ts'
import { withSession } from '../../src/store/postgres/connect.ts'
import { registryOf as registryOnServer } from '../../src/store/postgres/tables.ts'
import { registryOf } from '../../src/store/sqlite/database.ts'
import { onCitus, storeAt } from './store-at.ts'
import { changeStore } from './store-state.ts'

/** A fault of a store, and how it is reported, which is its title. */
export interface StoreFault {
  readonly title: string
  readonly make: (db: string) => Promise<void>
  readonly told: RegExp
}

const byTables = (change: (tables: ListingTables) => Promise<void>, told: RegExp): StoreFault => ({
  title: told.source,
  make: (db) => useTables(db, change),
  told,
})

/** The first segment of a listing of the first company, in its last version or the one before. */
interface Changed {
  readonly listing: string
  readonly isFormer?: boolean
}

/** Writes the records of a segment anew, so that its bytes are in order. */
const byRecords = (
  changed: Changed,
  change: (records: ListedRecord[]) => readonly ListedRecord[],
  told: RegExp,
): StoreFault =>
  byTables(async (tables) => {
    const { segment } = await openSegment(tables, changed)
    const shape = shapeNamed(changed.listing)
    const index = decodeEntries(shape, segment.entries)
    const records = [...recordsOf(index, segment.texts ?? new Uint8Array())]
    await replace(tables, { ...segment, ...encodeSegment(shape, change(records)) })
  }, told)

/** Writes the directory of a head anew; with a node, under a number of its own. */
const byDirectory = (
  directoryOf: (segment: Pick<SegmentRow, 'segment'>, head: HeadRow) => string,
  told: RegExp,
  nodeOf?: (head: HeadRow) => string,
): StoreFault =>
  byTables(async (tables) => {
    const { head, segment } = await openSegment(tables, { listing: rights })
    const node = { ...segment, segment: segment.segment + 1_000, texts: null }
    const nodes = nodeOf === undefined ? [] : [{ ...node, entries: Buffer.from(nodeOf(head)) }]
    await tables.dropHeads(rights, [head])
    await tables.putHeads(rights, [{ ...head, directory: directoryOf(node, head) }], nodes)
  }, told)

/** Changes the text of the first record of a segment. */
const byText = (changed: Changed, change: [string, string], told: RegExp) =>
  byRecords(
    changed,
    ([first, ...others]) => {
      assert.ok(first)
      const text = Buffer.from(first.text).toString()
      assert.ok(text.includes(change[0]))
      return [{ ...first, text: Buffer.from(text.replace(...change)) }, ...others]
    },
    told,
  )

const byFirst = (changed: Changed, change: Partial<ListedRecord>, told: RegExp) =>
  byRecords(
    changed,
    ([first, ...others]) => (first === undefined ? [] : [{ ...first, ...change }, ...others]),
    told,
  )

const [rights, events, companies] = ['rights', changeResource.name, attributesShape.listing]

/** What SQL makes of a store, and how that is reported. */
const bySql: Readonly<Record<string, RegExp>> = {
  "update heads set total = 7 where listing = 'rights'":
    /^rights of company 1000000000001, version 4: the head has a total of 7, its segments have 1 /m,
  "delete from heads where listing = 'rights'":
    /^rights of company 1000000000001: its ids are not kept as they are$/m,
  "update heads set version = 9 where listing = 'rights' and version = 4":
    /^rights of company 1000000000001, version 9: there is no such version$/m,
  "update company_states set since = 4, version = 4 where identifier = '1'":
    /^rights of company 1000000000001, version 3: the company was not known then$/m,
  'delete from company_states':
    /^companies of company 1000000000002, version 1: the company was not known then$/m,
  "update heads set meta = replace(meta, '1', '2') where listing = 'events'":
    /^events of company \d+, version 2: meta does not match the records$/m,
  "update heads set largest = 7 where listing = 'rights'":
    /: the largest record has \d+ bytes, but the head has 7$/m,
  'update store set segments = 1':
    /^segment \d+ of company \d+: its number is above the last one, 1$/m,
  "delete from record_ids where listing = 'events'":
    /^events of company 1000000000001: its ids are not kept as they are$/m,
  "update record_ids set source_id = 7 where listing = 'rights'":
    /^rights of company 1000000000001: its ids are not kept as they are$/m,
  "insert into record_ids values ('jobs', 1, 7, 1)":
    /^jobs of company 7: its ids are not kept as they are$/m,
  "insert into record_keys values ('jobs', 99, 'x', 1)":
    /^jobs: the id 1 is assigned to no source$/m,
  "update imports set lineage = 'x'": /^import 1: another import has the same lineage$/m,
  "update names set name = 'x' where company_id = 1000000000001":
    /^company 1000000000001: its name is not what its sources say$/m,
  "insert into names values (7, 'x')": /^company 7: its name is not what its sources say$/m,
  [`insert into names values ${Array.from({ length: 22 }, (_, n) => `(${n + 7}, 'x')`).join()}`]:
    /^names: … and 2 more$/m,
  "delete from words where word = 'acme'":
    /^company 1000000000001: the index of words does not match its name$/m,
  "insert into words select 'zebra', company_id from words where word = 'acme'":
    /^the index of words has companies without the word: 1$/m,
}

/** Faults of a store, and how they are reported. */
export const storeFaults: readonly StoreFault[] = [
  ...Object.entries(bySql).map(([sql, told]) => ({
    title: told.source,
    make: (db: string) => Promise.resolve(changeStore(db, sql)),
    told,
  })),
  byTables(async (tables) => {
    const { segment } = await openSegment(tables, { listing: rights })
    await tables.dropSegments([segment])
  }, /^segment \d+ of company 1000000000001 is missing$/m),
  byTables(async (tables) => {
    const { head } = await openSegment(tables, { listing: rights })
    await tables.dropHeads(rights, [head])
  }, /^segment \d+ of company 1000000000001: no head names it$/m),
  byTables(async (tables) => {
    const { segment } = await openSegment(tables, { listing: rights })
    const texts = Buffer.from(segment.texts ?? [])
    texts[10] = (texts[10] ?? 0) ^ 1
    await replace(tables, { ...segment, texts })
  }, /^segment \d+ of company 1000000000001: its bytes do not match their checksum$/m),
  byTables(async (tables) => {
    const { segment } = await openSegment(tables, { listing: rights })
    await replace(tables, { ...segment, entries: segment.entries.subarray(0, 4) })
  }, /^segment \d+ of company 1000000000001: its index has an unknown format$/m),
  byTables(async (tables) => {
    const { head } = await openSegment(tables, { listing: rights })
    await tables.dropHeads(rights, [head])
    await tables.putHeads(rights, [{ ...head, directory: '[0,' }])
  }, /^a directory of company 1000000000001, version 4: .* cannot be read$/m),
  byDirectory(
    () => '[1,[77,1,1,1]]',
    /^a directory of company 1000000000001, version 4: segment 77 .* is missing$/m,
  ),
  byDirectory(
    ({ segment }) => `[1,[${segment},1,1,1]]`,
    /, version 4: its part \d+ does not match$/m,
    ({ directory }) => directory,
  ),
  byDirectory(
    (_, { directory }) => directory.replace(/(\[\d+,\d+,\d+,\d+\])/, '$1,$1'),
    /^rights of company 1000000000001, version 4: the record 1 is out of order$/m,
  ),
  byTables(async (tables) => {
    const { segment } = await openSegment(tables, { listing: rights })
    await replace(tables, { ...segment, texts: null })
  }, /^segment \d+ of company 1000000000001: it has no texts$/m),
  byRecords(
    { listing: rights },
    () => [],
    /^segment \d+ of company 1000000000001: it has no records$/m,
  ),
  byText(
    { listing: companies },
    ['{', '['],
    /^attributes of company 1000000000001: is not a JSON object$/m,
  ),
  byText(
    { listing: rights },
    ['"y"', ' "y"'],
    /^rights of company 1000000000001, record 1: is not in the form that is served$/m,
  ),
  byText(
    { listing: rights },
    ['"y"', '"yy"'],
    /^rights of company 1000000000001, version 4: its directory has other numbers than segment /m,
  ),
  byText(
    { listing: events },
    ['"attr"', '"atr"'],
    /: atr is not a known column; did you mean attr/,
  ),
  byText({ listing: events }, ['"2025-02-28T00:00:00Z"', 'null'], /, record \d+: date is required/),
  byText({ listing: rights }, ['{', '['], /: is not a JSON object$/m),
  byText({ listing: rights }, [':1,', ':2,'], /: contains the id 2$/m),
  byText({ listing: rights }, ['"y"', '"z"'], /, record 1: does not match its digest$/m),
  byText(
    { listing: rights, isFormer: true },
    ['"x"', '"z"'],
    /, record 1, past state: does not match its digest$/m,
  ),
  byRecords(
    { listing: events },
    (records) => records.toReversed(),
    /: the record \d+ is out of order$/m,
  ),
  byRecords(
    { listing: events },
    (records) => records.map((one) => ({ ...one, values: one.values.map(() => null) })),
    /, record \d+: has other values in its index$/m,
  ),
  byFirst(
    { listing: events },
    { sort: 7 },
    /, record \d+: is ordered by a value other than its own$/m,
  ),
  byFirst({ listing: rights }, { source: 99 }, /, record 1: the source 99 is not known$/m),
  byText(
    { listing: companies },
    ['Acme', 'Acne'],
    /^attributes of company 1000000000001: does not match its digest$/m,
  ),
  byFirst(
    { listing: companies },
    { id: 7 },
    /^attributes of company 1000000000001: is not in the place of its source$/m,
  ),
  byFirst(
    { listing: companies },
    { values: [9, null, 1] },
    /^attributes of company 1000000000001: is of version 9, which does not exist$/m,
  ),
]

function shapeNamed(listing: string) {
  const resource = resources.find(({ name }) => name === listing)
  return resource === undefined ? attributesShape : shapeOf(resource)
}

async function openSegment(
  tables: ListingTables,
  { listing, isFormer = false }: Changed,
): Promise<{ readonly head: HeadRow; readonly segment: SegmentRow }> {
  const [company = 0] = await tables.companiesWith(listing, { after: -1, limit: 1 })
  const head = (await tables.headsOf(listing, [company])).at(isFormer ? -2 : -1)
  assert.ok(head)
  const [leaf] = await leavesOf(tables, head)
  assert.ok(leaf)
  const [segment] = await tables.segments([{ companyId: company, segment: leaf.segment }], 'both')
  assert.ok(segment)
  return { head, segment }
}

async function replace(tables: ListingTables, segment: SegmentRow): Promise<void> {
  await tables.dropSegments([segment])
  await tables.putHeads(attributesShape.listing, [], [segment])
}

/** Reads or writes the listings of a store that nobody else changes. */
async function useTables<T>(path: string, work: (tables: ListingTables) => Promise<T>): Promise<T> {
  const at = storeAt(path)
  if (!isServerStore(at)) {
    using db = new DatabaseSync(at)
    return await work(registryOf(db).tables)
  }
  return withSession(at, (client) => work(registryOnServer(client, at, onCitus !== false).tables))
}
