// A restored backup that diverges repeats version numbers, but no entity tag and no cursor.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { importRows, makePlace } from '../support/import-rows.ts'
import { runCommand } from '../support/run-command.ts'
import { askPort, runServer } from '../support/run-server.ts'
import { keepStore } from '../support/store-state.ts'

const right = (name: string) => [{ id: 1, company_id: 7, name }]

test('after a backup is restored under a running server, no old tag gets a 304 for new bytes, and an old cursor is a 410 (K4, 12.3)', async (t) => {
  const { folder, db } = makePlace(t)
  await importRows(db, 'rights', right('first'))
  const issue = ['keys', 'create', '--name', 'x', '--scopes', 'changes,rights']
  const key = (await runCommand(folder, issue)).out.trim()
  const server = await runServer(t, db)
  async function ask(tag?: string) {
    const fields = tag === undefined ? [] : [`If-None-Match: ${tag}`]
    const path = '/api/v1/companies/7/rights'
    const { status, headers, body } = await askPort(server.port, path, { key, fields })
    const name = /"name":"(.*?)"/.exec(body)?.[1]
    return { status, name, tag: headers['etag'] ?? '', version: headers['data-version'] }
  }
  async function follow(after: string) {
    const answer = await askPort(server.port, `/api/v1/changes?after=${after}`, { key })
    const told = JSON.parse(answer.body) as { until?: string; changes?: object[] }
    return { status: answer.status, until: told.until ?? '', told: told.changes?.length }
  }

  const first = await ask()
  const start = await follow('0')
  const restore = await keepStore(db)
  await importRows(db, 'rights', right('one way'))
  const oneWay = await ask()
  assert.deepEqual(oneWay, { ...oneWay, status: 200, name: 'one way', version: '2' })
  assert.equal((await ask(oneWay.tag)).status, 304)
  const then = await follow(start.until)
  assert.deepEqual([then.status, then.told], [200, 1])
  await importRows(db, 'rights', right('further'))
  const last = await follow(then.until)
  const batch = `${start.until}&until=${last.until}`
  assert.equal((await follow(batch)).status, 200)

  await restore()
  assert.equal((await ask(first.tag)).status, 304, 'the copy has the tags of what it holds')
  assert.equal((await ask(oneWay.tag)).name, 'first')
  for (const cursor of [then.until, last.until, batch]) {
    assert.equal((await follow(cursor)).status, 404, 'a standby may lag')
  }
  await importRows(db, 'rights', right('another way'))
  for (const tag of [oneWay.tag, first.tag, undefined]) {
    const answer = await ask(tag)
    assert.deepEqual(answer, { ...answer, status: 200, name: 'another way', version: '2' })
    assert.notEqual(answer.tag, oneWay.tag)
  }
  for (const cursor of [then.until, last.until, batch]) {
    assert.equal((await follow(cursor)).status, 410)
  }
  const anotherWay = await follow(start.until)
  assert.deepEqual([anotherWay.status, anotherWay.told], [200, 1])
  assert.notEqual(anotherWay.until, then.until)
})
