// What a prune of many short listings costs: each statement costs PostgreSQL as much as many rows.

import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { countStatements } from '../support/count-statements.ts'
import { importRows, makePlace } from '../support/import-rows.ts'
import { prune } from '../support/write-store.ts'

/** The number of statements of a prune of two states each that so many companies had. */
async function statementsOfPrune(t: TestContext, companies: number): Promise<number> {
  const { db } = makePlace(t)
  for (const version of [1, 2, 3]) {
    const rows = Array.from({ length: companies }, (_, n) => {
      return { key: `${n} ${n % 2 === 0 ? version : ''}`, company_id: n + 1, name: `of ${version}` }
    })
    await importRows(db, 'rights', rows, { isSnapshot: true })
  }
  const sent = countStatements(t)
  assert.equal((await prune(db)).forgotten['rights'], 2 * companies)
  return sent()
}

test('a prune of many listings sends as many statements as one of few', async (t) => {
  const few = await statementsOfPrune(t, 10)
  const many = await statementsOfPrune(t, 300)
  assert.ok(many <= few + 5, `${few} and ${many}`)
})
