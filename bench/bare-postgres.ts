// The baseline for PostgreSQL: `node:http` and the bare driver, which reads the same bytes from the
// same server by primary key.
//
//   node bench/bare-postgres.ts PORT URL FILE    (FILE: JSON of { headers })

import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { Pool } from 'pg'

const [port = '', url = '', file = ''] = process.argv.slice(2)
const { headers } = JSON.parse(readFileSync(file, 'utf8')) as { headers: Record<string, string> }
const pool = new Pool({ connectionString: url, max: 10 })
const statement = { name: 'bare', text: 'select body from bare where company_id = $1' }

createServer((request, response) => {
  const company = /companies\/(\d+)/.exec(request.url ?? '')?.[1] ?? '1'
  void pool.query<{ body: string }>({ ...statement, values: [company] }).then(({ rows }) => {
    const body = Buffer.from(rows[0]?.body ?? '')
    response.writeHead(200, { ...headers, 'content-length': body.length })
    response.end(body)
  })
}).listen(Number(port), '127.0.0.1')
