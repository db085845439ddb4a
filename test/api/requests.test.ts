// Contract section 1: requests.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { selectionNames } from '../../src/http/requests/selection-parameters.ts'
import { resources } from '../../src/resources/index.ts'
import { rights } from '../../src/resources/rights.ts'
import { checkFailure, checkPage, makeApp, messageOf, pathOf } from '../support/make-app.ts'
import { makeRecords } from '../support/make-record.ts'
import { makeRights } from '../support/rights-store.ts'
import { processorMs } from '../support/processor-time.ts'

const { all, records, path } = makeRights(12)
const last = { resource: rights, company: Number.MAX_SAFE_INTEGER, records: makeRecords(rights, 2) }
const { ask, store } = await makeApp({ after }, { records: [...records, last] })
const json = { 'content-type': 'application/json' }
const pageTakes = 'it takes an integer from 1 to 9007199254740991'
const limitTakes = 'it takes an integer from 1 to 1000'

/** Sends a request with a body; text is sent unchanged. */
function askWithBody(body: unknown, query = '', headers: Readonly<Record<string, string>> = json) {
  const text = typeof body === 'string' || body instanceof Buffer ? body : JSON.stringify(body)
  return ask(path + query, { headers, body: text })
}

test('HEAD has the headers of GET and no body (1.1, D10)', async () => {
  const questions = [path, `${path}?page=2&limit=5`, `${path}?limit=0`, pathOf(rights, 99), '/docs']
  for (const url of questions) {
    const headers = { 'accept-encoding': 'gzip', 'x-request-id': 'same' }
    const [get, head] = await Promise.all([
      ask(url, { headers }),
      ask(url, { headers, method: 'HEAD' }),
    ])
    const stable = (given: typeof get.headers) => ({ ...given, date: undefined })
    assert.equal(head.status, get.status)
    assert.equal(head.bytes.length, 0)
    assert.deepEqual(stable(head.headers), stable(get.headers))
    assert.equal(head.headers['content-length'], String(get.bytes.length))
  }
})

for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY']) {
  test(`${method} on a known path is a 405 with Allow (1.1, D8)`, async () => {
    const queried = `${path}?page=1`
    for (const url of [path, queried, pathOf(rights, 'abc'), '/healthz', '/openapi.json', '/']) {
      const answer = await ask(url, { method })
      checkFailure(answer, 405, 'Method Not Allowed')
      assert.equal(answer.headers['allow'], 'GET, HEAD')
    }
  })
}

for (const unknown of [
  ...['/index.html', '/api', '/api/', '/api/v1', '/api/v2/companies/1/rights'],
  ...['/api/v1/companies/1/right', '/api/v1/companies/1/RIGHTS', '/api/v1/companies/1/rights/'],
  ...['/api/v1/companies/1/rights/1', '/api/v1/companies/1//rights'],
  ...['/api/v1/companies/1/rights;x=1', '/api/v1/companies/1/jobs/..%2frights'],
  ...['/api/v1/companies%2f1/rights', '//api/v1/companies/1/rights'],
]) {
  test(`${unknown} is an unknown path: 404 for any method (1.1, A15)`, async () => {
    checkFailure(await ask(unknown), 404, 'Not Found')
    checkFailure(await ask(unknown, { method: 'POST' }), 404, 'Not Found')
  })
}

test('an encoded slash does not end the name of a company (1.5, A15)', async () => {
  checkFailure(await ask('/api/v1/companies/1%2Frights'), 400, /^company_id is "1\/rights"/)
})

