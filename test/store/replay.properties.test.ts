// Replaying a company's recorded events onto its first state gives its current state, whatever
// extracts were imported in between.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { attributeText } from '../../src/store/companies/attribute-text.ts'
import { importRows, makeFolder, query } from '../support/import-rows.ts'
import { readSaid } from '../support/said.ts'
import { runsOf, seed } from '../support/store-at.ts'
import { changesIn, importExtract, recordedOn } from '../support/history.ts'

/** A source's attributes of a company, as texts; `register_entry` if it was ever absent. */
type State = Map<string, string>

const value = fc.oneof(
  fc.constantFrom(undefined, null, '', ' ', 'x', 'y', 'z\n', 'ü😀', 0, 1.5, true, false),
  fc.array(fc.constantFrom('b', 'a', '', 'c', 'ä'), { maxLength: 3 }),
  fc.record({ inner: fc.constantFrom('x', 1, null) }),
)

const extract = fc.record({
  isSnapshot: fc.boolean(),
  /** 0 for an extract of the same day as the one before; a part may come late. */
  days: fc.integer({ min: -30, max: 40 }),
  rows: fc.uniqueArray(
    fc.record({
      identifier: fc.constantFrom('1', '2', '3', '4'),
      name: value,
      'a "name" of more words': value,
      tags: value,
    }),
    { minLength: 1, maxLength: 4, selector: ({ identifier }) => identifier },
  ),
})

function stateOf(row: Readonly<Record<string, unknown>>): State {
  const state: State = new Map()
  for (const [attr, given] of Object.entries(row)) {
    const text = attr === 'identifier' ? null : attributeText(given)
    if (text !== null) state.set(attr, text)
  }
  return state
}

function set(state: State, attr: string, text: string | null): void {
  if (text === null) state.delete(attr)
  else state.set(attr, text)
}

function dayAfter(days: number): string {
  return new Date(Date.UTC(2020, 0, 1 + days)).toISOString().slice(0, 10)
}

test(`companies: first state and events give the current state (seed ${seed})`, async (t) => {
  const folder = makeFolder(t)
  let runs = 0
  await fc.assert(
    fc.asyncProperty(fc.array(extract, { minLength: 1, maxLength: 7 }), async (extracts) => {
      const db = join(folder, `${(runs += 1)}.db`)
      const first = new Map<string, State>()
      const present = new Map<string, State>()
      let days = 0
      let snapshotDays = 0
      for (const { isSnapshot, days: later, rows: given } of extracts) {
        const isLate = later < 0 && !isSnapshot
        const asOf = isLate ? Math.max(snapshotDays, days + later) : days + Math.max(0, later)
        days = Math.max(days, asOf)
        if (isSnapshot) snapshotDays = asOf
        const refused = new Set<number>()
        const onRejected = ({ number }: { readonly number: number }) => refused.add(number)
        const options = { isSnapshot, isFirstRecorded: true, onRejected }
        await importExtract(db, dayAfter(asOf), given, options)
        assert.ok(isLate || refused.size === 0)
        const rows = given.filter((_, n) => !refused.has(n + 1))
        for (const row of rows) {
          const state = stateOf(row)
          const before = present.get(row.identifier)
          if (before === undefined) first.set(row.identifier, new Map(state))
          else if (before.has('register_entry')) state.set('register_entry', 'present')
          present.set(row.identifier, state)
        }
        for (const [identifier, state] of present) {
          const isThere = rows.some((row) => row.identifier === identifier)
          if (isSnapshot && !isThere) state.set('register_entry', 'absent')
        }
      }
      const last = new Map<string | null, string>()
      for (const { identifier, date, attr, before, after } of changesIn(db)) {
        const state = first.get(identifier ?? '')
        assert.ok(state)
        assert.ok(date >= (last.get(identifier) ?? ''), 'the changes of a company have an order')
        last.set(identifier, date)
        // Each change begins where the one before it ended.
        const known = attr === 'register_entry' ? 'present' : null
        assert.equal(state.get(attr) ?? known, before)
        assert.notEqual(before, after)
        set(state, attr, after)
      }
      assert.deepEqual(first, present)
      await checkServed(db, present)
    }),
    { numRuns: runsOf(60), seed },
  )
})

