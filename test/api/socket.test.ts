// Behaviour that needs a socket: the real executable, a real port, raw bytes and curl.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, test } from 'node:test'
import { connect } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { rights } from '../../src/resources/rights.ts'
import { expectedBody, failureText, pathOf } from '../support/make-app.ts'
import {
  answerIn,
  answersIn,
  askPort,
  bodiesOf,
  checkRawFailure,
  exchange,
  openWire,
  requestTo,
  runServer,
} from '../support/run-server.ts'
import { makeRightsStore } from '../support/rights-store.ts'

const run = promisify(execFile)

const { store, key, all, path, whole } = await makeRightsStore({ after })
const { port } = await runServer({ after }, store.db)

const refusal = failureText(403, 'Forbidden')
const asked = '{"page":2,"limit":5}'
const secondPage = expectedBody({ resource: rights, all, page: 2, limit: 5 })

/** A request head with a valid key. */
function head({ url = path, ...more }: { url?: string } & Parameters<typeof requestTo>[1] = {}) {
  return requestTo(url, { key, ...more })
}

/** The output of curl for these arguments: the body, then the status. */
async function curl(...args: string[]): Promise<{ body: string; status: number }> {
  const { stdout } = await run('curl', [
    ...['--silent', '--show-error', '--max-time', '10', '--write-out', '\n%{http_code}'],
    ...['--header', `Authorization: Bearer ${key}`, ...args],
  ])
  const cut = stdout.lastIndexOf('\n')
  return { body: stdout.slice(0, cut), status: Number(stdout.slice(cut + 1)) }
}

const url = `http://127.0.0.1:${port}${path}`
const json = ['--header', 'Content-Type: application/json']
const chunk = `4000\r\n${' '.repeat(0x4000)}\r\n`

const asGet = ['--request', 'GET', ...json, '--data']

for (const [what, args, body] of [
  ['as documented, with Content-Type and no body', [...json, url], whole],
  ['with an empty body', [...asGet, '', url], whole],
  ['with page and limit as JSON in the body of a GET', [...asGet, asked, url], secondPage],
  ['with chunks', [...asGet, asked, '--header', 'Transfer-Encoding: chunked', url], secondPage],
  ['that waits for 100', [...asGet, asked, '--header', 'Expect: 100-continue', url], secondPage],
  ['with a query', [`${url}?page=2&limit=5`], secondPage],
] as const) {
  test(`curl ${what} works (1.2)`, async () => {
    assert.deepEqual(await curl(...args), { body, status: 200 })
  })
}

test('curl without a Content-Type: its own default is a 415 (1.6)', async () => {
  const { body, status } = await curl('--request', 'GET', '--data', '{"page":2}', url)
  assert.equal(status, 415)
  assert.equal(body, failureText(415, 'Unsupported Media Type'))
})

test('a body that arrives in pieces is joined (1.2)', async () => {
  const fields = ['Content-Type: application/json', 'Transfer-Encoding: chunked']
  const pieces = Array.from(asked, (letter) => `1\r\n${letter}\r\n`)
  const received = await exchange(port, `${head({ fields })}${pieces.join('')}0\r\n\r\n`)
  assert.equal(answerIn(received).body, secondPage)
})

for (const [what, length, sent] of [
  ['a body without a length is cut off at 16 KiB', 'Transfer-Encoding: chunked', chunk.repeat(8)],
  [
    'a Content-Length over 16 KiB is refused before the body arrives',
    'Content-Length: 1000000000',
    '',
  ],
] as const) {
  test(`${what}: 413, and closed (1.6, B3)`, async () => {
    const fields = ['Content-Type: application/json', length]
    const received = await exchange(port, head({ fields, isLast: false }) + sent)
    assert.match(received, /^HTTP\/1\.1 413 Content Too Large\r\n/)
    checkRawFailure(answerIn(received), 413, 'Content Too Large')
  })
}

test('a body, then a pipelined request: two answers, in order (1.2, B13)', async () => {
  const received = await exchange(port, head({ json: asked, isLast: false }) + head())
  assert.deepEqual(bodiesOf(answersIn(received)), [secondPage, whole])
})

test('an unread body is never parsed as a request (1.2, B13, D8)', async () => {
  const smuggled = head({ url: '/healthz' })
  const fields = ['Content-Type: text/plain', `Content-Length: ${smuggled.length}`]
  for (const [method, target, status] of [
    ['POST', path, 405],
    ['GET', '/healthz', 200],
    ['GET', path, 415],
    ['GET', '/nothing', 404],
  ] as const) {
    const first = head({ method, url: target, fields, isLast: false }) + smuggled
    const answers = answersIn(await exchange(port, first + head()))
    assert.equal(answers[0]?.status, status)
    assert.deepEqual(bodiesOf(answers.slice(1)), [whole])
  }
})

