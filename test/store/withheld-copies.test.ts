// A withholding reaches those who keep copies: complete copies are withdrawn, and changes tell of
// what is erased (contract 12.6, 13).

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { importRows, makeFolder } from '../support/import-rows.ts'
import { type Answer, checkFailure, listenOn, makeApp, memberOf } from '../support/make-app.ts'
import { processorMs } from '../support/processor-time.ts'
import { mustRun, runCommand } from '../support/run-command.ts'
import { checkExit, dossier } from '../support/run-dossier.ts'
import { keepStore } from '../support/store-state.ts'
import { lengthenFile, writeCopy } from '../support/write-copy.ts'
import { prune, withhold } from '../support/write-store.ts'
import { scopeNames } from '../../src/cli/keys.ts'

const path = '/api/v1/exports'
const rows = [
  { id: 1, company_id: 7, identifier: '770412345678', name: 'Jane Doe' },
  { id: 2, company_id: 7, identifier: '2', name: 'John Roe' },
]

/** A registry with a copy, and a key for everything. */
async function makeCopied(t: Parameters<typeof makeApp>[0]) {
  const folder = makeFolder({ after: (work) => t.after(() => Promise.resolve(work())) })
  const copies = join(folder, 'copies')
  const { ask, store, db, ...app } = await makeApp(t, { exportsFolder: copies })
  await importRows(db, 'employees', rows)
  const key = await store.issueKey({ name: 'copies', scopes: scopeNames })
  const get = (at: string) => ask(at, { key })
  const copy = (options: Parameters<typeof writeCopy>[2] = {}) =>
    writeCopy(store.db, copies, options)
  return { ...app, db, url: store.db, copies, key, get, copy }
}

test('a copy begun before a withholding gets a 410, and a later one does not', async (t) => {
  const { db, url, copies, get, copy } = await makeCopied(t)
  await copy()
  assert.equal((await get(`${path}/1/manifest.json`)).status, 200)
  await withhold(db, 'erase', { resource: 'employees', id: 1 })
  const message = 'The copy of version 1 was withdrawn; /api/v1/exports lists the available ones'
  checkFailure(await get(`${path}/1/manifest.json`), 410, message)
  checkFailure(await get(`${path}/1/employees-1.ndjson.zst`), 410, message)
  const { version } = await copy()
  assert.equal(version, 2)
  assert.equal((await get(`${path}/2/employees-1.ndjson.zst`)).status, 200)
  const listed = memberOf(await get(path), 'exports') as { version: number }[]
  const told = listed.map((one) => one.version)
  assert.deepEqual(told, [2])
  const run = await runCommand(copies, `compact --db ${url} --exports ${copies}`)
  assert.match(run.out, /^Withdrew the copy of version 1, and deleted its files\.$/m)
  assert.deepEqual(readdirSync(join(copies, '1')).sort(), ['manifest.json', 'withheld'])
  assert.equal((await get(`${path}/2/employees-1.ndjson.zst`)).status, 200)
  const again = await runCommand(copies, `compact --db ${url} --exports ${copies}`)
  assert.equal(again.out.includes('Withdrew'), false)
})

test('a copy is not kept if something is withheld while it is written', async (t) => {
  const { url, copies, copy } = await makeCopied(t)
  const says = /^OperatorError: what is withheld has changed while/
  const giveOnce = (order: readonly string[]) => {
    let isGiven = false
    return () => {
      if (!isGiven) spawnSync(dossier, [...order, '--db', url, '--exports', copies])
      isGiven = true
    }
  }
  await assert.rejects(copy({ onStep: giveOnce(maskPerson) }), says)
  assert.deepEqual(readdirSync(copies), [])
  // When the last thing is written, the manifest, nobody withdraws the copy yet.
  const toJSON = giveOnce(orderOn('erase', '2'))
  const cursorOf = () => ({ toJSON }) as unknown as string
  await assert.rejects(copy({ cursorOf }), says)
  assert.deepEqual(readdirSync(copies), [])
  assert.equal((await copy()).version, 3)
})