/** Checks that the store has the attributes of the model, except absent ones. */
async function checkServed(db: string, present: ReadonlyMap<string, State>): Promise<void> {
  const said = await readSaid(db)
  const identifiers = said.map(({ identifier }) => String(identifier))
  assert.deepEqual(identifiers.sort(), [...present.keys()].sort())
  for (const { identifier, attributes, is_present } of said) {
    const state = new Map(present.get(String(identifier)))
    const isAbsent = state.get('register_entry') === 'absent'
    assert.equal(is_present, !isAbsent)
    state.delete('register_entry')
    const held = JSON.parse(attributes) as Readonly<Record<string, unknown>>
    if (is_present) assert.deepEqual(stateOf(held), state)
  }
}

const officers = fc.array(
  fc.record({
    isSnapshot: fc.boolean(),
    given: fc.uniqueArray(
      fc.record({
        key: fc.integer({ min: 1, max: 6 }),
        company: fc.constantFrom('1', '2'),
        name: fc.constantFrom('Jane', 'John', 'Ann', null),
        position: fc.constantFrom('Director', 'Chair', null),
      }),
      { minLength: 1, maxLength: 6, selector: ({ key }) => key },
    ),
  }),
  { minLength: 1, maxLength: 7 },
)

/** An officer without any recorded text leaves without an event; another one joins. */
const untold: typeof officers extends fc.Arbitrary<infer Given> ? Given : never = [
  { isSnapshot: false, given: [{ key: 1, company: '1', name: null, position: null }] },
  { isSnapshot: true, given: [{ key: 1, company: '2', name: 'Jane', position: 'Director' }] },
  { isSnapshot: false, given: [{ key: 1, company: '1', name: 'Jane', position: 'Director' }] },
]

test(`officers: the first set and events give the current set (seed ${seed})`, async (t) => {
  const folder = makeFolder(t)
  let runs = 0
  await fc.assert(
    fc.asyncProperty(officers, async (extracts) => {
      const db = join(folder, `${(runs += 1)}.db`)
      const first = new Map<string, Set<string>>()
      let days = 0
      for (const { isSnapshot, given } of extracts) {
        const rows = given.map(({ key, company, name, position }) => ({
          company_jurisdiction: 'XX',
          company_identifier: company,
          // A record belongs to one company: its key says which, so that it never moves.
          key: `${company}/${key}`,
          name,
          position,
        }))
        const options = { isSnapshot, ...recordedOn(dayAfter((days += 1))) }
        await importRows(db, 'employees', rows, options)
        const now = presentOfficers(db)
        for (const [company, texts] of now) {
          if (!first.has(company)) first.set(company, new Set(texts))
        }
      }
      for (const { identifier, before, after } of changesIn(db)) {
        const texts = first.get(identifier ?? '')
        assert.ok(texts)
        if (before !== null) assert.ok(texts.delete(before))
        if (after !== null) {
          assert.ok(!texts.has(after))
          texts.add(after)
        }
      }
      const present = presentOfficers(db)
      for (const [company, texts] of first) {
        assert.deepEqual([...texts].sort(), [...(present.get(company) ?? [])].sort())
      }
    }),
    { numRuns: runsOf(60), seed, examples: [[untold]] },
  )
})

function presentOfficers(db: string): Map<string, Set<string>> {
  const rows = query(
    db,
    `select c.identifier, v.name, v.position from employees_view v
     join companies c on c.id = v.company_id`,
  )
  const present = new Map<string, Set<string>>()
  for (const { identifier, name, position } of rows) {
    const texts = present.get(String(identifier)) ?? new Set()
    present.set(String(identifier), texts)
    const text = [name, position].filter((part) => part !== null).join(', ')
    if (text !== '') texts.add(text)
  }
  return present
}
