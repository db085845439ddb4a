// Replaying the recorded changes of a company's officers onto its first ones gives its current ones,
// whatever extracts were imported in between; `changes.properties.test.ts` has those of companies.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { importRows, makeFolder, query } from '../support/import-rows.ts'
import { asOfDay } from '../support/random-steps.ts'
import { runsOf, seed } from '../support/store-at.ts'
import { changesIn, recordedOn } from '../support/history.ts'

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
        const options = { isSnapshot, ...recordedOn(asOfDay((days += 1)).slice(0, 10)) }
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