test('HEAD over keep-alive has no body, so the next answer is intact (1.1)', async () => {
  const heads = ['HEAD', 'HEAD', 'GET'].map((method, index) =>
    head({ method, isLast: index === 2, fields: [`X-Request-Id: r${index}`] }),
  )
  const answers = answersIn(await exchange(port, heads.join('')), ['HEAD', 'HEAD', 'GET'])
  const told = answers.map(({ headers, body }) => [headers['x-request-id'], body])
  assert.deepEqual(told, [
    ['r0', ''],
    ['r1', ''],
    ['r2', whole],
  ])
  assert.equal(answers[0]?.headers['content-length'], String(Buffer.byteLength(whole)))
})

test('HEAD with a body in the request (1.1, B14)', async () => {
  const received = await exchange(port, head({ method: 'HEAD', json: asked }))
  const answer = answerIn(received, 'HEAD')
  assert.equal(answer.status, 200)
  assert.equal(answer.headers['content-length'], String(Buffer.byteLength(secondPage)))
})

test('a request that arrives byte by byte is answered', async () => {
  const wire = await openWire(port)
  wire.socket.setNoDelay(true)
  for (const letter of head()) {
    wire.send(letter)
    await nextTurn()
  }
  assert.equal(answerIn(await wire.closed()).body, whole)
})

test('a page has all its header fields even if the request head is at its limit (5)', async () => {
  const received = await exchange(port, head({ fields: [`X-Big: ${'x'.repeat(12_000)}`] }))
  assert.equal(answerIn(received).body, whole)
})

for (const target of [
  `http://registry.example${path}`,
  `HTTP://registry.example${path}`,
  `http://registry.example/%61pi/v1/companies/1/rights`,
  `https://a@b:80${path}`,
  path.replace('api', '%61pi'),
  path.replace('companies', '%63ompanies'),
  '/ap%69/v1/companies/1/rights',
  '/%61%70%69/%76%31/companies/1/rights?page=1',
  '/%61pi/v1/companies/1/jobs',
  '/%61pi/v1/companies/404/rights',
  '/%61pi/v1/companies/abc/rights',
  '/%41PI/v1/companies/1/rights',
  `/x/..${path}`,
  `/./${path.slice(1)}`,
  `//registry.example${path}`,
  `/${path}`,
  path.replace('/api/', '/api//'),
  path.replace('/api/', '/API/'),
  path.replace('/api/', '/api%2f'),
  path.replace('/api/', '\\api\\'),
  `*${path}`,
  path.slice(1),
  `?${path}`,
]) {
  test(`the target ${target} gives no access without a key (2.3, D7)`, async () => {
    const answer = await askPort(port, target)
    assert.ok(
      [400, 403, 404].includes(answer.status),
      `${answer.status} ${answer.body.slice(0, 60)}`,
    )
    assert.doesNotMatch(answer.body, /NORTHWIND|"rights"|company/i)
  })
}

test('for any form of the target, the refusal comes before the 404 and 405 (2.3)', async () => {
  for (const [method, target] of [
    ['GET', 'http://registry.example/api/nothing'],
    ['GET', 'http://registry.example/api/v1/companies/1/nothing'],
    ['GET', `http://registry.example${pathOf(rights, '%zz')}`],
    ['POST', `http://registry.example${path}`],
    ['GET', '/%61pi/nothing'],
    ['POST', path.replace('api', '%61pi')],
  ] as const) {
    assert.equal((await askPort(port, target, { method })).body, refusal, `${method} ${target}`)
  }
})

test('dot segments in a path are not resolved (1.1, A15)', async () => {
  for (const target of [
    '/api/v1/companies/1/jobs/../rights',
    '/api/v1/companies/1/jobs/%2e%2e/rights',
  ]) {
    checkRawFailure(answerIn(await exchange(port, head({ url: target }))), 404, 'Not Found')
  }
})

test('an X-Request-Id with line breaks cannot add a header (5, D16)', async () => {
  const received = await exchange(port, head({ fields: ['X-Request-Id: a\rSet-Cookie: b'] }))
  assert.doesNotMatch(received, /^set-cookie/im)
})

test('a client that hangs up midway does not affect others', async () => {
  const fields = ['Content-Type: application/json', 'Content-Length: 50']
  for (const unfinished of [head({ fields }) + '{', head().slice(0, -2), 'GET', '']) {
    for (let turn = 0; turn < 10; turn += 1) {
      const socket = connect(port, '127.0.0.1')
      socket.on('error', () => undefined)
      socket.write(unfinished)
      await sleep(1)
      socket.resetAndDestroy()
    }
  }
  assert.equal(answerIn(await exchange(port, head())).body, whole)
})
