// A person whose data is withheld in tests, and the application over a registry that has it.

import assert from 'node:assert/strict'
import { type ImportOptions, importRows, queryValue } from './import-rows.ts'
import { memberOf, type TestApp } from './make-app.ts'
import { storeBytes } from './store-state.ts'
import { checkSound } from './verify-store.ts'

export const identifier = '770412345678'
export const jane = 'Jáne Doe-Smith'
export const person = { resource: 'employees', field: 'identifier', value: identifier } as const

/** The company of a record, by its number in a register. */
export const gb = (company: string) => ({ company_jurisdiction: 'GB', company_identifier: company })

/** Imports an employee of a company, who is Jane where the row names nobody else. */
export const hire = (db: string, company: string, row: object = {}, options?: ImportOptions) =>
  importRows(db, 'employees', [{ ...gb(company), identifier, name: jane, ...row }], options)

/** Imports what is said about a company. */
export const say = (db: string, company: string, said: object, options?: ImportOptions) =>
  importRows(db, 'companies', [{ jurisdiction: 'GB', identifier: company, ...said }], options)

/** The id of the record with a natural key. */
export const idOf = (db: string, key: string) =>
  Number(queryValue(db, `select id from record_keys where key = '=${key}'`))

/** What an answer about companies has a list of, at a path such as `GB:1/employees`. */
export async function listed(ask: TestApp['ask'], path: string, name: string) {
  const answer = await ask(`/api/v1/companies/${path}`)
  assert.equal(answer.status, 200, answer.text)
  return memberOf(answer, name) as Record<string, unknown>[]
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
