// Whatever is imported, taken back, pruned and withheld, in any order: what is withheld is in no
// version, the store stays sound, and who follows its changes has what it serves (contract 12, 13).

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { OperatorError } from '../../src/config/operator-error.ts'
import { openStoreReader } from '../../src/store/open-store.ts'
import type { OrderKind } from '../../src/store/withholding/list/entries.ts'
import type { AskedSubject } from '../../src/store/withholding/asked-subject.ts'
import { companiesIn, type Copy, createFollower, readServed } from '../support/follower.ts'
import { importRows, makeFolder, query } from '../support/import-rows.ts'
import { runStep, step } from '../support/random-steps.ts'
import { patientBounds, runsOf, seed, storeAt } from '../support/store-at.ts'
import { checkSound } from '../support/verify-store.ts'
import { withhold } from '../support/write-store.ts'

const long = 'z'.repeat(3_000)
const id = fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 101, max: 112 }))
const subject: fc.Arbitrary<AskedSubject> = fc.oneof(
  fc.record({ resource: fc.constantFrom('employees', 'rights', 'events'), id }),
  fc.constantFrom<AskedSubject>(
    { resource: 'employees', field: 'name', value: 'y' },
    { resource: 'employees', field: 'name', value: long },
    { company: ['GB', 'n3'] },
    { company: 2 },
    { company: ['GB', 'n4'], text: long },
  ),
)

interface Order {
  readonly kind: OrderKind
  readonly subject: AskedSubject
}

const action = fc.oneof(
  { weight: 3, arbitrary: step.map((one) => ({ step: one })) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom<OrderKind>('mask', 'erase'), subject }),
  },
  { weight: 1, arbitrary: fc.record({ limit: fc.constantFrom(1, 3, 1_000) }) },
)

/** @returns false if there is nothing to withhold, or a company would be masked. */
async function tryToWithhold(db: string, { kind, subject }: Order): Promise<boolean> {
  if (kind === 'mask' && 'company' in subject && subject.text === undefined) return false
  // As in `runStep`: a reader is in its transaction until its turn ends.
  await nextTurn()
  try {
    await withhold(db, kind, subject)
    return true
  } catch (error) {
    assert.ok(error instanceof OperatorError, String(error))
    assert.match(error.message, /nothing was withheld$/)
    return false
  }
}

/** What an order says of every state from now on, whatever comes. */
function checkOrder(state: Copy, { kind, subject }: Order, companies: ReadonlyMap<string, number>) {
  for (const [key, text] of state) {
    const [listing, company, record] = key.split(' ')
    const own = JSON.parse(text) as Record<string, unknown>
    if ('company' in subject) {
      const name = subject.company
      const number = typeof name === 'number' ? name : companies.get(name[1])
      if (Number(company) !== number) continue
      assert.ok(subject.text !== undefined, `${key} is of an erased company`)
      if (listing === 'companies') assert.ok(!text.includes(long), key)
    } else if (listing === subject.resource) {
      const isMeant =
        'id' in subject ? Number(record) === subject.id : own['name'] === subject.value
      if (!isMeant) continue
      assert.equal(kind, 'mask', `${key} was erased`)
      assert.ok('id' in subject, `${key} has a name that is withheld`)
      if (listing === 'employees')
        assert.ok([null, '[withheld]'].includes(own['name'] as string), key)
    }
  }
}

test(`what is withheld is never shown again (seed ${seed})`, async (t) => {
  let count = 0
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 5, maxLength: 25 }), async (actions) => {
      const db = join(makeFolder(t), `${(count += 1)}.db`)
      const first = ['n3', 'n4'].map((identifier) => ({
        jurisdiction: 'GB',
        identifier,
        name: long,
      }))
      await importRows(db, 'companies', first)
      const named = query(db, 'select id, identifier from companies')
      const ids = new Map(named.map((one) => [String(one['identifier']), Number(one['id'])]))
      const reader = await openStoreReader(storeAt(db), patientBounds)
      const follower = createFollower()
      const orders: Order[] = []
      async function follow(limit: number): Promise<void> {
        for (;;) {
          const applied = await follower.step(reader, limit)
          if (applied === undefined || applied === 'pruned') continue
          const served = await readServed(reader, companiesIn(db), applied.until.version)
          assert.deepEqual(follower.copy(), served)
          return
        }
      }
      try {
        for (const [day, action] of actions.entries()) {
          const { version: latest, earliestVersion: earliest } = await reader.readRegistry()
          if ('step' in action) await runStep(db, action.step, { day: day + 1, latest, earliest })
          else if ('kind' in action && (await tryToWithhold(db, action))) orders.push(action)
          else if ('limit' in action) await follow(action.limit)
          await nextTurn()
        }
        await follow(5)
        const { version, earliestVersion } = await reader.readRegistry()
        for (let one = earliestVersion; one <= version; one += 1) {
          const state = await readServed(reader, companiesIn(db), one)
          for (const order of orders) checkOrder(state, order, ids)
        }
        await nextTurn()
        await checkSound(db)
      } finally {
        await reader.close()
      }
    }),
    { numRuns: runsOf(120), seed },
  )
})
