// Texts in requests that are not Unicode: no store has them, and none is taken for another.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { selectionNames } from '../../src/http/requests/selection-parameters.ts'
import { resources } from '../../src/resources/index.ts'
import { rights } from '../../src/resources/rights.ts'
import { checkFailure, makeApp, pathOf } from '../support/make-app.ts'

const { ask } = await makeApp({ after }, { companies: [1] })
const path = pathOf(rights, 1)
const json = { 'content-type': 'application/json' }

test('half of a surrogate pair is a 400, in every parameter of every listing (1.3, J7)', async () => {
  const half = String.raw`\ud800`
  for (const resource of resources) {
    const names = ['page', 'limit', 'format', ...selectionNames(resource)]
    for (const name of names) {
      const body = `{"${name}":"x${half}"}`
      const answer = await ask(pathOf(resource, 1), { headers: json, body })
      checkFailure(answer, 400, new RegExp(`^${name} is "x\\\\ud800"; it takes Unicode text`))
    }
  }
  const elsewhere = [`{"status":["a","${half}"]}`, `{"status":{"${half}":1}}`, `{"${half}":1}`]
  for (const body of elsewhere) {
    checkFailure(await ask(path, { headers: json, body }), 400, /it takes Unicode text/)
  }
  const whole = String.raw`{"status":"\ud83d\ude00"}`
  assert.equal((await ask(path, { headers: json, body: whole })).status, 200)
})

test('a query that is not percent-encoded UTF-8 is a 400 (1.3, A16)', async () => {
  for (const value of ['%ED%A0%80', '%zz', '%', '%C0%AF', '1%']) {
    for (const url of [`${path}?status=${value}`, `/api/v1/companies?q=${value}`]) {
      checkFailure(await ask(url), 400, 'The URL is not valid; percent-encode it as UTF-8')
    }
  }
  assert.equal((await ask(`${path}?status=%F0%9F%98%80`)).status, 200)
})
