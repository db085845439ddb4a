// What a store costs besides time of requests: its size, and scans of filter values.

import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { makeFile, makeStore, rightsOf } from './files.ts'
import type { Figure } from './measures.ts'

const rounds = 5

/** The bytes of a store and of the file that it was imported from. */
export function sizeOfStore(scale: number): Promise<Figure[]> {
  const shape = rightsOf(1e6 * scale, 100)
  const file = makeFile(shape)
  const { db } = makeStore(shape)
  const store = new DatabaseSync(db, { readOnly: true })
  const page = (pragma: string) => Number(Object.values(store.prepare(pragma).get() ?? {})[0])
  // A store of an earlier format has pages that the upgrade has emptied.
  const pages = page('pragma page_count') - page('pragma freelist_count')
  const values = [(pages * page('pragma page_size')) / statSync(file).size]
  store.close()
  return Promise.resolve([
    { what: 'bytes of a store', unit: '÷ NDJSON', values, reach: { most: 1.2 } },
  ])
}

/** The time to find the records of a listing with a value, without reading their texts. */
export function scanFilters(scale: number): Promise<Figure[]> {
  const records = 250_000 * scale
  const { db } = makeStore({ resource: 'events', records, listing: records, order: 'clustered' })
  const store = new DatabaseSync(db, { readOnly: true })
  store.exec('pragma mmap_size = 2147418112')
  const scan = store.prepare(
    `select count(*) from events
     where company_id = 1 and filter_attr = 'name' and sort >= '2000-01-02'`,
  )
  scan.get()
  const values = Array.from({ length: rounds }, () => {
    const before = process.cpuUsage()
    scan.get()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / records
  })
  store.close()
  return Promise.resolve([
    { what: 'scanning filter values', unit: 'us a record', values, reach: { most: 0.15 } },
  ])
}