test('a file that is being sent ends with its copy', async (t) => {
  const { app, db, copies, key, copy } = await makeCopied(t)
  await copy()
  // More than the buffers of two sockets hold.
  const bytes = 24 << 20
  lengthenFile(copies, 'employees-1.ndjson.zst', bytes)
  const headers = { authorization: `Bearer ${key}` }
  const port = await listenOn({ app })
  const at = `http://127.0.0.1:${port}${path}/1/employees-1.ndjson.zst`
  const asked = request(at, { headers }).end()
  // A connection that is reset is an error of the answer, too.
  asked.on('error', () => undefined)
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  assert.equal(answer.headers['content-length'], String(bytes))
  await withhold(db, 'erase', { resource: 'employees', id: 1 })
  await assert.rejects(answer.resume().toArray(), /aborted|ECONNRESET/)
})

test('a withholding after a restored backup withdraws the copies of the lost history', async (t) => {
  const { db, get, copy } = await makeCopied(t)
  const restore = await keepStore(db)
  await importRows(db, 'employees', [{ id: 3, company_id: 7 }])
  await withhold(db, 'erase', { resource: 'employees', id: 1 })
  await copy({ version: 1 })
  assert.equal((await get(`${path}/1/employees-1.ndjson.zst`)).status, 200)
  await restore()
  // The order is version 2 now, and the next one version 3, as the first one was.
  const { version } = await withhold(db, 'erase', { resource: 'employees', id: 2 })
  assert.equal(version, 3)
  assert.equal((await get(`${path}/1/employees-1.ndjson.zst`)).status, 410)
})

test('a withdrawn copy stays so when a backup is restored that the order leaves as it is', async (t) => {
  const { db, url, copies, get, copy } = await makeCopied(t)
  await copy()
  const restore = await keepStore(db)
  await importRows(db, 'employees', [{ id: 3, company_id: 7 }])
  await withhold(db, 'erase', { resource: 'employees', id: 3 })
  await restore()
  await mustRun(copies, ['migrate', '--db', url])
  assert.equal((await get(`${path}/1/employees-1.ndjson.zst`)).status, 410)
  assert.deepEqual(memberOf(await get(path), 'exports'), [])
})

test('a copy that was withdrawn is made again once it is removed, at the same version', async (t) => {
  const { db, url, copies, get, copy } = await makeCopied(t)
  await withhold(db, 'erase', { resource: 'employees', id: 1 })
  await copy()
  assert.equal((await get(`${path}/2/employees-1.ndjson.zst`)).status, 200)
  // A lift is no version.
  const lift = ['withhold', 'lift', '1', '--reason', 'r', '--by', 'b', '--db', url]
  await mustRun(makeFolder(t), lift)
  assert.equal((await get(`${path}/2/employees-1.ndjson.zst`)).status, 410)
  const says = /already has a withdrawn copy of version 2; to write it again, remove /
  await assert.rejects(copy(), says)
  rmSync(join(copies, '2'), { recursive: true })
  await copy()
  assert.equal((await get(`${path}/2/employees-1.ndjson.zst`)).status, 200)
})

const orderOn = (kind: string, subject: string) =>
  ['withhold', kind, 'employees', subject].concat('--reason=r --by=b --yes'.split(' '))
const maskPerson = orderOn('mask', 'identifier=770412345678')

test('a withholding is reported even if its copies cannot be withdrawn', async (t) => {
  const { url, copies } = await makeCopied(t)
  mkdirSync(join(copies, '9/manifest.json'), { recursive: true })
  const file = join(copies, 'file')
  writeFileSync(file, '')
  const refused = await runCommand(copies, [...maskPerson, '--db', url, '--exports', file])
  checkExit(refused, 2, /^dossier: --exports is ".*file"; it must be a folder$/m)
  const run = await runCommand(copies, [...maskPerson, '--db', url, '--exports', copies])
  checkExit(run, 1, /^Masked as order 1, in version \d\. /m)
  assert.match(run.err, /^Complete copies, if any, still contain it: /m)
  assert.match(run.err, /^dossier: .*read failed with EISDIR/m)
})

