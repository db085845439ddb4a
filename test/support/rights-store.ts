// A store in which one company has twelve rights, for tests whose subject is not the records.

import { resources } from '../../src/resources/index.ts'
import { rights } from '../../src/resources/rights.ts'
import { expectedBody, pathOf } from './make-app.ts'
import { makeRecords } from './make-record.ts'
import { makeTempStore, type Scope } from './temp-store.ts'

/** Makes the store and a key; `whole` is the first page of its listing, with all records. */
export async function makeRightsStore(scope: Scope) {
  const all = makeRecords(rights, 12)
  const store = await makeTempStore(scope, resources)
  await store.load([{ resource: rights, company: 1, records: all }])
  const key = await store.issueKey({ name: 'test' })
  return {
    store,
    key,
    all,
    path: pathOf(rights, 1),
    whole: expectedBody({ resource: rights, all }),
  }
}
