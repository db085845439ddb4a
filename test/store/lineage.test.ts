// A restored backup that diverges repeats version numbers, but no entity tag.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { importRows, makeFolder, query, queryValue } from '../support/import-rows.ts'
import { runCommand } from '../support/run-command.ts'
import { askPort, runServer } from '../support/run-server.ts'
import { keepStore } from '../support/store-state.ts'

const rightsPath = '/api/v1/companies/7/rights'
const right = (name: string) => [{ id: 1, company_id: 7, name }]

test('after a backup is restored under a running server, no old tag gets a 304 for new bytes (K4)', async (t) => {
  const folder = makeFolder(t)
  const db = join(folder, 'dossier.db')
  await importRows(db, 'rights', right('first'))
  const made = await runCommand(folder, ['keys', 'create', '--name', 'x'])
  const server = await runServer(t, db)
  async function ask(tag?: string) {
    const fields = tag === undefined ? [] : [`If-None-Match: ${tag}`]
    const request = { key: made.out.trim(), fields }
    const { status, headers, body } = await askPort(server.port, rightsPath, request)
    const name = /"name":"(.*?)"/.exec(body)?.[1]
    return { status, name, tag: headers['etag'] ?? '', version: headers['data-version'] }
  }

  const first = await ask()
  const restore = await keepStore(db)
  await importRows(db, 'rights', right('one way'))
  const oneWay = await ask()
  assert.deepEqual(oneWay, { ...oneWay, status: 200, name: 'one way', version: '2' })
  assert.equal((await ask(oneWay.tag)).status, 304)

  await restore()
  assert.equal((await ask(first.tag)).status, 304, 'the copy has the tags of what it holds')
  assert.equal((await ask(oneWay.tag)).name, 'first')
  await importRows(db, 'rights', right('another way'))
  for (const tag of [oneWay.tag, first.tag, undefined]) {
    const answer = await ask(tag)
    assert.deepEqual(answer, { ...answer, status: 200, name: 'another way', version: '2' })
    assert.notEqual(answer.tag, oneWay.tag)
  }
})

test('a cursor of before a restored backup that went another way is a 410 (12.3)', async (t) => {
  const folder = makeFolder(t)
  const db = join(folder, 'dossier.db')
  await importRows(db, 'rights', right('first'))
  const scopes = ['--scopes', 'changes,rights']
  const made = await runCommand(folder, ['keys', 'create', '--name', 'x', ...scopes])
  const server = await runServer(t, db)
  const follow = async (after: string) => {
    const request = { key: made.out.trim() }
    const answer = await askPort(server.port, `/api/v1/changes?after=${after}`, request)
    const { until = '', changes } = JSON.parse(answer.body) as {
      until?: string
      changes?: object[]
    }
    return { status: answer.status, until, told: changes?.length }
  }
  const first = await follow('0')
  const restore = await keepStore(db)
  await importRows(db, 'rights', right('one way'))
  const oneWay = await follow(first.until)
  assert.deepEqual([oneWay.status, oneWay.told], [200, 1])
  await restore()
  assert.equal((await follow(oneWay.until)).status, 404, 'a standby may lag')
  await importRows(db, 'rights', right('another way'))
  assert.equal((await follow(oneWay.until)).status, 410)
  const anotherWay = await follow(first.until)
  assert.deepEqual([anotherWay.status, anotherWay.told], [200, 1])
  assert.notEqual(anotherWay.until, oneWay.until)
})

test('each import has its own short, opaque lineage', async (t) => {
  const db = join(makeFolder(t), 'dossier.db')
  for (const name of ['a', 'b', 'c']) await importRows(db, 'rights', right(name))
  const lineages = query(db, 'select lineage from imports').map(({ lineage }) => String(lineage))
  for (const lineage of lineages) assert.match(lineage, /^[0-9a-f]{12}$/)
  assert.equal(new Set(lineages).size, 3)
  assert.equal(queryValue(db, 'select count(*) from imports'), 3)
})
