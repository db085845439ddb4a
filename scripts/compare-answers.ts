// Sends the same requests to two versions of Dossier, each with its own store of the same data, and
// compares the responses byte by byte: `npm run compare -- --help`. Use it for changes that must
// leave every response the same.
//
// Status, headers and body must be equal; headers that differ by nature (ids, date, entity tags)
// must both be present or absent.

import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parseArgs } from 'node:util'
import { resources } from '../src/resources/index.ts'

const usage = `Compares the responses of two versions of Dossier byte by byte.

Usage: npm run compare -- --old FOLDER --old-db STORE --db STORE [--every N] [--loaded-anew]

  --old FOLDER    a checkout of the other version, with its node_modules
  --old-db STORE  the SQLite file for the other version
  --db STORE      the SQLite file with the same data for this version
  --every N       request only every Nth company (1)
  --loaded-anew   each version has loaded its store itself, at moments of its own

Each version issues a key in its store.`

/** Headers whose values may differ between equal responses. */
const varying = new Set(['x-request-id', 'date', 'etag'])
const differencesShown = 20
const clientsAtOnce = 8
/** How many companies are searched for, and at how many versions they are asked for. */
const searchedMax = 200
const versionsMax = 12

interface Version {
  readonly port: number
  readonly key: string
}

interface Question {
  readonly path: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
}

