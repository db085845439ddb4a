// Frees the room of deleted rows in PostgreSQL, while others read.

import type { Client } from 'pg'
import type { LockWait } from '../lock-wait.ts'
import type { Compacted } from '../writing.ts'
import { beginWriting } from './transaction.ts'

const tablesSql = `
  select quote_ident(relname) as name from pg_class
  where relnamespace = current_schema()::regnamespace and relkind = 'r' order by relname`

const sizeSql = `
  select coalesce(sum(pg_total_relation_size(oid)), 0) as bytes from pg_class
  where relnamespace = current_schema()::regnamespace and relkind = 'r'`

/**
 * Runs `vacuum` on the schema's tables, as autovacuum would: their room is used again by the next
 * imports, and readers notice nothing. `vacuum full`, which locks them out, is left to operators.
 */
export async function compact(client: Client, wait: LockWait): Promise<Compacted> {
  const bytesBefore = await sizeOf(client)
  // After the import that runs, if one does; later ones may run beside it.
  await beginWriting(client, wait)
  await client.query('commit')
  const { rows } = await client.query<{ name: string }>(tablesSql)
  for (const { name } of rows) {
    wait.signal?.throwIfAborted()
    await client.query(`vacuum (analyze) ${name}`)
  }
  return { bytesBefore, bytesAfter: await sizeOf(client), notes: [note] }
}

const note =
  'The free room is for the next imports; `vacuum full` gives it back to the system, but locks ' +
  'out readers meanwhile.'

async function sizeOf(client: Client): Promise<number> {
  const { rows } = await client.query<{ bytes: string }>(sizeSql)
  return Number(rows[0]?.bytes)
}
