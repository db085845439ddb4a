// Long work in steps, beside responses.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { endTogether } from '../../src/http/wire/end-together.ts'
import { createPace } from '../../src/store/serving/pace.ts'
import { openPort } from '../support/free-port.ts'

test('a response that is ready does not wait for the next step of a scan', async (t) => {
  let step: Promise<boolean> | undefined
  const server = createServer((_request, response) => {
    step = waitForStep().then(() => response.writableEnded)
    endTogether(response, 'ready')
  })
  const port = await openPort(t, server)

  const response = await fetch(`http://127.0.0.1:${port}/`)

  assert.equal(await response.text(), 'ready')
  assert.equal(await step, true, 'the step came first')
})

/** Waits for a step after one that has taken its time. */
async function waitForStep(): Promise<void> {
  const pace = createPace()
  let next = pace()
  while (next === undefined) next = pace()
  await next
}