const agent = new Agent({ keepAlive: true, maxSockets: clientsAtOnce })
const { values } = parseArgs({
  options: {
    old: { type: 'string' },
    'old-db': { type: 'string' },
    db: { type: 'string' },
    every: { type: 'string', default: '1' },
    'loaded-anew': { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h' },
  },
})
const { old, 'old-db': oldDb, db, every, 'loaded-anew': isAnew } = values
if (isAnew) varying.add('last-modified')
if (values.help === true || old === undefined || oldDb === undefined || db === undefined) {
  console.log(usage)
  process.exit(values.help === true ? 0 : 2)
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
const stores = { old: resolve(oldDb), now: resolve(db) }
const before = await start(resolve(old), stores.old)
const after = await start(resolve(import.meta.dirname, '..'), stores.now)
process.exit((await compareAll(questions(stores.now, Number(every)))) ? 0 : 1)

async function start(folder: string, store: string): Promise<Version> {
  const executable = join(folder, 'bin/dossier')
  const name = `compare-${process.pid}-${Date.now()}`
  const key = execFileSync(executable, ['keys', 'create', '--name', name, '--db', store], {
    encoding: 'utf8',
  })
  const options = ['--db', store, '--port', '0', '--log-format', 'json', '--usage-db', 'none']
  const child = spawn(executable, ['serve', ...options], { stdio: ['ignore', 'pipe', 'inherit'] })
  process.once('exit', () => child.kill())
  let printed = ''
  for (;;) {
    const [text] = (await once(child.stdout, 'data')) as [Buffer]
    printed += text.toString()
    const port = /"url":"http:\/\/[\d.]+:(\d+)"/.exec(printed)?.[1]
    if (port === undefined) continue
    child.stdout.resume()
    const found = /dossier_[0-9A-Za-z]{49}/.exec(key)?.[0]
    assert.ok(found, key)
    return { port: Number(port), key: found }
  }
}

/** Every listing of the chosen companies, many variants of some requests, and invalid requests. */
function* questions(store: string, step: number): Generator<Question> {
  const file = new DatabaseSync(store, { readOnly: true })
  const ids = file.prepare('select id from companies order by id').all()
  const companies = ids.map(({ id }) => Number(id)).filter((_, index) => index % step === 0)
  for (const company of companies) {
    for (const { name } of resources) yield { path: `/api/v1/companies/${company}/${name}` }
    yield { path: `/api/v1/companies/${company}` }
  }
  yield* searches(file)
  for (const [index, company] of companies.entries()) {
    if (index % 50 === 0) for (const { name } of resources) yield* spellings(company, name)
  }
  file.close()
  yield* refusals(companies[0] ?? 1)
  // Not /api/v1/key, which differs: each version has a key of its own.
  for (const path of ['/healthz', '/readyz', '/docs', '/docs/start.js', '/', '/nothing']) {
    yield { path }
    yield { path, method: 'HEAD' }
    yield { path, method: 'POST' }
  }
}

/** Companies by number, by the words of their names, by their register, and at each version. */
function* searches(store: DatabaseSync): Generator<Question> {
  const select = `
    select c.id, c.jurisdiction, c.identifier, n.name from companies c
    left join names n on n.company_id = c.id order by c.id`
  const companies = store.prepare(select).all()
  const [{ last } = {}] = store.prepare('select max(version) as last from imports').all()
  for (const { id, jurisdiction, identifier, name } of companies.slice(0, searchedMax)) {
    if (identifier !== null) {
      const [code, number] = [String(jurisdiction), String(identifier)].map(encodeURIComponent)
      yield { path: `/api/v1/companies/${code}:${number}` }
      yield { path: `/api/v1/companies?identifier=${number}` }
      yield { path: `/api/v1/companies?identifier=${number}&jurisdiction=${code}` }
    }
    if (name === null) continue
    const words = String(name).split(' ')
    for (const count of [1, 2, words.length]) {
      const q = encodeURIComponent(words.slice(0, count).join(' ').slice(0, -1))
      yield { path: `/api/v1/companies?q=${q}&limit=20` }
    }
    for (let version = 0; version <= Math.min(Number(last), versionsMax); version++) {
      yield { path: `/api/v1/companies/${Number(id)}?version=${version}` }
    }
  }
}

function* spellings(company: number, name: string): Generator<Question> {
  const path = `/api/v1/companies/${company}/${name}`
  const queries = ['limit=1', 'limit=1000', 'page=2&limit=20', 'page=3&limit=7', 'page=999999999']
  for (const query of [...queries, 'page=9007199254740991&limit=1000', 'limit=02']) {
    yield { path: `${path}?${query}` }
    yield { path: `${path}?${query}`, method: 'HEAD' }
  }
  for (const coding of ['gzip', 'br', 'zstd', 'gzip;q=0.5, br', 'identity;q=0', '*']) {
    yield { path, headers: { 'accept-encoding': coding } }
  }
  yield { path, body: '{"page":2,"limit":"20"}' }
  yield { path: `${path}?page=2`, body: '{"page":2}' }
  yield { path: `${path}?page=2`, body: '{"page":3}' }
  yield { path, headers: { 'if-none-match': '*' } }
  yield { path, headers: { 'if-none-match': 'W/"other", "more"' } }
}

function* refusals(company: number): Generator<Question> {
  const path = `/api/v1/companies/${company}/rights`
  const queries = ['pgae=2', 'page=0', 'limit=1001', 'limit=', 'page=1&page=2', 'page[]=1', 'a=b']
  for (const query of queries) yield { path: `${path}?${query}` }
  for (const id of ['0', '-1', 'abc', '1.5', '9007199254740993', '%zz', '1%2F2', '01', '']) {
    yield { path: `/api/v1/companies/${id}/rights` }
  }
  for (const body of ['[]', '{', '{"page":1.5}', '{"limti":1}', '{"page":null}', '"x"']) {
    yield { path, body }
  }
  yield { path, body: '{}', headers: { 'content-type': 'text/plain' } }
  yield { path, body: JSON.stringify({ page: 'x'.repeat(20_000) }) }
  yield { path: '/api/v1/companies/999999999999/rights' }
  yield { path: '/api/v1/companies/1/nothing' }
  yield { path: '/api/nothing' }
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) yield { path, method }
  for (const authorization of ['', 'Bearer x', 'Basic eDp5', `Bearer dossier_${'0'.repeat(49)}`]) {
    yield { path, headers: { authorization } }
  }
}

async function compareAll(all: Iterable<Question>): Promise<boolean> {
  const queue = Iterator.from(all)
  const statuses = new Map<number, number>()
  let asked = 0
  let different = 0
  async function work(): Promise<void> {
    for (let next = queue.next(); !next.done; next = queue.next()) {
      const question = next.value
      const answers = await Promise.all([ask(before, question), ask(after, question)])
      const faults = [...differences(...answers), ...(await tagFaults(question, answers))]
      const status = answers[1].status
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      asked += 1
      if (faults.length === 0) continue
      different += 1
      if (different <= differencesShown) console.log(JSON.stringify(question), ...faults)
    }
  }
  await Promise.all(Array.from({ length: clientsAtOnce }, work))
  const counts = [...statuses].toSorted(([a], [b]) => a - b).map(([code, n]) => `${code}: ${n}`)
  console.log(`${asked} questions, ${different} answered differently; ${counts.join(', ')}`)
  return different === 0 && asked > 0
}

function ask({ port, key }: Version, question: Question): Promise<Answer> {
  const { path, method = 'GET', headers = {}, body } = question
  const type = body === undefined ? {} : { 'content-type': 'application/json' }
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const fields = { authorization: `Bearer ${key}`, ...type, ...length, ...headers }
  const sent = request({ host: '127.0.0.1', port, path, method, agent, headers: fields })
  sent.once('error', reject).once('response', (response) => {
    const chunks: Buffer[] = []
    response.on('data', (chunk: Buffer) => chunks.push(chunk)).once('error', reject)
    response.once('end', () => {
      const { statusCode = 0, headers: received } = response
      resolve({ status: statusCode, headers: received, body: Buffer.concat(chunks) })
    })
  })
  sent.end(body)
  return promise
}

function differences(one: Answer, other: Answer): string[] {
  const names = new Set([...Object.keys(one.headers), ...Object.keys(other.headers)])
  const show = (answer: Answer, name: string) =>
    varying.has(name) ? String(name in answer.headers) : String(answer.headers[name])
  const faults = [...names]
    .filter((name) => show(one, name) !== show(other, name))
    .map((name) => `${name}: ${show(one, name)} → ${show(other, name)}`)
  if (one.status !== other.status) faults.push(`status: ${one.status} → ${other.status}`)
  if (!one.body.equals(other.body)) {
    faults.push(
      `body: ${one.body.toString().slice(0, 200)} → ${other.body.toString().slice(0, 200)}`,
    )
  }
  return faults
}

/** Checks that this version answers its own tag with a 304, and that both versions agree. */
async function tagFaults(
  question: Question,
  answers: readonly [Answer, Answer],
): Promise<string[]> {
  if (answers[1].status !== 200 || answers[1].headers['etag'] === undefined) return []
  const again = await Promise.all(
    [before, after].map((version, index) => {
      const tag = String(answers[index]?.headers['etag'])
      return ask(version, { ...question, headers: { ...question.headers, 'if-none-match': tag } })
    }),
  )
  const [one, other] = again
  assert.ok(one && other)
  const wrong = other.status === 304 ? [] : [`its own tag: ${other.status}`]
  return [...wrong, ...differences(one, other)]
}
