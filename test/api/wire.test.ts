// Malformed requests: rows A17 to D22 of the list of hostile inputs.
// Whichever layer detects one answers in the contract's form, and the connection is closed.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { pino } from 'pino'
import { brokenLinesMax, createBrokenLog } from '../../src/http/wire/broken-requests.ts'
import { rights } from '../../src/resources/rights.ts'
import { expectedBody, listenOn, makeApp } from '../support/make-app.ts'
import {
  answerIn,
  answersIn,
  bodiesOf,
  checkRawFailure,
  exchange,
  openWire,
  runServer,
  statusesIn,
} from '../support/run-server.ts'
import { makeRightsStore } from '../support/rights-store.ts'

const { store, key, all, path, whole } = await makeRightsStore({ after })
const { port } = await runServer({ after }, store.db)

/** A request: its line, its fields, and an empty line. */
function lines(...given: readonly string[]): string {
  return [...given, '', ''].join('\r\n')
}

const start = `GET ${path} HTTP/1.1`
const host = 'Host: registry.example'
const json = 'Content-Type: application/json'
const bearer = `Authorization: Bearer ${key}`
const close = 'Connection: close'
const chunked = 'Transfer-Encoding: chunked'
const lastChunk = '0\r\n\r\n'
const good = lines(start, host, bearer, close)

/** What may look odd, and does not matter. */
const accepted: readonly (readonly [row: string, requests: readonly string[]])[] = [
  ['a good request', [good]],
  [
    'Host may be a name or an address with an optional port, or empty (D6)',
    [
      ...['a', 'registry.example', 'registry.example:8080', '192.0.2.1:80', '[2001:db8::1]'],
      ...['[::1]:8080', 'my_host', 'xn--bcher-kva.example', 'a.', 'a:', ''],
    ].map((given) => lines(start, `Host: ${given}`, bearer, close)),
  ],
  [
    'fields named like properties of every object are ordinary fields (D12)',
    ['__proto__', 'constructor', 'toString', 'hasOwnProperty'].map((name) =>
      lines(start, host, bearer, close, `${name}: x`),
    ),
  ],
  [
    'a hundred fields, of which further ones are detected (D13)',
    [lines(start, ...new Array<string>(97).fill('a: b'), host, close, bearer)],
  ],
  [
    'Accept and Range change nothing (D19, D20)',
    ['Accept: text/html', 'Accept: image/*;q=0', 'Range: bytes=0-9'].map((field) =>
      lines(start, host, bearer, close, field),
    ),
  ],
  [
    'an Upgrade offer (D14)',
    ['websocket', 'h2c'].map((protocol) =>
      lines(
        start,
        host,
        bearer,
        'Connection: Upgrade, HTTP2-Settings, close',
        `Upgrade: ${protocol}`,
      ),
    ),
  ],
  [
    'HTTP/1.0 needs no Host, and the connection is closed',
    [lines(`GET ${path} HTTP/1.0`, bearer, 'Expect: miracles')],
  ],
]

for (const [row, requests] of accepted) {
  test(`${row}: the page`, async () => {
    for (const request of requests) {
      assert.equal(answerIn(await exchange(port, request)).body, whole, request)
    }
  })
}

const health = 'GET /healthz HTTP/1.1'

