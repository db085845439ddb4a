// Responses that are made in one turn of the event loop are handed to the system at its end.

import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { endTogether } from '../../src/http/wire/end-together.ts'
import { askPort, bodiesOf } from '../support/run-server.ts'

/** Requests that have arrived and whose responses are not made yet, with what clients receive. */
async function arrive(t: TestContext, count: number) {
  const responses: ServerResponse[] = []
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const server = createServer((_, response) => {
    if (responses.push(response) === count) resolve(undefined)
  })
  t.after(() => server.close())
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  const received = Array.from({ length: count }, () => askPort(port, '/'))
  await promise
  return { responses, received }
}

const isEnded = ({ writableEnded }: ServerResponse) => writableEnded

test('responses of a turn are sent at its end, each whole', async (t) => {
  const { responses, received } = await arrive(t, 3)
  for (const [n, response] of responses.entries()) {
    endTogether(response.writeHead(200, { 'content-length': 6 }), `body ${n}`)
  }
  assert.deepEqual(responses.map(isEnded), [false, false, false])
  await nextTurn()
  assert.deepEqual(responses.map(isEnded), [true, true, true])
  const bodies = bodiesOf(await Promise.all(received))
  assert.deepEqual(bodies.toSorted(), ['body 0', 'body 1', 'body 2'])
})

test('bodies of 128 KiB or more together do not wait for the end of the turn', async (t) => {
  const { responses, received } = await arrive(t, 3)
  const body = Buffer.alloc(65_536, 'x')
  const ended = responses.map((response) => {
    endTogether(response.writeHead(200, { 'content-length': body.length }), body)
    return responses.map(isEnded)
  })
  const [first, second, third] = ended
  assert.deepEqual(first, [false, false, false])
  assert.deepEqual(second, [true, true, false])
  assert.deepEqual(third, [true, true, false])
  for (const text of bodiesOf(await Promise.all(received))) assert.equal(text.length, body.length)
})
