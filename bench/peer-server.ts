// The peer: the service that an engineer writes by hand in a day. Fastify and `node:sqlite`, typed
// columns, JSON made by SQL, count, limit and offset, a key by its hash; the same body to the byte.
//
//   node bench/peer-server.ts PORT DB KEY    (DB: made by `makePeerStore`)

import { hash } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import Fastify from 'fastify'

const [port = '', db = '', key = ''] = process.argv.slice(2)
const keys = new Set([hash('sha256', key)])
const store = new DatabaseSync(db, { readOnly: true })
store.exec('pragma mmap_size = 4294967296')

const page = store.prepare(`
  select json_group_array(json_object(
    'id', id, 'jurisdiction', jurisdiction, 'name', name, 'object_type', object_type,
    'status', status, 'registration_number', registration_number,
    'registration_date', registration_date, 'application_date', application_date,
    'holders', json(holders), 'created_at', created_at, 'updated_at', updated_at)) as records
  from (select * from rights where company_id = ? order by id limit ? offset ?)`)
const count = store.prepare('select count(*) as total from rights where company_id = ?')

const app = Fastify()
app.get('/healthz', () => ({ ok: true }))
const integer = { type: 'integer', minimum: 1 } as const
app.get<{
  Params: { company: number }
  Querystring: { page: number; limit: number }
}>(
  '/api/v1/companies/:company/rights',
  {
    schema: {
      params: { type: 'object', properties: { company: integer } },
      querystring: {
        type: 'object',
        properties: {
          page: { ...integer, default: 1 },
          limit: { ...integer, maximum: 1_000, default: 100 },
        },
      },
    },
  },
  (request, reply) => {
    const [, token = ''] = (request.headers.authorization ?? '').split(' ')
    if (!keys.has(hash('sha256', token))) return reply.code(403).send({ ok: false })
    const { company } = request.params
    const { page: number, limit } = request.query
    const offset = (number - 1) * limit
    const { total } = count.get(company) as { total: number }
    const { records } = page.get(company, limit, offset) as { records: string }
    return reply
      .type('application/json; charset=utf-8')
      .send(
        `{"ok":true,"rights":${records},"total":${total},` +
          `"pagination_total":${total},"pagination_offset":${offset}}`,
      )
  },
)
await app.listen({ port: Number(port), host: '127.0.0.1' })
