// Rights of one company, for tests whose subject is not the records.

import { resources } from '../../src/resources/index.ts'
import { rights } from '../../src/resources/rights.ts'
import { expectedBody, pathOf } from './make-app.ts'
import { makeRecords } from './make-record.ts'
import { makeTempStore, type Scope } from './temp-store.ts'

/** Makes records to load; `whole` is the first page of their listing. */
export function makeRights(count: number, company = 1) {
  const all = makeRecords(rights, count)
  return {
    all,
    records: [{ resource: rights, company, records: all }],
    path: pathOf(rights, company),
    whole: expectedBody({ resource: rights, all }),
  }
}

/** Makes a store of them, and a key. */
export async function makeRightsStore(scope: Scope, count = 12, company = 1) {
  const made = makeRights(count, company)
  const store = await makeTempStore(scope, resources)
  await store.load(made.records)
  return { store, key: await store.issueKey({ name: 'test' }), ...made }
}
