// A listing of many windows, in which few segments change: it is that of a plain model, whatever is
// added, changed, removed and reverted; and little is written.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { events } from '../../src/resources/events.ts'
import { segmentBytesMax } from '../../src/store/listing/cut.ts'
import { entriesMax } from '../../src/store/listing/directory.ts'
import { importRows, makeFolder, query, queryValue } from '../support/import-rows.ts'
import { withReader } from '../support/open-reader.ts'
import { readListing } from '../support/read-listing.ts'
import { aboveStores, runsOf, seed } from '../support/store-at.ts'
import { checkSound, makeSoundStore } from '../support/verify-store.ts'
import { revert } from '../support/write-store.ts'

const sources = ['first', 'second'] as const
type Source = (typeof sources)[number]

/** When each record took place, in minutes, and its type, by id; ids of each source are its own. */
type Records = ReadonlyMap<number, readonly [minute: number, attr: string]>

const minutes = 4_000
const firstIds = { first: 0, second: 1_000_000 }

/** Four records fill a segment. */
const filling = 'x'.repeat(3_900)

const dateOf = (minute: number) =>
  `${new Date(Date.UTC(2020, 0, 1) + minute * 60_000).toISOString().slice(0, 19)}Z`

const rowOf = ([id, [minute, attr]]: readonly [number, readonly [number, string]]) => ({
  id,
  company_id: 1,
  date: dateOf(minute),
  attr,
  after: attr === 'short' ? attr : filling,
})

const edits = fc.array(
  fc.record({
    n: fc.integer({ min: 1, max: minutes }),
    minute: fc.integer({ min: 0, max: minutes }),
    attr: fc.constantFrom('a', 'b', 'c'),
  }),
  { minLength: 1, maxLength: 3 },
)
/** Rows of a source, and whether they are all that it has. */
interface Import {
  readonly source: Source
  readonly isSnapshot: boolean
  readonly given: Records
}

type Step = ((now: Records) => Import) | { readonly versionsBack: number }

/** Few records, anywhere. */
const changeFew = fc
  .record({ source: fc.constantFrom(...sources), edits })
  .map(({ source, edits: all }): Step => {
    const given = new Map(
      all.map(({ n, minute, attr }) => [n + firstIds[source], [minute, attr]] as const),
    )
    return () => ({ source, isSnapshot: false, given })
  })

const loseFew = edits.map((all): Step => {
  const lost = new Set(all.map(({ n }) => n))
  const isKept = (id: number) => id < firstIds.second && !lost.has(id)
  return (now) => {
    const given = new Map([...now].filter(([id]) => isKept(id)))
    return { source: 'first', isSnapshot: true, given }
  }
})

/** More than are merged at a time, at one place. */
const addMany = fc.integer({ min: 0, max: minutes }).map((minute): Step => {
  const ids = Array.from({ length: 20_050 }, (_, n) => firstIds.second + 10_000 + n)
  const given = new Map(ids.map((id) => [id, [minute + (id % 3), 'short']] as const))
  return () => ({ source: 'second', isSnapshot: false, given })
})

const step = fc.oneof(
  { weight: 5, arbitrary: changeFew },
  { weight: 1, arbitrary: loseFew },
  { weight: 1, arbitrary: addMany },
  { weight: 2, arbitrary: fc.record({ versionsBack: fc.integer({ min: 1, max: 3 }) }) },
)

const latest = (db: string) => Number(queryValue(db, 'select max(version) from imports'))

/** Does a step; returns the records after it. */
async function runStep(db: string, one: Step, states: ReadonlyMap<number, Records>) {
  const now = [...states.values()].at(-1) ?? assert.fail('there is no state yet')
  if (typeof one === 'function') {
    const { source, isSnapshot, given } = one(now)
    await importRows(db, 'events', [...given].map(rowOf), { source, isSnapshot })
    const kept = [...now].filter(([id]) => !isSnapshot || id >= firstIds.second)
    return new Map([...kept, ...given])
  }
  const [to, state] = [...states].at(-1 - one.versionsBack) ?? [...states][0] ?? assert.fail()
  if (to < latest(db)) await revert(db, { to })
  return state
}

