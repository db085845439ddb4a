// Makes the names of companies and the index of their words anew, where other rules have made them.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { attributesShape } from '../listing/shape.ts'
import type { LockWait, OnStep } from '../work-watch.ts'
import { wordRules } from '../name-words.ts'
import { type RegistryDatabase, type Queries, readValue } from '../sql/database.ts'
import { readAttributes } from './attributes.ts'
import { createNameKeeper } from './keep-names.ts'

const companiesAtOnce = 500

/**
 * Fills the index of names of a store where it was made by other rules, in one transaction.
 *
 * @returns the number of names; undefined if there was nothing to do.
 */
export async function fillNames(
  db: RegistryDatabase,
  wait: LockWait,
  onStep?: OnStep,
): Promise<number | undefined> {
  if (await isFilled(db)) return undefined
  return db.inTransaction('registry', wait, async () => {
    // Another process may have filled it while this one waited.
    if (await isFilled(db)) return undefined
    await db.run('delete from words')
    await db.run('delete from names')
    const count = await writeNames(db, onStep)
    await db.run('update store set words = $rules', { rules: wordRules })
    return count
  })
}

async function writeNames(db: RegistryDatabase, onStep?: OnStep): Promise<number> {
  const { tables } = db
  const names = await createNameKeeper(db)
  const last = await tables.lastCompanyId(Number.MAX_SAFE_INTEGER)
  let first: number | undefined
  for (let after = -1; ;) {
    const range = { after, limit: companiesAtOnce }
    const companies = await tables.companiesWith(attributesShape.listing, range)
    const end = companies.at(-1)
    if (end === undefined) break
    for (const [company, records] of await readAttributes(tables, companies)) {
      await names.change(company, undefined, records)
    }
    first ??= companies[0] ?? end
    onStep?.('indexing names', Math.min(1, (end - first + 1) / (last - first + 1)))
    after = end
    await nextTurn()
  }
  return names.finish()
}

/** Why a store cannot be read yet. */
export const namesMissing = 'has no index of names yet; complete its upgrade with: dossier migrate'

/** What `fillNames` has done, for messages. */
export const describeFilled = (names: number) => `indexed the names of ${names} companies`

/** Whether the index of names was made, by the rules of this version. */
export async function isFilled(db: Queries): Promise<boolean> {
  return (await readValue(db, 'select words from store')) === wordRules
}
