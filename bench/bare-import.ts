// What remains of an import if everything is left out that could be: the file is hashed, each row
// parsed, serialised and hashed, the records of a company are stored together with their ids and
// digests, and each id once more. No checks, filters, comparison, log or staging; the rows are in
// the order of the companies.
//
//   node bench/bare-import.ts FILE DB    (FILE: records as NDJSON)

import { createHash, hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

const [file = '', path = ''] = process.argv.slice(2)
const segmentBytes = 10_400
const idsPerStatement = 16

const db = new DatabaseSync(path)
db.exec(`
  pragma page_size = 32768; pragma journal_mode = wal;
  create table segments (segment integer primary key, company_id, entries blob, texts blob);
  create table heads (company_id integer primary key, total, segments);
  create table record_ids (id integer primary key, company_id, source);
  begin`)
const putSegment = db.prepare('insert into segments values (?, ?, ?, ?)')
const putHead = db.prepare('insert into heads values (?, ?, ?)')
const putIds = db.prepare(
  `insert into record_ids values ${Array(idsPerStatement).fill('(?, ?, 1)').join(', ')}`,
)
const putId = db.prepare('insert into record_ids values (?, ?, 1)')

let segment = 0
let [company, total] = [0, 0]
let segments: number[] = []
let [texts, entries] = ['', '']
let ids: number[] = []

function endSegment(): void {
  if (texts === '') return
  segments.push((segment += 1))
  putSegment.run(segment, company, Buffer.from(entries, 'latin1'), Buffer.from(texts))
  texts = ''
  entries = ''
}

function endCompany(): void {
  endSegment()
  if (total > 0) putHead.run(company, total, segments.join())
  segments = []
  total = 0
}

function take(line: string): void {
  const { company_id: owner, id, ...fields } = JSON.parse(line) as Record<string, number>
  if (owner !== company) endCompany()
  company = owner ?? 0
  const content = JSON.stringify(fields)
  const digest = hash('sha256', content, 'base64')
  if (texts.length + content.length > segmentBytes) endSegment()
  texts += `${texts === '' ? '' : ','}{"id":${id ?? 0},${content.slice(1)}`
  entries += `${id ?? 0}${digest.slice(0, 16)}`
  total += 1
  if (ids.push(id ?? 0, company) < 2 * idsPerStatement) return
  putIds.run(...ids)
  ids = []
}

const whole = createHash('sha256')
let rest = ''
const decoder = new TextDecoder()
for await (const chunk of createReadStream(file, { highWaterMark: 1 << 18 })) {
  whole.update(chunk as Buffer)
  const lines = (rest + decoder.decode(chunk as Buffer, { stream: true })).split('\n')
  rest = lines.pop() ?? ''
  for (const line of lines) take(line)
}
endCompany()
for (let n = 0; n < ids.length; n += 2) putId.run(ids[n] ?? 0, ids[n + 1] ?? 0)
db.exec('commit; pragma wal_checkpoint(truncate)')
db.close()
console.log(whole.digest('hex'))