test('a folder of copies that does not exist is reported: it may be misspelt', async (t) => {
  const { url, copies } = await makeCopied(t)
  const options = ['--db', url, '--exports', `${copies}x`]
  for (const command of [maskPerson, ['compact']]) {
    const run = await runCommand(join(copies, '..'), [...command, ...options])
    checkExit(run, 0, /^dossier: warning: the folder of --exports, .*copiesx, does not exist: /m)
  }
})

test('copies whose folder cannot be entered are reported', async (t) => {
  const { url, copies } = await makeCopied(t)
  mkdirSync(copies)
  // A link to itself cannot be entered, as a folder of another user.
  symlinkSync('9', join(copies, '9'))
  const run = await runCommand(copies, [...maskPerson, '--db', url, '--exports', copies])
  checkExit(run, 1, /^dossier: .*9\/manifest\.json: stat failed with ELOOP/m)
  const within = join(copies, '9', 'copies')
  const again = await runCommand(copies, ['compact', '--db', url, '--exports', within])
  checkExit(again, 1, /^dossier: .*9\/copies: stat failed with ELOOP/m)
})

test('a copy whose manifest cannot be read is reported, and all others are withdrawn', async (t) => {
  const { url, copies, get, copy } = await makeCopied(t)
  await copy()
  const { pid } = spawnSync(process.execPath, ['--version'])
  mkdirSync(join(copies, `.3.${pid}.some-id.partial`))
  for (const [text, version] of [
    ['{"registry":', 9],
    ['null', 8],
    ['{"name":"another program"}', 7],
  ] as const) {
    mkdirSync(join(copies, String(version)))
    writeFileSync(join(copies, String(version), 'manifest.json'), text)
    assert.equal((await get(`${path}/${version}/manifest.json`)).status, 404, text)
  }
  assert.equal((memberOf(await get(path), 'exports') as object[]).length, 1)
  const run = await runCommand(copies, [...maskPerson, '--db', url, '--exports', copies])
  checkExit(run, 1, /^dossier: .*9\/manifest\.json is damaged or from another program, so /m)
  assert.deepEqual(readdirSync(copies).sort(), ['1', '7', '8', '9'])
  assert.deepEqual(readdirSync(join(copies, '1')).sort(), ['manifest.json', 'withheld'])
})

