// A person whose data is withheld in tests, and the application over a registry that has it.

import assert from 'node:assert/strict'
import { makeApp, type TestApp } from './make-app.ts'
import { storeBytes } from './store-state.ts'
import type { Scope } from './temp-store.ts'
import { checkSound } from './verify-store.ts'

export const identifier = '770412345678'
export const jane = 'Jáne Doe-Smith'
export const person = { resource: 'employees', field: 'identifier', value: identifier } as const

/** The company of a record, by its number in a register. */
export const gb = (company: string) => ({ company_jurisdiction: 'GB', company_identifier: company })

/** An application, and the path that names its store, which is empty. */
export async function makeNamedApp(t: Scope): Promise<TestApp & { readonly db: string }> {
  const app = await makeApp(t)
  return { ...app, db: app.store.path }
}

/** What tells who somebody is must be in no row, and the store sound. */
export async function checkGone(
  db: string,
  texts: readonly string[] = [identifier, jane, 'JANE DOE'],
): Promise<void> {
  const bytes = await storeBytes(db)
  for (const text of texts) assert.equal(bytes.includes(text), false, `${text} is in the store`)
  await checkSound(db)
}
