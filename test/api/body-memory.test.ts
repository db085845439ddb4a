// The memory of a body is used again for the next one. No client gets the bytes of another page,
// however slowly it reads, and whether or not it stays.

import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { rights } from '../../src/resources/rights.ts'
import { borrow } from '../../src/http/wire/body-memory.ts'
import { expectedBody, listenOn, makeApp, pathOf } from '../support/make-app.ts'
import { makeRecord } from '../support/make-record.ts'
import { answersIn, askPort, bodiesOf, requestTo } from '../support/run-server.ts'

const companies = [1, 2, 3, 4, 5, 6]
/** Records of 2.3 kB: a page of all is more than the system's buffers hold, and not kept. */
const all = companies.map((company) => ({
  resource: rights,
  company,
  records: Array.from({ length: 900 }, (_, n) =>
    makeRecord(rights, { id: company * 1_000 + n, name: `${company}`.repeat(2_000) }),
  ),
}))
const made = await makeApp({ after }, { records: all })
const port = await listenOn(made)

/** Sends requests at once, the last of which closes, and reads their answers with pauses. */
async function readSlowly(requests: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1' }).pause().setEncoding('latin1')
  const chunks: string[] = []
  socket.write(requests)
  while (!socket.readableEnded) {
    await sleep(2)
    const chunk = socket.read() as string | null
    if (chunk !== null) chunks.push(chunk)
    assert.equal(socket.errored, null, 'it is not cut off')
  }
  return chunks.join('')
}

test('a slow client gets its own page while others are served', async () => {
  const request = (company: number, query: string, isLast = false) =>
    requestTo(`${pathOf(rights, company)}?${query}`, { key: made.key, isLast })
  let isOver = false
  const fast = companies.slice(3).map(async (company) => {
    while (!isOver) {
      const socket = connect({ port, host: '127.0.0.1' }).resume()
      socket.write(request(company, 'limit=100').repeat(4))
      // Some of them leave before they have read anything.
      await sleep(company === 4 ? 1 : 10)
      socket.destroy()
    }
  })
  const slow = companies.slice(0, 3).map(async (company) => {
    const { records } = all[company - 1] ?? { records: [] }
    // The first pages fill the system's buffers, so that the others wait in our memory.
    const requests =
      request(company, 'limit=900').repeat(5) +
      request(company, 'limit=100').repeat(2) +
      request(company, 'limit=100', true)
    const bodies = bodiesOf(answersIn(await readSlowly(requests)))
    assert.equal(bodies.length, 8)
    const expected = expectedBody({ resource: rights, all: records, limit: 100 })
    for (const body of bodies.slice(5)) {
      assert.ok(body === expected, `company ${company} gets its own bytes`)
    }
  })
  await Promise.all(slow).finally(() => (isOver = true))
  await Promise.all(fast)
})

test('memory that several clients got at once is not reused for two others', async () => {
  const key = await made.store.issueKey({ name: 'follower', scopes: ['changes', 'rights'] })
  const ask = () => askPort(port, '/api/v1/changes?after=0&limit=200', { key })
  const bodies = bodiesOf(await Promise.all(Array.from({ length: 20 }, ask)))
  assert.equal(new Set(bodies).size, 1)
  const bytes = bodies[0]?.length ?? 0
  const next = [borrow(bytes), borrow(bytes), borrow(bytes)]
  assert.equal(new Set(next.map(({ buffer }) => buffer)).size, next.length)
})
