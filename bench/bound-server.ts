// The bound of a page that is in no cache: a server that does for it what nobody can leave out. It
// finds the key by its hash, reads the head and the texts of its segments by their keys, joins
// them, sends them with the header fields of Dossier, and writes a line to a log. Nothing else is
// checked, bounded, counted or negotiated; it knows pages that begin a listing of four segments.
//
//   node bench/bound-server.ts PORT DB KEY LOG    (DB: a store)

import { createHash, randomUUID } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import { DatabaseSync } from 'node:sqlite'
import { destination, pino } from 'pino'

const [port = '', file = '', key = '', logFile = ''] = process.argv.slice(2)
const log = pino({}, destination({ dest: logFile, sync: false, minLength: 8_192 }))
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')
const keys = new Set([hashOf(key)])

const db = new DatabaseSync(file, { readOnly: true })
db.exec('pragma mmap_size = 4000000000')
const prepare = (sql: string) => {
  const statement = db.prepare(sql)
  statement.setReturnArrays(true)
  return statement
}
const version = Number(db.prepare('select max(version) as v from imports').get()?.['v'])
const head = prepare(
  `select h.total, h.meta, h.directory, s.texts
   from heads h left join segments s on s.segment = h.segment and s.company_id = h.company_id
   where h.company_id = ? and h.listing = ? and h.version <= ? order by h.version desc limit 1`,
)
const following = prepare(
  'select texts from segments where company_id = ? and segment between ? and ?',
)
type Row = [total: number, meta: string | null, directory: string, texts: Uint8Array]
const separator = Buffer.from(',{"id":')
const date = new Date().toUTCString()

// Memory for bodies, used again when these were sent: the load has fewer connections.
const bodies = Array.from({ length: 64 }, () => Buffer.allocUnsafeSlow(65_536))
let made = 0

function join(parts: readonly (Uint8Array | string)[]): Buffer {
  const body = bodies[(made += 1) % bodies.length] ?? Buffer.alloc(0)
  let at = 0
  for (const part of parts) {
    if (typeof part === 'string') at += body.write(part, at, 'latin1')
    else {
      body.set(part, at)
      at += part.length
    }
  }
  return body.subarray(0, at)
}

interface Listing {
  readonly company: number
  readonly directory: string
  /** The texts of the first segment. */
  readonly first: Uint8Array
}

/** The beginning of a listing: the texts of its first records. Its segments are consecutive. */
function readTexts({ company, directory, first }: Listing, limit: number): readonly Uint8Array[] {
  const [, [number = 0, records = 0] = [], more] = JSON.parse(directory) as [number, ...number[][]]
  if (records > limit) return [firstOf(first, limit)]
  if (more === undefined) return [first]
  const rows = following.all(company, number + 1, number + 3) as unknown as [Uint8Array][]
  return [first, ...rows.map(([texts]) => texts)]
}

function firstOf(texts: Uint8Array, records: number): Uint8Array {
  const bytes = Buffer.from(texts.buffer, texts.byteOffset, texts.length)
  let at = 0
  for (let n = 0; n < records; n++) at = bytes.indexOf(separator, at + 1)
  return bytes.subarray(0, at)
}

const pagePath = /^\/api\/v1\/companies\/(\d+)\/(\w+)(?:\?limit=(\d+))?$/

function answerPage(response: ServerResponse, [, id = '', resource = '', limit = '100']: string[]) {
  const company = Number(id)
  const row = head.get(company, resource, version) as unknown as Row
  const [total, meta, directory, first] = row
  const parts = readTexts({ company, directory, first }, Number(limit))
  const counts = `"total":${total},"pagination_total":${total},"pagination_offset":0`
  const begin = `{"ok":true,"${resource}":[`
  const end = `],${meta === null ? '' : `"meta":${meta},`}${counts}}`
  const joined = parts.flatMap((part, n) => (n === 0 ? [part] : [',', part]))
  const form = `/api/v1/companies/${id}/${resource}?page=1&limit=${limit}`
  const link = `<${form}&version=${version}>`
  const body = join([begin, ...joined, end])
  response.writeHead(200, {
    'x-request-id': randomUUID(),
    'x-content-type-options': 'nosniff',
    vary: 'Accept, Accept-Encoding',
    etag: `W/"abcdefgh${form}"`,
    'cache-control': 'private, no-cache',
    'data-version': String(version),
    'last-modified': date,
    'content-type': 'application/json; charset=utf-8',
    'content-length': body.length,
    link: `${link}; rel="first", ${link}; rel="last"`,
  })
  response.end(body)
}

let requests = 0
const server = createServer((request, response) => {
  const { method, url = '', headers } = request
  if (url === '/healthz') return response.end('ok')
  const beganAt = performance.now()
  const id = (requests += 1)
  const isAllowed = keys.has(hashOf((headers.authorization ?? '').slice(7)))
  const page = pagePath.exec(url)
  if (!isAllowed || page === null) response.writeHead(isAllowed ? 404 : 403).end()
  else answerPage(response, page)
  const ms = performance.now() - beganAt
  return log.info({ id, method, url, status: response.statusCode, ms })
})
server.listen(Number(port), '127.0.0.1')
