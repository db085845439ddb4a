// What is withheld is in none of the files of a PostgreSQL store, once its tables are rewritten.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Client } from 'pg'
import { withSession } from '../../src/store/postgres/connect.ts'
import { importRows, makeFolder } from '../support/import-rows.ts'
import { runCommand } from '../support/run-command.ts'
import { onCitus, storeAt } from '../support/store-at.ts'
import { until } from '../support/until.ts'
import { withhold } from '../support/write-store.ts'

const name = 'Zsófia Nemespataki'

/** How often the files of the store, and of its list, contain a text. */
async function occurrences(client: Client, text: string): Promise<number> {
  await client.query('checkpoint')
  const { rows } = await client.query<{ bytes: Buffer | null }>(
    `select pg_read_binary_file(pg_relation_filepath(c.oid), true) as bytes
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where pg_relation_filepath(c.oid) is not null and (
       n.nspname in (current_schema(), current_schema() || '_withheld')
       or c.oid in (
         select reltoastrelid from pg_class where relnamespace = current_schema()::regnamespace
       )
     )`,
  )
  const wanted = Buffer.from(text).toString('latin1')
  const counts = rows.map(
    ({ bytes }) => (bytes ?? Buffer.alloc(0)).toString('latin1').split(wanted).length - 1,
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

test('a withheld person is in no file after vacuum', { skip: onCitus }, async (t) => {
  const db = join(makeFolder(t), 'registry.db')
  const company = { jurisdiction: 'HU', identifier: '1' }
  const of = { company_jurisdiction: 'HU', company_identifier: '1' }
  await importRows(db, 'companies', [{ ...company, name: `${name} Kft`, owner: name }])
  for (const round of [1, 2, 3]) {
    const rows = Array.from({ length: 900 }, (_, n) => ({
      ...of,
      key: `${n % 3 === 0 ? name : ''}${n}`,
      identifier: n % 3 === 0 ? '77' : `${n}`,
      name: n % 3 === 0 ? name : `Person ${n}`,
      position: `Position ${round} ${'x'.repeat((n * (round + 3)) % 300)}`,
    }))
    await importRows(db, 'employees', rows)
  }
  await withSession(storeAt(db), async (client) => {
    assert.ok((await occurrences(client, name)) > 900, 'present and past have them')
    await withhold(db, 'erase', { resource: 'employees', field: 'identifier', value: '77' })
    const compacted = await runCommand('.', ['compact', '--db', storeAt(db)])
    assert.match(compacted.out, /Only `vacuum full`, .* removes deleted data from the files\.$/m)
    const { rows } = await client.query<{ name: string }>(
      `select relname as name from pg_class
       where relnamespace = current_schema()::regnamespace and relkind = 'r'`,
    )
    // Deleted rows stay in a file while a transaction runs that began before, as of another test.
    await until(async () => {
      for (const table of rows) await client.query(`vacuum full ${table.name}`)
      return (await occurrences(client, name)) === 0
    }, 'no file has the name')
  })
})
