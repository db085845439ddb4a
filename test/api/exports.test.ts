// Contract 12.6: complete copies as files.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { hash } from 'node:crypto'
import { once } from 'node:events'
import {
  cpSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { after, test, type TestContext } from 'node:test'
import { readExport } from '../../src/store/exports/folder.ts'
import { askAnnounced } from '../support/announcement.ts'
import { makeFolder } from '../support/import-rows.ts'
import { checkFailure, checkTag, listenOn, makeApp, type Question } from '../support/make-app.ts'
import { openWire, requestTo } from '../support/run-server.ts'
import { lengthenFile, writeCopy } from '../support/write-copy.ts'
import { scopeNames } from '../../src/cli/keys.ts'

const path = '/api/v1/exports'
const folder = makeFolder({ after })
const copies = join(folder, 'copies')
mkdirSync(copies)
const made = await makeApp({ after }, { exportsFolder: copies })
const { ask, store } = made
const rights = Array.from({ length: 500 }, (_, n) => ({ id: n + 1, company_id: 1, name: `n ${n}` }))
await store.importRows('rights', rights)
const key = await store.issueKey({ name: 'copies', scopes: scopeNames })
const get = (at: string, question: Question = {}) => ask(at, { key, ...question })

const none = await get(path)
const manifest = await writeCopy(store.db, copies)
const file = `${path}/1/rights-1.ndjson.zst`
const content = readFileSync(join(copies, '1', 'rights-1.ndjson.zst'))
const tag = `"${hash('sha256', content)}"`
const announced = (of: string, at?: string) => askAnnounced({ ask: get }, path + of, at)
const getFile = await announced('/{version}/{file}', file)

/** The versions of the copies that are offered. */
async function versionsOffered(): Promise<number[]> {
  const { exports } = JSON.parse((await get(path)).text) as { exports: { version: number }[] }
  return exports.map(({ version }) => version)
}

/** Puts a manifest into the folder of a version. */
function putManifest(t: TestContext, version: number, content: object): void {
  const own = join(copies, String(version))
  mkdirSync(own)
  t.after(() => rmSync(own, { recursive: true }))
  writeFileSync(join(own, 'manifest.json'), JSON.stringify(content))
}

test('copies are listed, with the cursor from which changes continue', async () => {
  assert.equal(none.text, '{"ok":true,"exports":[]}')
  const answer = await (await announced(''))()
  const [one, ...more] = (JSON.parse(answer.text) as { exports: Record<string, unknown>[] }).exports
  assert.deepEqual(more, [])
  const { version, cursor, records } = one ?? {}
  assert.deepEqual([version, cursor, records], [1, manifest.cursor, 501])
  const getManifest = await announced('/{version}/manifest.json', String(one?.['manifest']))
  const named = await getManifest()
  assert.deepEqual(JSON.parse(named.text), manifest)
  const changes = await get(`/api/v1/changes?after=${manifest.cursor}`)
  assert.equal(changes.text.startsWith('{"ok":true,"changes":[],'), true)
})

test('generated clients know that a copy is of a moment, and a statement of a moment or null', async () => {
  const { components } = JSON.parse((await get('/openapi.json')).text) as {
    components: { schemas: Record<string, { properties: Record<string, Record<string, unknown>> }> }
  }
  for (const [name, member, type] of [
    ['Export', 'committed_at', 'string'],
    ['Manifest', 'committed_at', 'string'],
    ['SourceStatement', 'as_of', ['string', 'null']],
  ] as const) {
    const schema = components.schemas[name]?.properties[member] ?? assert.fail(name)
    assert.deepEqual([schema['type'], schema['format']], [type, 'date-time'], name)
  }
})

test('copies of another registry in the folder hide none of this one', async (t) => {
  for (let version = 2; version <= 101; version += 1) {
    putManifest(t, version, { ...manifest, registry: 'another' })
  }
  assert.deepEqual(await versionsOffered(), [1])
})

test('a copy from a history that a restore has ended is not offered (12.6)', async (t) => {
  putManifest(t, 2, { ...manifest, version: 2, cursor: '2.0123456789abcdef.z' })
  assert.deepEqual(await versionsOffered(), [1])
  checkFailure(await get(`${path}/2/manifest.json`), 404, /./)
})

test('a folder that cannot be read is a 503 that the log explains, not an empty list', async (t) => {
  const none = join(folder, 'none')
  const lost = await makeApp(t, { exportsFolder: none })
  const other = await lost.store.issueKey({ name: 'copies', scopes: ['exports'] })
  assert.equal((await lost.ask(path, { key: other })).text, '{"ok":true,"exports":[]}')
  writeFileSync(none, '')
  checkFailure(await lost.ask(path, { key: other }), 503, 'Service Unavailable')
  assert.match(JSON.stringify(lost.logged()), /ENOTDIR/)
})

test('a copy that cannot be read is a 503 that the log explains, not one that is missing', async (t) => {
  const shut = join(copies, '3')
  t.after(() => rmSync(shut, { recursive: true }))
  // As one that the server's user may not enter.
  symlinkSync('3', shut)
  checkFailure(await get(path), 503, 'Service Unavailable')
  checkFailure(await get(`${path}/3/rights-1.ndjson.zst`), 503, 'Service Unavailable')
  rmSync(shut)
  // As one whose files it may not read.
  mkdirSync(join(shut, 'manifest.json'), { recursive: true })
  checkFailure(await get(path), 503, 'Service Unavailable')
  assert.match(JSON.stringify(made.logged()), /ELOOP.*EISDIR/)
})

test('a copy that is moved away while it is looked up is there or not, without a fault', async (t) => {
  const moving = `const { renameSync } = require('node:fs')
    for (;;) { renameSync('1', 'away'); renameSync('away', '1') }`
  const moved = makeFolder(t)
  cpSync(copies, moved, { recursive: true })
  const mover = spawn(process.execPath, ['-e', moving], { cwd: moved })
  await once(mover, 'spawn')
  const found = new Set<boolean>()
  try {
    for (let n = 0; n < 20_000 || found.size < 2; n += 1) {
      found.add(readExport(moved, 1) !== undefined)
    }
  } finally {
    mover.kill('SIGKILL')
    await once(mover, 'exit')
  }
})

test('a file is sent whole, with its size, its tag and its digest', async () => {
  const whole = await getFile()
  assert.equal(whole.status, 200)
  assert.ok(whole.bytes.equals(content))
  const { headers } = whole
  assert.equal(headers['content-length'], String(content.length))
  assert.equal(headers['content-type'], 'application/zstd')
  assert.equal(headers['accept-ranges'], 'bytes')
  assert.equal(headers['repr-digest'], `sha-256=:${hash('sha256', content, 'base64')}:`)
  assert.equal(await checkTag((question) => get(file, question)), tag)
  const head = await get(file, { method: 'HEAD' })
  assert.equal(head.headers['content-length'], String(content.length))
})

test('parts are sent as requested, of the same file only (RFC 9110 section 14)', async () => {
  const { length } = content
  for (const [range, start, end] of [
    ['bytes=0-0', 0, 1],
    ['bytes=10-19', 10, 20],
    [`bytes=${length - 5}-`, length - 5, length],
    [`bytes=5-${length + 100}`, 5, length],
    // As clients write it that do not know the size.
    ['bytes=5-9223372036854775807', 5, length],
    ['bytes=-7', length - 7, length],
    [`bytes=-${length + 7}`, 0, length],
  ] as const) {
    const part = await getFile('', { headers: { range } })
    assert.equal(part.status, 206, range)
    assert.ok(part.bytes.equals(content.subarray(start, end)), range)
    assert.equal(part.headers['content-range'], `bytes ${start}-${end - 1}/${length}`)
    assert.equal(part.headers['content-length'], String(end - start))
  }
  for (const range of [`bytes=${length}-`, 'bytes=-0', `bytes=${'9'.repeat(400)}-`]) {
    const beyond = await get(file, { headers: { range } })
    const message = `None of the file's ${length} bytes is in the range; if you have them all, it is complete`
    checkFailure(beyond, 416, message)
    assert.equal(beyond.headers['content-range'], `bytes */${length}`)
  }
  // What is no range, or one of several parts, is as if it were not there.
  for (const [range, status, more] of [
    ...['bytes=9-1', 'bytes=x', 'bytes=1 0-2 0', 'lines=1-2', 'bytes=0-1,5-6'].map(
      (odd) => [odd, 200] as const,
    ),
    [`bytes=${length}-`, 304, { 'if-none-match': tag }],
    ['bytes=0-1', 206, { 'if-range': tag }],
    ['bytes=0-1', 200, { 'if-range': '"other"' }],
  ] as const) {
    assert.equal((await get(file, { headers: { range, ...more } })).status, status, range)
  }
  const head = await get(file, { method: 'HEAD', headers: { range: 'bytes=0-1' } })
  assert.equal(head.status, 200)
})

test('a missing file is a 404, even with another path in its name', async () => {
  for (const at of [
    ...[`${path}/2/manifest.json`, `${path}/1/other`, `${path}/1/..%2f..%2frows`],
    ...[`${path}/01/manifest.json`, `${path}/x/manifest.json`, `${path}/1`],
  ]) {
    checkFailure(await get(at), 404, 'Not Found')
  }
  checkFailure(await get(`${path}?page=1`), 400, /"page" is not a known query parameter/)
})

test('a key without the scope, or without the listing, gets the same 403 (2.2)', async () => {
  const forbidden = (await ask('/api/v1/nothing', { authorization: null })).text
  assert.equal((await ask(path)).text, forbidden)
  const one = await store.issueKey({ name: 'one', scopes: ['exports', 'companies'] })
  assert.equal((await get(file, { key: one })).text, forbidden)
  const companies = await get(`${path}/1/companies-1.ndjson.zst`, { key: one })
  assert.equal(companies.status, 200)
})

test('a file that differs from the manifest is not sent', async () => {
  truncateSync(join(copies, '1', 'companies-1.ndjson.zst'), 3)
  checkFailure(await get(`${path}/1/companies-1.ndjson.zst`), 503, 'Service Unavailable')
})

test('a file that becomes shorter while it is sent is cut off, and the cause is logged', async () => {
  const name = 'rights-1.ndjson.zst'
  // More than the buffers of two sockets hold.
  const bytes = 33_554_432
  lengthenFile(copies, name, bytes)
  const wire = await openWire(await listenOn(made))
  wire.send(requestTo(file, { key, isLast: false }))
  await once(wire.socket, 'data')
  wire.socket.pause()
  truncateSync(join(copies, '1', name), bytes - 1)
  wire.socket.resume()
  assert.match(await wire.closed(), /^HTTP\/1.1 200 /)
  assert.match(JSON.stringify(made.logged()), /has become shorter while it was sent/)
})