test('page and limit are taken from the query, a JSON body, or both (1.2, B1, B2)', async () => {
  const expected = { resource: rights, all, page: 2, limit: 5 }
  for (const query of ['page=2&limit=5', 'limit=5&page=2', 'limit=%35&page=2']) {
    checkPage(await ask(`${path}?${query}`), expected)
  }
  checkPage(await ask(`${path}?page=3`), { resource: rights, all, page: 3 })
  for (const [body, query] of [
    [{ page: 2, limit: 5 }, ''],
    [{ limit: '5', page: '2' }, ''],
    [' {"page":2,\r\n"limit":5}\n', ''],
    [{ limit: 5 }, '?page=2'],
    [{ page: 2 }, '?limit=5'],
    [{ page: 2, limit: '5' }, '?page=2&limit=5'],
  ] as const) {
    checkPage(await askWithBody(body, query), expected)
  }
  checkPage(await askWithBody({}), { resource: rights, all })
  const page = await askWithBody({ page: 3 }, '?page=2')
  checkFailure(page, 400, 'page is 2 in the query and 3 in the body; give one')
  const limit = await askWithBody({ limit: 100 }, '?limit=5')
  checkFailure(limit, 400, 'limit is 5 in the query and 100 in the body; give one')
})

test('other parameters are taken from a JSON body, too: texts, and numbers as written (1.2)', async () => {
  const changes = '/api/v1/changes'
  const key = await store.issueKey({ name: 'follower', scopes: ['changes', 'rights'] })
  const give = (given: object) => ask(changes, { key, json: given })
  const asked = await give({ after: 0, company_id: 1 })
  assert.equal(asked.text, (await ask(`${changes}?after=0&company_id=1`, { key })).text)
  assert.match(asked.text, /^{"ok":true,"changes":\[{/)
  for (const after of [true, 0.5, [0], null]) {
    checkFailure(await give({ after }), 400, /^after is .*it takes a text$/)
  }
})

test('without a body, the content type does not matter (1.2)', async () => {
  for (const type of ['text/plain', 'nonsense', 'application/json; charset=utf-16']) {
    checkPage(await ask(path, { headers: { 'content-type': type } }), { resource: rights, all })
  }
})

test('page 1 and limit 100 are the defaults (1.3)', async (t) => {
  const { all: many, records } = makeRights(101)
  const { ask } = await makeApp(t, { records })
  const plain = await ask(path)
  checkPage(plain, { resource: rights, all: many, page: 1, limit: 100 })
  assert.equal((await ask(`${path}?page=1&limit=100`)).text, plain.text)
})

const wrong = [
  ...['0', '-1', '%2B1', '1.5', '1.0', '1e2', '0x1', 'abc', 'NaN', 'Infinity', 'null', '%00'],
  ...['', '%201', '1%20', '１', '1_000', '1,000', "1'--", '1;drop', '9007199254740992'],
  ...['99999999999999999999', '1'.repeat(300)],
  ...["1'%20or%20'1'%3D'1", '1;%20drop%20table%20rights', '1%2F**%2F', '1--', '%241', '%3Alimit'],
]

test('limit accepts 1 to 1000; anything else is a 400 that names it (1.3, A6, A7, A8, A14)', async () => {
  for (const limit of [1, 12, 999, 1_000]) {
    checkPage(await ask(`${path}?limit=${limit}`), { resource: rights, all, limit })
    checkPage(await askWithBody({ limit }), { resource: rights, all, limit })
  }
  for (const value of [...wrong, '1001', '10000000']) {
    const got = JSON.stringify(decodeURIComponent(value)).slice(0, 60)
    const shown = decodeURIComponent(value).length > 58 ? `${got}…` : got
    checkFailure(await ask(`${path}?limit=${value}`), 400, `limit is ${shown}; ${limitTakes}`)
  }
})

test('page accepts 1 to 2^53-1; anything else is a 400 that names it (1.3, A6, A7, A10, A14)', async () => {
  for (const value of wrong) {
    const answer = await ask(`${path}?page=${value}`)
    checkFailure(answer, 400, /^page is /)
    assert.ok(messageOf(answer).endsWith(`; ${pageTakes}`))
  }
  const last = await ask(`${path}?page=${Number.MAX_SAFE_INTEGER}&limit=1000`)
  assert.equal(last.status, 200)
  const says = /,"total":12,"pagination_total":12,"pagination_offset":9007199254740990000}$/
  assert.match(last.text, says)
})

test('a repeated parameter is a 400, even with equal values (1.3, A11)', async () => {
  for (const name of ['page', 'limit']) {
    for (const query of [`${name}=1&${name}=2`, `${name}=1&${name}=1`, `${name}=&${name}=`]) {
      checkFailure(await ask(`${path}?${query}`), 400, new RegExp(`^${name} is .*; it takes`))
    }
  }
})

test('a value of the wrong JSON type in the body is a 400 that quotes it (1.3, B6)', async () => {
  const values = ['null', 'true', 'false', '{}', '{"a":1}', '[]', '[1]', '[1,2]', '"x"', '""']
  const numbers = ['0', '-0', '-1', '1.5', '1.0', '1e2', '1e400', '9007199254740993', '1e21']
  for (const name of ['page', 'limit']) {
    for (const value of [...values, ...numbers]) {
      const answer = await askWithBody(`{"${name}":${value}}`)
      checkFailure(answer, 400, new RegExp(`^${name} is .*; it takes an integer from 1 to`))
      assert.ok(messageOf(answer).startsWith(`${name} is ${value}; `), messageOf(answer))
    }
  }
  const besideFilter = await askWithBody('{"page":{"gte":1},"status":"a"}')
  checkFailure(besideFilter, 400, /^page is \{"gte":1\}; it takes an integer from 1 to/)
  const ofFilter = await askWithBody('{"status":["a",1.0],"version":1e0}')
  checkFailure(
    ofFilter,
    400,
    /^status is 1\.0; it takes text, an integer in plain digits, or null$/,
  )
  const fraction = await askWithBody('{"version":17.0}')
  checkFailure(fraction, 400, /^version is 17\.0; .* an integer in plain digits, or null$/)
  for (const name of ['version', 'sort', 'known_at', 'registration_date[gte]']) {
    const ofNull = await askWithBody({ [name]: null })
    checkFailure(ofNull, 400, `${name} is null; it takes one value`)
  }
  const ofBound = await askWithBody({ registration_date: { lt: null } })
  checkFailure(ofBound, 400, 'registration_date[lt] is null; it takes one value')
})

test('a long value is shortened in the message (1.3)', async () => {
  const long = 'x'.repeat(10_000)
  for (const answer of [await ask(`${path}?limit=${long}`), await askWithBody({ limit: long })]) {
    checkFailure(answer, 400, `limit is "${'x'.repeat(59)}…; ${limitTakes}`)
  }
})

test('an unknown query parameter is a 400 that names it and the nearest known one (1.4, A12, A13)', async () => {
  const unknown = (name: string, advice: string) =>
    `${JSON.stringify(name)} is not a known query parameter; ${advice}`
  const knownOfRights =
    'known are page, limit, format, version, as_of, known_at, jurisdiction, object_type, status, ' +
    'registration_number, registration_date, application_date, updated_at and sort'
  const cases: readonly (readonly [query: string, name: string, advice: string])[] = [
    ['pgae=2', 'pgae', 'did you mean page?'],
    ['page=1&limt=5', 'limt', 'did you mean limit?'],
    ['Page=2', 'Page', 'did you mean page?'],
    ['zzzzzzzz=1', 'zzzzzzzz', knownOfRights],
    ['page%5B%5D=1', 'page[]', 'did you mean page?'],
    ['api_key=1', 'api_key', knownOfRights],
    ['__proto__=1', '__proto__', knownOfRights],
    ['constructor=1', 'constructor', knownOfRights],
    ['toString', 'toString', knownOfRights],
  ]
  for (const [query, name, advice] of cases) {
    checkFailure(await ask(`${path}?${query}`), 400, unknown(name, advice))
  }
})

test('a field that is not a filter is a 400 that names the filters (1.4, 10.6)', async () => {
  const takes = 'filters of employees are identifier, position, start_date, end_date, updated_at'
  const employees = pathOf(rights, 1).replace('rights', 'employees')
  for (const name of ['name', 'employer_name', 'name[gte]']) {
    const answer = await ask(`${employees}?${encodeURIComponent(name)}=Owen`)
    const advice = `${takes}, current_on`
    checkFailure(answer, 400, `"${name}" is not a known query parameter; ${advice}`)
  }
  const mistyped = await ask(`${employees}?positon=Director`)
  checkFailure(mistyped, 400, '"positon" is not a known query parameter; did you mean position?')
})

test('an unknown body member is a 400 that names it and the nearest known one (1.4, B8)', async () => {
  const mistyped = '"pgae" is not a known body member; did you mean page?'
  checkFailure(await askWithBody({ pgae: 2 }), 400, mistyped)
  for (const body of ['{"__proto__":{"page":9}}', '{"constructor":{"page":9}}', '{"":1}']) {
    const known = /is not a known body member; known are page, limit, format, version, /
    checkFailure(await askWithBody(body), 400, known)
  }
  assert.equal(Object.hasOwn(Object.prototype, 'page'), false)
})

test('a thousand unknown parameters are refused cheaply (1.4, A12)', async () => {
  const query = Array.from({ length: 1_000 }, (_, index) => `p${index}=${index}`).join('&')
  const ms = await processorMs(async () => {
    checkFailure(await ask(`${path}?${query}`), 400, /^"p0" is not a known query parameter/)
  })
  assert.ok(ms < 200, `${ms} ms`)
})

test('company_id is a positive integer up to 2^53-1 (1.5)', async () => {
  const answer = await ask(pathOf(rights, '9007199254740991'))
  checkPage(answer, { resource: rights, all: last.records })
})

const companyIdTakes =
  /^company_id is ".*; it takes an integer from 1 to 9007199254740991, or a register number such as GB:09876543$/

for (const segment of [
  ...['abc', '1.5', '1.0', '-1', '+5', '0', '00', '05', '0x10', '1e3', '%205', '5%20', '１', '٣'],
  ...['9007199254740992', '9007199254740993', '1'.repeat(31), '7'.repeat(200), '%00', '1%00'],
  ...['%2531', '1;x=1', '1%2f2', 'null', '1%27', '*', ':', 'GB:', ':09876543', 'GB:1%00'],
  ...["1'%20or%20'1'%3D'1", '1;%20drop%20table%20rights', '1%2F**%2F', '1--', '$1', ':limit'],
]) {
  test(`company_id ${segment.slice(0, 40)} is a 400 that says so (1.5, A1, A2, A3, A14)`, async () => {
    for (const resource of resources) {
      const answer = await ask(pathOf(resource, encodeURI(decodeURI(segment))))
      checkFailure(answer, 400, companyIdTakes)
    }
  })
}

test('a body that is not JSON is a 415 (1.6, B10, B11)', async () => {
  const types = [
    ...['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'],
    ...['application/jsonp', 'application/json; charset=utf-16', 'application/problem+json', ''],
    ...['application/json; v=1; charset=utf-8859', 'application/json, text/plain'],
  ]
  const fields: Readonly<Record<string, string>>[] = [{ ...json, 'content-encoding': 'gzip' }]
  for (const type of types) {
    fields.push({ 'content-type': type })
  }
  for (const headers of fields) {
    checkFailure(await askWithBody({ page: 1 }, '', headers), 415, 'Unsupported Media Type')
  }
})

test('the usual spellings of the JSON type and of no coding are accepted (1.6)', async () => {
  for (const type of [
    'application/json;charset=utf-8',
    'Application/JSON; charset="UTF-8"',
    'application/json ; charset=utf-8',
    'application/json;',
    'application/json; odata=verbose; charset=utf-8; v=1',
  ]) {
    const headers = { 'content-type': type, 'content-encoding': 'Identity' }
    checkPage(await askWithBody({ limit: 5 }, '', headers), { resource: rights, all, limit: 5 })
  }
})

const rest = 'object, or no body'

test('broken JSON is a 400 (1.6, B4)', async () => {
  const texts = ['{', '{"page":1', '{"page":1}}', '{"page":1}{"page":2}', "{'page':1}", 'page=1']
  const bytes = [Buffer.from('7b22ff223a317d', 'hex'), Buffer.from('\uFEFF{"page":1}')]
  for (const body of [...texts, ...bytes, ' ', '[[', 'NaN']) {
    checkFailure(await askWithBody(body), 400, `The body is not valid JSON; send a JSON ${rest}`)
  }
})

test('JSON that is not an object is a 400 (1.6, B5)', async () => {
  for (const body of ['null', '[]', '[{"page":1}]', '"x"', '123', '1e2', 'true']) {
    checkFailure(await askWithBody(body), 400, `The body is not a JSON object; send an ${rest}`)
  }
})

test('deep nesting is refused quickly (1.6, B9)', async () => {
  const depth = 8_000
  const bodies = [
    '['.repeat(depth),
    `{"page":${'['.repeat(depth)}${']'.repeat(depth)}}`,
    `{"page":{"a":${'['.repeat(depth)}${']'.repeat(depth)}}}`,
  ]
  const ms = await processorMs(async () => {
    for (const body of bodies) {
      checkFailure(await askWithBody(body), 400, /^(The body is nested deeper|page is) /)
    }
  })
  assert.ok(ms < 500, `${ms} ms`)
})

test('a body over 16 KiB is a 413, one of 16 KiB is not (1.6, B3)', async () => {
  const filled = (bytes: number) => '{"limit":5}'.padEnd(bytes, ' ')
  checkPage(await askWithBody(filled(16_384)), { resource: rights, all, limit: 5 })
  for (const bytes of [16_385, 1_000_000]) {
    const answer = await askWithBody(filled(bytes))
    checkFailure(answer, 413, 'Content Too Large')
    assert.equal(answer.headers['connection'], 'close')
  }
})

test('a member that a body has twice is a 400, wherever it is (1.3, B7)', async () => {
  const bodies: readonly (readonly [name: string, body: string])[] = [
    ['limit', '{"limit":0,"limit":5}'],
    ['limit', '{"limit":1,"limit":1}'],
    ['limit', String.raw`{"limit":1,"l\u0069mit":2}`],
    ['gte', '{"registration_date":{"gte":"2019-01-01","gte":"2020-01-01"}}'],
    ['x'.repeat(60), `{"${'x'.repeat(61)}":1,"${'x'.repeat(61)}":2}`],
  ]
  for (const [name, body] of bodies) {
    checkFailure(await askWithBody(body), 400, `The body has "${name}" twice; give it once`)
  }
  const twoObjects = '{"registration_date":{"gte":"1900-01-01"},"updated_at":{"gte":"1900-01-01"}}'
  assert.equal((await askWithBody(twoObjects)).status, 200)
})

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

test('a name that is cut short in a message is still Unicode (4)', async () => {
  const name = `x${'😀'.repeat(40)}`
  const body = `{"${name}":1,"${name}":2}`
  for (const [query, question] of [
    [`?${encodeURIComponent(name)}=1`, {}],
    ['', { headers: json, body }],
  ] as const) {
    const answer = await ask(path + query, question)
    checkFailure(answer, 400, /x(😀){29}\ufffd" (is not a known|twice)/u)
  }
})

test('a URL that is not percent-encoded UTF-8 is a 400 (1.3, 1.5, A16)', async () => {
  for (const value of ['%ED%A0%80', '%zz', '%', '%C0%AF', '%ff', '1%']) {
    checkFailure(await ask(pathOf(rights, value)), 400, /percent-encode|company_id/)
    for (const url of [`${path}?status=${value}`, `/api/v1/companies?q=${value}`]) {
      checkFailure(await ask(url), 400, 'The URL is not valid; percent-encode it as UTF-8')
    }
  }
  assert.equal((await ask(`${path}?status=%F0%9F%98%80`)).status, 200)
})
