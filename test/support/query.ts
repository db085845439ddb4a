// Runs one query over a store in PostgreSQL, and prints its rows as JSON.

import { types } from 'pg'
import { openSession } from '../../src/store/postgres/connect.ts'

// As text, the way the embedded store has it.
types.setTypeParser(types.builtins.JSON, String)

const [db = '', sql = ''] = process.argv.slice(2)
const client = await openSession(db)
const { rows } = await client.query(sql)
process.stdout.write(JSON.stringify(rows))
await client.end()
