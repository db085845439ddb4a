// The peer's store: a table with typed columns of the same records, filled in one transaction.
//
//   node bench/peer-store.ts FILE DB    (FILE: records as NDJSON)

import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

const columns = [
  ...['id', 'jurisdiction', 'name', 'object_type', 'status', 'registration_number'],
  ...['registration_date', 'application_date', 'holders', 'created_at', 'updated_at'],
]

const [file = '', db = ''] = process.argv.slice(2)
const peer = new DatabaseSync(db)
peer.exec(`
  pragma synchronous = off;
  begin;
  create table rights (company_id integer, id integer, ${columns.slice(1).join(' text, ')} text,
    primary key (company_id, id)) without rowid`)
const insert = peer.prepare(
  `insert into rights (company_id, ${columns.join(', ')})
    values (?${', ?'.repeat(columns.length)})`,
)
for (const line of readFileSync(file, 'utf8').trimEnd().split('\n')) {
  const record = JSON.parse(line) as Record<string, string | number | string[]>
  const cells = columns.map((name) => record[name] ?? null)
  insert.run(
    Number(record['company_id']),
    ...cells.map((cell) => (Array.isArray(cell) ? JSON.stringify(cell) : cell)),
  )
}
peer.exec('commit')
peer.close()