test('changes report an erasure, and what a mask has left', async (t) => {
  const { db, get, copy } = await makeCopied(t)
  const { cursor } = await copy()
  await withhold(db, 'erase', { resource: 'employees', id: 1 })
  await withhold(db, 'mask', { resource: 'employees', id: 2 })
  const answer = await get(`/api/v1/changes?after=${cursor}`)
  assert.equal(answer.status, 200, answer.text)
  const changes = memberOf(answer, 'changes') as Record<string, unknown>[]
  const told = changes.map(({ resource, id, version, change, record }) => {
    const name = (record as { name?: unknown } | null)?.name ?? null
    return [resource, id, version, change, name]
  })
  assert.deepEqual(told, [
    ['employees', 1, 2, 'erase', null],
    ['employees', 2, 3, 'put', '[withheld]'],
  ])
  const whole = await get('/api/v1/changes?after=0&resource=employees')
  assert.deepEqual(memberOf(whole, 'changes'), changes.slice(1))
  const company = await get('/api/v1/companies/7')
  assert.match(company.text, /"employees":\{"total":1,"version":3,/)
  const ofCompany = await get(`/api/v1/changes?after=${cursor}&company_id=7`)
  assert.deepEqual(memberOf(ofCompany, 'changes'), changes)
})

/** What a client is told of company 7 that takes one change at a time. */
async function walk(get: (at: string) => Promise<Answer>, after: string): Promise<unknown[]> {
  const told: unknown[] = []
  let next: string | null = after
  for (let left = 5; next !== null && left > 0; left -= 1) {
    const page = await get(`/api/v1/changes?after=${next}&company_id=7&limit=1`)
    told.push(...(memberOf(page, 'changes') as object[]))
    next = memberOf(page, 'next') as string | null
  }
  return told
}

test('changes of a company come once each, whatever the length of the pages', async (t) => {
  const { db, get, copy } = await makeCopied(t)
  const { cursor } = await copy()
  const whole = await get('/api/v1/changes?after=0&company_id=7')
  assert.deepEqual(await walk(get, '0'), memberOf(whole, 'changes'))
  await withhold(db, 'erase', { company: 7 })
  const erased = await get(`/api/v1/changes?after=${cursor}&company_id=7`)
  assert.equal((memberOf(erased, 'changes') as object[]).length, 3)
  assert.deepEqual(await walk(get, cursor), memberOf(erased, 'changes'))
})

test('changes report a masked record with the greatest id', async (t) => {
  const { db, get, copy } = await makeCopied(t)
  // From 2^52 on, doubles have no halves.
  const id = Number.MAX_SAFE_INTEGER - 1
  await importRows(db, 'employees', [{ id, company_id: 7, name: 'Jane Doe' }])
  const { cursor } = await copy()
  await withhold(db, 'mask', { resource: 'employees', id })
  const changes = memberOf(await get(`/api/v1/changes?after=${cursor}`), 'changes')
  const told = (changes as Record<string, unknown>[]).map((one) => [one['id'], one['change']])
  assert.deepEqual(told, [[id, 'put']])
})

test('changes find many masked records without looking for each', async (t) => {
  const { db, get, copy } = await makeCopied(t)
  const many = Array.from({ length: 20_000 }, (_, n) => {
    return { id: n + 10, company_id: 7, identifier: '3', name: 'Jane Doe' }
  })
  await importRows(db, 'employees', many)
  const { cursor } = await copy({ formats: [] })
  await withhold(db, 'mask', { resource: 'employees', field: 'identifier', value: '3' })
  const ms = await processorMs(async () => {
    const answer = await get(`/api/v1/changes?after=${cursor}`)
    assert.equal((memberOf(answer, 'changes') as object[]).length, 100)
  })
  assert.ok(ms < 1_000, `${ms} ms`)
})

test('changes report an erased company', async (t) => {
  const { db, get, copy } = await makeCopied(t)
  const { cursor } = await copy()
  await withhold(db, 'erase', { company: 7 })
  const answer = await get(`/api/v1/changes?after=${cursor}`)
  const changes = memberOf(answer, 'changes') as Record<string, unknown>[]
  const told = changes.map(({ resource, id, change, record }) => [resource, id, change, record])
  assert.deepEqual(told, [
    ['companies', 7, 'erase', null],
    ['employees', 1, 'erase', null],
    ['employees', 2, 'erase', null],
  ])
  // Whoever has been told, or never knew of it, learns no more than of a company that never was.
  for (const after of ['0', String(memberOf(answer, 'until'))]) {
    for (const id of [7, 9]) {
      const none = await get(`/api/v1/changes?after=${after}&company_id=${id}`)
      checkFailure(none, 404, `Company ${id} is not in the registry`)
    }
  }
})

test('a client within changes is told of what an erased company had lost before', async (t) => {
  const { db, get } = await makeCopied(t)
  const load = (some: readonly object[]) => importRows(db, 'employees', some, { isSnapshot: true })
  const changesAfter = (after: unknown) =>
    get(`/api/v1/changes?resource=employees&limit=1&after=${String(after)}`)
  const idsOf = (answer: Answer) =>
    (memberOf(answer, 'changes') as { id: number }[]).map(({ id }) => id)
  const [jane, john] = rows
  const other = { id: 3, company_id: 6 }
  await load([other, ...rows])
  const whole = await get('/api/v1/changes?after=0&resource=employees')
  await load([other, { ...jane }])
  const change = { position: 'Director' }
  await load([
    { ...other, ...change },
    { ...jane, ...change },
  ])
  await prune(db)
  // Company 7 follows, as its last change is that of Jane, who is in the present listing.
  const first = await changesAfter(memberOf(whole, 'until'))
  assert.deepEqual(idsOf(first), [other.id])
  await withhold(db, 'erase', { company: 7 })
  const told = new Set<number>()
  for (let [at, left] = [memberOf(first, 'next'), 5]; left > 0; left -= 1) {
    const page = await changesAfter(at)
    for (const id of idsOf(page)) told.add(id)
    at = memberOf(page, 'next') ?? memberOf(page, 'until')
  }
  assert.deepEqual(told, new Set([jane?.id, john?.id]))
})
