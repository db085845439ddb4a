// The stored state: bytes and lock.

import { hash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { backup, DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import type { Client } from 'pg'
import { isServerStore } from '../../src/config/setting-kinds.ts'
import { openSession, withSession } from '../../src/store/postgres/connect.ts'
import { beginWriting } from '../../src/store/postgres/transaction.ts'
import { queryServer } from './query-server.ts'
import { storeAt } from './store-at.ts'

/** All bytes of a store: of its files, or of its tables row by row. */
export async function storeBytes(path: string): Promise<Buffer> {
  const db = storeAt(path)
  if (!isServerStore(db)) {
    const files = [db, `${db}-wal`].filter((file) => existsSync(file))
    return Buffer.concat(files.map((file) => readFileSync(file)))
  }
  return withSession(db, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `select relname as name from pg_class
       where relnamespace = current_schema()::regnamespace and relkind = 'r' order by 1`,
    )
    const tables: Buffer[] = []
    for (const { name } of rows) tables.push(await tableBytes(client, name))
    return Buffer.concat(tables)
  })
}

/** The rows of a table, with bytes as they are, in an order of their own: databases have any. */
async function tableBytes(client: Client, name: string): Promise<Buffer> {
  const { rows } = await client.query<{ row: string }>(`select r::text as row from ${name} r`)
  return Buffer.concat(rows.map(({ row }) => withBytes(row)).sort((a, b) => a.compare(b)))
}

/** A row as PostgreSQL writes it, but for its columns of bytes. */
function withBytes(row: string): Buffer {
  const parts = row.split(/\\\\x((?:[0-9a-f]{2})*)/)
  return Buffer.concat(parts.map((part, n) => Buffer.from(part, n % 2 === 1 ? 'hex' : 'utf8')))
}

export async function storeDigest(path: string): Promise<string> {
  return hash('sha256', await storeBytes(path))
}

/** Copies a store; returns a function that restores it, under a running server, too. */
export async function keepStore(path: string, as = 'kept'): Promise<() => Promise<void>> {
  const db = storeAt(path)
  if (isServerStore(db)) {
    await onServer(db, keepTables.replaceAll('_kept', `_${as}`))
    return () => onServer(db, restoreTables.replaceAll('_kept', `_${as}`))
  }
  await copyFile(db, `${db}.${as}`)
  return () => copyFile(`${db}.${as}`, db)
}

async function copyFile(from: string, to: string): Promise<void> {
  using file = new DatabaseSync(from, { readOnly: true })
  await backup(file, to)
}

async function onServer(db: string, work: string): Promise<void> {
  const sql = `
    do $do$
    declare one record;
    begin
      ${work}
    end $do$`
  await withSession(db, (client) => client.query(sql))
}

const eachTable = `
  for one in
    select oid::regclass as name, current_schema() || '_kept.' || relname as kept from pg_class
    where relnamespace = current_schema()::regnamespace and relkind = 'r'
  loop`
const keepTables = `
  execute 'drop schema if exists ' || current_schema() || '_kept cascade';
  execute 'create schema ' || current_schema() || '_kept';
  ${eachTable}
    execute format('create table %s as table %s', one.kept, one.name);
  end loop;`
const restoreTables = `
  ${eachTable}
    execute format('delete from %1$s; insert into %1$s table %2$s', one.name, one.kept);
  end loop;`

/** Takes the write lock, as another import would; returns a function that releases it. */
export async function holdStore(path: string): Promise<() => Promise<void>> {
  const db = storeAt(path)
  if (!isServerStore(db)) {
    const file = new DatabaseSync(db)
    file.exec('begin immediate')
    return () => Promise.resolve(file.close())
  }
  const client = await openSession(db)
  await beginWriting(client, { onWait: () => undefined })
  return () => client.end()
}

/** Keeps a file open until the test ends, as a server does, so that its log is not removed. */
export function keepOpen(t: TestContext, path: string): DatabaseSync {
  const server = new DatabaseSync(path, { readOnly: true })
  t.after(() => server.close())
  server.prepare('select count(*) from imports').get()
  return server
}

/** Runs SQL on a store that no import would. */
export function changeStore(path: string, sql: string): void {
  const db = storeAt(path)
  if (isServerStore(db)) {
    queryServer(db, sql)
    return
  }
  using file = new DatabaseSync(db)
  // Defensive mode would forbid SQL that writes the schema.
  file.enableDefensive(false)
  file.exec(sql)
}