async function readAll(db: string) {
  const page = await withReader(db, (reader) => {
    return readListing(reader, events, 1, { limit: 100_000 })
  })
  return page ?? assert.fail()
}

/** The latest first. */
const listed = (records: Records) =>
  [...records]
    .sort(([a, [one]], [b, [other]]) => other - one || b - a)
    .map(([id, [minute, attr]]) => `${id} ${dateOf(minute)} ${attr}`)

test(`a long listing is that of a plain model after few changes (seed ${seed})`, async (t) => {
  const folder = makeFolder(t)
  const ids = Array.from({ length: 2_800 }, (_, n) => n + 1)
  const first = new Map(ids.map((id) => [id, [id + 500, `kind ${id % 9}`]] as const))
  let runs = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 9 }), async (steps) => {
      const db = join(folder, `${(runs += 1)}.db`)
      await importRows(db, 'events', [...first].map(rowOf), { source: 'first' })
      const states = new Map<number, Records>([[1, first]])
      for (const one of steps) {
        const now = await runStep(db, one, states)
        states.set(latest(db), now)
        const { text, total } = await readAll(db)
        const served = JSON.parse(`[${text}]`) as { id: number; date: string; attr: string }[]
        assert.equal(total, now.size)
        const shown = served.map(({ id, date, attr }) => `${id} ${date} ${attr}`)
        assert.deepEqual(shown, listed(now))
      }
      await checkSound(db)
    }),
    { numRuns: runsOf(8), seed },
  )
})

/** Rights, whose listing grows at its end, and events, whose listing grows at its front. */
const growing: readonly (readonly [
  name: string,
  rowFor: (id: number, text: string) => object,
  between: number,
])[] = [
  ['rights', (id, name) => ({ id, company_id: 1, name }), 20_025],
  ['events', (id, after) => ({ id, company_id: 1, date: dateOf(id), attr: 'a', after }), 20_005],
]

for (const [name, rowFor, between] of growing) {
  test(`changes of ${name} fill segments, and write few`, { skip: aboveStores }, async (t) => {
    const db = makeSoundStore(t)
    let last = 0
    /** Imports records; returns the bytes of each segment that is written. */
    const load = async (ids: readonly number[], bytes = 500) => {
      const rows = ids.map((id) => rowFor(id, 'x'.repeat(bytes)))
      await importRows(db, name, rows)
      const nodesMax = last === 0 ? 4 : 2
      const sql = `select segment, length(entries) + length(texts) as bytes from segments
        where segment > ${last} order by segment`
      const written = query(db, sql)
      last = Number(written.at(-1)?.['segment'])
      const segments = written.flatMap(({ bytes }) => (bytes === null ? [] : [Number(bytes)]))
      assert.ok(written.length - segments.length <= nodesMax, 'nodes')
      assert.ok(Math.max(...segments) <= segmentBytesMax)
      return segments
    }
    const isFull = (bytes: number) => bytes > 0.9 * segmentBytesMax

    // All but the one at the growing end are full.
    const first = await load(Array.from({ length: 4_205 }, (_, n) => 10 * (n + 1)))
    assert.ok(first.length > entriesMax)
    assert.ok(first.filter(isFull).length >= first.length - 1)
    const more = await load(Array.from({ length: 100 }, (_, n) => 53_000 + n))
    assert.ok(more.filter(isFull).length >= more.length - 1)

    const added: number[] = []
    for (let id = 53_101; id <= 53_120; id++) {
      const [bytes = 0, ...others] = await load([id])
      assert.deepEqual(others, [])
      assert.ok(bytes > (added.at(-1) ?? 0) || isFull(added.at(-1) ?? 0), 'it joins others')
      added.push(bytes)
    }
    assert.ok((await load([30_000], 490)).length <= 1)

    // Between two full segments, a record has one of its own, and others join it.
    const [own = 0] = await load([between], 900)
    assert.ok(own > 900 && own < 1_300, `${own} bytes`)
    const [joined = 0, ...others] = await load([between - 1, between + 1])
    assert.ok(joined > 1_900 && joined < 3_000, `${joined} bytes`)
    assert.deepEqual(others, [])
    assert.ok(Number(queryValue(db, 'select max(length(directory)) from heads')) < 8_192)
  })
}
