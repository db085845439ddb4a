// What a store costs besides time of requests: its size, and scans of filter values.

import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { changeResource as events } from '../src/resources/index.ts'
import { shapeOf } from '../src/store/listing/shape.ts'
import { createScan } from '../src/store/listing/scan.ts'
import { openForReading } from '../src/store/sqlite/open.ts'
import { type Figure, figure } from './figures.ts'
import { eventsOf, makeFile, makeStore, rightsOf } from './files.ts'

const rounds = 5

/** The bytes of a store and of the file that it was imported from. */
export function sizeOfStore(scale: number): Figure[] {
  const shape = rightsOf(1e6 * scale, 100)
  const file = makeFile(shape)
  const { db } = makeStore(shape)
  const store = new DatabaseSync(db, { readOnly: true })
  const page = (pragma: string) => Number(Object.values(store.prepare(pragma).get() ?? {})[0])
  const pages = page('pragma page_count') - page('pragma freelist_count')
  const values = [(pages * page('pragma page_size')) / statSync(file).size]
  store.close()
  return [figure('bytes of a store', '÷ NDJSON', values, { most: 1.2 })]
}

/** The time to find the records of a listing with a value, without reading their texts. */
export function scanFilters(scale: number): Figure[] {
  const records = 250_000 * scale
  const { db } = makeStore(eventsOf(records))
  const store = openForReading(db)
  const shape = shapeOf(events)
  const filters = [
    { field: 'attr', anyOf: [{ from: 'name', to: 'name' }] },
    { field: 'date', anyOf: [{ from: Date.parse('2000-01-02') / 1_000, to: undefined }] },
  ]
  const read = store.prepare(
    'select segment, entries from segments where company_id = 1 and texts is not null order by segment',
  )
  const scan = () => {
    const scanning = createScan({ shape, orderBy: 'date' }, filters, undefined)
    for (const { segment, entries } of read.iterate()) {
      scanning.add(entries as Uint8Array, Number(segment))
    }
    return scanning.finish()
  }
  scan()
  const values = Array.from({ length: rounds }, () => {
    const before = process.cpuUsage()
    scan()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / records
  })
  store.close()
  return [figure('scanning filter values', 'us a record', values, { most: 0.15 })]
}