/** A row, its bytes, and the status of the only answer. */
const refused: readonly (readonly [row: string, bytes: string, status: number])[] = [
  ['a space in the target (A17)', lines('GET /he althz HTTP/1.1', host), 400],
  ['a NUL in the target (A17)', lines('GET /health\0z HTTP/1.1', host), 400],
  ['UTF-8 in the target (A17)', lines('GET /\xc3\xa9 HTTP/1.1', host), 400],
  ['a control character in the target (A17)', lines('GET /a\x7fb HTTP/1.1', host), 400],
  ['a fragment in the target (A17)', lines('GET /healthz#page=2 HTTP/1.1', host), 400],
  ['a target of 20,000 bytes (A18)', lines(`GET /${'x'.repeat(20_000)} HTTP/1.1`, host), 431],
  ['two Authorization fields (C7)', lines(start, host, bearer, bearer), 400],
  ['two Authorization fields, bad first (C7)', lines(start, host, 'authorization: x', bearer), 400],
  ['two Authorization fields, bad last (C7)', lines(start, host, bearer, 'AUTHORIZATION: x'), 400],
  ['a length and chunks (D1)', lines(health, host, 'Content-Length: 1', chunked) + lastChunk, 400],
  ['chunks and a length (D1)', lines(health, host, chunked, 'Content-Length: 1') + lastChunk, 400],
  ['two lengths (D2)', lines(health, host, 'Content-Length: 1', 'Content-Length: 2') + 'xx', 400],
  ['two equal lengths (D2)', lines(health, host, 'Content-Length: 1', 'Content-Length: 1'), 400],
  ['two lengths in one field (D2)', lines(health, host, 'Content-Length: 1, 1') + 'x', 400],
  ['a negative length (D2)', lines(health, host, 'Content-Length: -1'), 400],
  ['a length with a sign (D2)', lines(health, host, 'Content-Length: +1') + 'x', 400],
  ...['xchunked', 'identity', 'chunked, identity', 'chunked, chunked', 'gzip, chunked', 'x y'].map(
    (coding) =>
      [
        `Transfer-Encoding: ${coding} (D3)`,
        lines(start, host, bearer, `Transfer-Encoding: ${coding}`) + `0\r\n\r\n${good}`,
        400,
      ] as const,
  ),
  ['two codings (D3)', lines(start, host, chunked, 'Transfer-Encoding: x') + lastChunk, 400],
  ['a folded Transfer-Encoding (D3)', lines(start, host, 'Transfer-Encoding:\r\n chunked'), 400],
  ['chunks in HTTP/1.0 (D3)', lines('GET /healthz HTTP/1.0', chunked) + lastChunk, 400],
  ['a space before a colon (D4)', lines(health, 'Host : x'), 400],
  ['a folded field (D4)', lines(health, host, 'X: a\r\n b'), 400],
  ['line feeds alone (D4)', `${health}\n${host}\n\n`, 400],
  ['a line feed alone in the head (D4)', `${health}\r\n${host}\nX: y\r\n\r\n`, 400],
  ['a second carriage return (D4)', `${health}\r\n${host}\r\r\n\r\n`, 400],
  ['a carriage return and something else (D4)', `${health}\r\n${host}\r\n\rX`, 400],
  ['a field without a colon (D4)', lines(health, host, 'nonsense'), 400],
  ['a NUL in a field (D4)', lines(health, host, 'X: a\0b'), 400],
  ['a request line without a version (D5)', `GET ${path}\r\n\r\n`, 400],
  ['a later HTTP version (D5)', lines('GET /healthz HTTP/2.0', host), 505],
  ['a version that the parser does not know (D5)', lines('GET /healthz HTTP/1.2', host), 505],
  ['an invalid version (D5)', lines('GET /healthz HTTP/1.x', host), 400],
  ['the preface of HTTP/2 (D5)', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
  ['no Host (D6)', lines(health), 400],
  ['two Host fields (D6)', lines(health, host, host), 400],
  ['two Host fields of different case (D6)', lines(health, host, 'HOST: other.example'), 400],
  ['a Host with a space (D6)', lines(health, 'Host: a b'), 400],
  ['a Host with a path (D6)', lines(health, 'Host: a/b'), 400],
  ['a Host with a user (D6)', lines(health, 'Host: user@a'), 400],
  ['a Host with an invalid port (D6)', lines(health, 'Host: a:b'), 400],
  ['a Host with an open bracket (D6)', lines(health, 'Host: [::1'), 400],
  ['a Host in UTF-8 (D6)', lines(health, 'Host: b\xc3\xbccher.example'), 400],
  ['a bad Host in HTTP/1.0 (D6)', lines('GET /healthz HTTP/1.0', 'Host: a b'), 400],
  ['CONNECT (D7)', lines('CONNECT other:443 HTTP/1.1', host), 400],
  ['an unknown method (D9)', lines('FOO /healthz HTTP/1.1', host), 400],
  ['a method in lower case (D9)', lines('get /healthz HTTP/1.1', host), 400],
  ['a method of HTTP/2, without a version (D9)', 'PRI *2.0\r\n\r\n', 400],
  ['a method of RTSP, without a version (D9)', 'PLAY /api/v1/companies/1/rights\r\n\r\n', 400],
  ['no request line (D9)', 'garbage\r\n\r\n', 400],
  ['a line without a target (D9)', lines('GET HTTP/1.1', host), 400],
  ['a field of 20,000 bytes (D13)', lines(health, host, `X-Big: ${'x'.repeat(20_000)}`), 431],
  ['a field of 60,000 bytes (D13)', lines(health, host, `X-Big: ${'x'.repeat(60_000)}`), 431],
  ...[101, 1_000, 2_000].map(
    (count) =>
      [
        `${count} fields (D13)`,
        lines(start, host, bearer, ...new Array<string>(count - 2).fill('a: b')),
        431,
      ] as const,
  ),
  ['the hello of TLS (D15)', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
  ['random bytes (D15)', '\xe5\x91\x00\x7f\x13\xff\xfe\x00\x01\r\n\r\n\x99', 400],
  ['an unsupported expectation (B14)', lines(start, host, bearer, 'Expect: miracles'), 417],
  ['an invalid chunk (B3)', `${lines(start, host, bearer, json, chunked)}zz\r\n`, 400],
]

for (const [row, bytes, status] of refused) {
  test(`${row}: ${status} in the contract's form, then the connection closes (4)`, async () => {
    const wire = await openWire(port)
    wire.send(Buffer.from(bytes, 'latin1'))
    // Sent at once, in case the parser takes it for the next request.
    wire.send(good)
    const answer = answerIn(await wire.closed())
    checkRawFailure(answer, status)
    assert.equal(answer.headers['connection'], 'close')
    assert.equal(answerIn(await exchange(port, good)).body, whole)
  })
}

test('the method of HTTP/2 is refused even with nothing after it (4, D9)', async () => {
  checkRawFailure(answerIn(await exchange(port, 'PRI *2.0\r\n\r\n')), 400)
})

test('letters in a URL that are not percent-encoded are a 400 that says so (1.5, D9)', async () => {
  const target = '/api/v1/companies?q=\xd1\x80'
  const request = lines(`GET ${target} HTTP/1.1`, host, bearer)
  const answer = answerIn(await exchange(port, Buffer.from(request, 'latin1')))
  checkRawFailure(answer, 400, 'The URL is not valid; percent-encode it as UTF-8')
})

test('malformed HTTP is refused as such, with or without a key (2.3)', async () => {
  for (const fields of [[host, host], [host, 'Authorization: x', 'Authorization: y'], []]) {
    checkRawFailure(answerIn(await exchange(port, lines(start, ...fields))), 400)
  }
})

test('requests before garbage are answered, then comes a 400 (D22)', async () => {
  const request = lines(start, host, bearer)
  for (let turn = 0; turn < 5; turn += 1) {
    const answers = answersIn(await exchange(port, `${request.repeat(3)}\0\0\r\n\r\n`))
    const last = answers.pop() ?? assert.fail()
    checkRawFailure(last, 400)
    assert.deepEqual(bodiesOf(answers), [whole, whole, whole])
  }
})

test('nothing is answered after the last request of a connection (D22)', async () => {
  const request = lines(start, host, bearer)
  for (const more of [request, '\0\0\r\n', 'PRI / \r\n\r\n', lines('CONNECT x:1 HTTP/1.1', host)]) {
    const closed = answersIn(await exchange(port, request + good + more))
    assert.deepEqual(bodiesOf(closed), [whole, whole])
    const refused = await exchange(port, request + lines(health, host, host) + more)
    assert.deepEqual(statusesIn(refused), [200, 400])
  }
  // The server that all of these share is still alive.
  assert.equal(answerIn(await exchange(port, good)).body, whole)
})

test('an Upgrade offer ends the connection, as what came with it is lost (D14, D22)', async () => {
  const offer = lines(health, host, 'Connection: Upgrade', 'Upgrade: h2c')
  const raw = await exchange(port, offer + lines(health, host))
  assert.deepEqual(statusesIn(raw), [200])
  assert.match(raw, /^connection: close\r$/im)
})

test('a request with an incomplete body is refused in order (D22)', async () => {
  const request = lines(start, host, bearer)
  const broken = `${lines(health, host, chunked)}ZZ\r\n`
  const answers = answersIn(await exchange(port, request + broken))
  checkRawFailure(answers.pop() ?? assert.fail(), 400)
  assert.deepEqual(bodiesOf(answers), [whole])
})

test('a request that is answered without its body has one answer, broken or not (4, D22)', async () => {
  for (const [target, fields, status] of [
    ['/nothing', [host], 404],
    [path, [host], 403],
    [path, [host, bearer, 'Content-Length: 99999'], 413],
  ] as const) {
    const head = lines(`GET ${target} HTTP/1.1`, ...fields, ...(status === 413 ? [] : [chunked]))
    assert.deepEqual(statusesIn(await exchange(port, `${head}ZZ\r\n`)), [status])
    const wire = await openWire(port)
    wire.send(head)
    await wire.until(/"code":/)
    wire.send('ZZ\r\n')
    assert.deepEqual(statusesIn(await wire.closed()), [status])
  }
})

test('a refusal waits for the answers to the requests before it (D3, D6)', async () => {
  const request = lines(start, host, bearer)
  for (const bad of [
    lines(health, host, host),
    lines(health, host, 'Expect: x'),
    lines('CONNECT x:1 HTTP/1.1', host),
  ]) {
    const statuses = statusesIn(await exchange(port, request + request + bad + request))
    assert.deepEqual(statuses.slice(0, 2), [200, 200])
    assert.equal(statuses.length, 3)
  }
})

test('data after a refused request is ignored (D3, D6)', async (t) => {
  const made = await makeApp(t)
  const { ask, store: own } = made
  const ownPort = await listenOn(made)
  // Counts the requests that are processed.
  const authorization = `Bearer ${await own.issueKey({ name: 'small', rate: '9/1h' })}`
  const bad = lines(health, host, 'Host: other.example')
  const next = lines(start, host, `Authorization: ${authorization}`)
  checkRawFailure(answerIn(await exchange(ownPort, bad + next.repeat(3))), 400)
  // The same if the refused request has to wait for earlier answers.
  const waited = await exchange(ownPort, lines(health, host) + bad + next.repeat(3))
  assert.deepEqual(statusesIn(waited), [200, 400])
  const { headers } = await ask(path, { authorization })
  assert.equal(headers['ratelimit'], '"default";r=8;t=3600')
})

test('the Host and the host of the target are not used for links (D7)', async () => {
  for (const target of [path, `http://evil.example${path}`]) {
    const evil = ['Host: evil.example', 'X-Forwarded-Host: evil.example']
    const request = lines(`GET ${target} HTTP/1.1`, ...evil, bearer, close)
    const { headers, body } = answerIn(await exchange(port, request))
    assert.equal(body, whole)
    assert.match(headers['link'] ?? '', /^<\/api\//)
    assert.doesNotMatch(JSON.stringify(headers), /evil/)
  }
})

test('the service as a whole, `*`, cannot be read (1.1)', async () => {
  for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST']) {
    const { status } = answerIn(await exchange(port, lines(`${method} * HTTP/1.1`, host, close)))
    assert.equal(status, ['GET', 'HEAD'].includes(method) ? 404 : 405, method)
  }
})

test('no field overrides method or path (D18)', async () => {
  const fields = [
    ...['X-HTTP-Method-Override: DELETE', 'X-HTTP-Method: DELETE', 'X-Original-URL: /healthz'],
    ...['X-Rewrite-URL: /healthz', 'X-Forwarded-Prefix: /evil'],
  ]
  const received = await exchange(port, lines(start, host, bearer, close, ...fields))
  const answer = answerIn(received)
  assert.equal(answer.body, whole)
  assert.doesNotMatch(answer.headers['link'] ?? '', /evil/)
  const open = answerIn(
    await exchange(port, lines('GET /healthz HTTP/1.1', host, close, `X-Original-URL: ${path}`)),
  )
  assert.equal(open.body, '{"ok":true}')
})

test('100 Continue is sent if the body is read, not if it is refused (B14)', async () => {
  const expecting = [host, bearer, json, 'Expect: 100-Continue']
  const taken = await openWire(port)
  taken.send(lines(start, ...expecting, 'Content-Length: 11'))
  await taken.until(/^HTTP\/1\.1 100 Continue\r\n\r\n/)
  taken.send('{"limit":5}')
  const page = answerIn(await taken.closed())
  assert.equal(page.body, expectedBody({ resource: rights, all, limit: 5 }))
  for (const [line, length, status] of [
    [start, '1000000', 413],
    [`POST ${path} HTTP/1.1`, '11', 405],
    ['GET /nothing HTTP/1.1', '11', 404],
  ] as const) {
    const received = await exchange(port, lines(line, ...expecting, `Content-Length: ${length}`))
    assert.doesNotMatch(received, / 100 Continue/)
    checkRawFailure(answerIn(received), status)
  }
  // HTTP/1.0 does not know it (RFC 9110 section 10.1.1).
  const old = [...expecting, 'Content-Length: 11']
  const received = await exchange(port, `${lines(`GET ${path} HTTP/1.0`, ...old)}{"limit":5}`)
  assert.doesNotMatch(received, / 100 Continue/)
  assert.equal(answerIn(received).body, page.body)
})

test('log lines about garbage are limited per second, the rest are counted (D15)', () => {
  let now = 0
  const lines: Readonly<Record<string, unknown>>[] = []
  const write = (line: string) => void lines.push(JSON.parse(line) as (typeof lines)[0])
  const logger = pino({ base: null }, { write })
  const tell = createBrokenLog(logger, undefined, () => now)
  for (let count = 0; count < 1_000; count += 1) tell(`a${count}`, 400, 'HPE_INVALID_METHOD')
  assert.equal(lines.length, brokenLinesMax)
  now += 1_000
  tell('b', 431, undefined)
  tell('c', 431, undefined)
  const told = lines.slice(brokenLinesMax).map((line) => [line['request_id'], line['suppressed']])
  assert.deepEqual(told, [
    ['b', 1_000 - brokenLinesMax],
    ['c', undefined],
  ])
})
