// Prints the sizes of the tables and indexes of a store, on a PostgreSQL started for the run:
//
//   node bench/postgres-sizes.ts [RECORDS…]    (default: 1000000 10000000)
//
// The operator's guide uses the bytes per row. A company's records are spread over the file, as in
// an extract that is ordered by id.

import { rmSync } from 'node:fs'
import { Client } from 'pg'
import { startPostgres } from '../test/support/postgres-server.ts'
import { makeCompanies, makeFile, rightsOf } from './files.ts'
import { importFile } from './processes.ts'

interface Size {
  readonly name: string
  readonly rows: number
  readonly table: number
  readonly indexes: number
}

const listing = 20
const counts = process.argv.slice(2).map(Number)

const server = await startPostgres({ settings: { shared_buffers: '1GB', max_wal_size: '8GB' } })
try {
  for (const records of counts.length > 0 ? counts : [1e6, 1e7]) {
    const companies = records / listing
    const shape = rightsOf(records, listing)
    const schema = `of_${records}`
    const db = `${server.url}?schema=${schema}`
    for (const [target, file] of [
      ['companies', makeCompanies(companies)],
      ['rights', makeFile(shape)],
    ] as const) {
      const { seconds, peakMb } = await importFile(target, file, db)
      console.log(`${target} imported in ${seconds.toFixed(0)} s, ${peakMb.toFixed(0)} MB resident`)
      rmSync(file)
    }
    show(records, companies, await sizesOf(schema))
  }
} finally {
  await server.remove()
}

/** The size of each table with rows, including TOAST and maps, and of its indexes. */
async function sizesOf(schema: string): Promise<Size[]> {
  const client = new Client({ connectionString: server.url })
  await client.connect()
  try {
    await client.query('vacuum analyze')
    const { rows } = await client.query<Record<'name' | 'rows' | 'table' | 'indexes', string>>(
      `select relname as name, reltuples::bigint as rows, pg_table_size(oid) as table,
         pg_indexes_size(oid) as indexes
       from pg_class where relnamespace = $1::regnamespace and relkind = 'r' and reltuples > 10
       order by pg_total_relation_size(oid) desc`,
      [schema],
    )
    return rows.map(({ name, ...numbers }) => ({
      name,
      rows: Number(numbers.rows),
      table: Number(numbers.table),
      indexes: Number(numbers.indexes),
    }))
  } finally {
    await client.end()
  }
}

function show(records: number, companies: number, sizes: readonly Size[]): void {
  console.log(
    `${records.toLocaleString('en')} records, ${companies.toLocaleString('en')} companies`,
  )
  for (const { name, rows, table, indexes } of sizes) {
    const cells = [table, indexes].map(
      (bytes) =>
        `${(bytes / 1e6).toFixed(1).padStart(9)} MB ${(bytes / rows).toFixed(0).padStart(6)}`,
    )
    console.log(`  ${name.padEnd(20)} ${cells.join('')}`)
  }
  const total = sizes.reduce((sum, { table, indexes }) => sum + table + indexes, 0)
  console.log(`  ${'together'.padEnd(20)} ${(total / 1e6).toFixed(1).padStart(9)} MB`)
}
