// A key that is used throughout a run, correctly and incorrectly, appears only in the output given
// to its owner (reliability row C13).

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { rights } from '../../src/resources/rights.ts'
import { failureText, pathOf } from '../support/make-app.ts'
import { makeRightsStore } from '../support/rights-store.ts'
import { runCommand } from '../support/run-command.ts'
import { answersIn, askPort, exchange, runServer } from '../support/run-server.ts'
import { changeStore } from '../support/store-state.ts'

const { store, path } = await makeRightsStore({ after })

/** Fails if a text contains the key or a third of its secret. */
function assertWithout(key: string, text: string, where: string): void {
  const secret = key.slice('dossier_'.length)
  for (let at = 0; at + 16 <= secret.length; at += 1) {
    assert.ok(!text.includes(secret.slice(at, at + 16)), `${where} holds the key: ${text}`)
  }
}

/** Forms of a key that a faulty client may send in the wrong place. */
function spellingsOf(key: string): readonly string[] {
  const secret = key.slice('dossier_'.length)
  const encode = (text: string) =>
    text.replace(/./g, (letter) => `%${letter.charCodeAt(0).toString(16)}`)
  return [
    ...[secret, secret.slice(0, -1), secret.slice(1), key.slice(0, -1), key.slice(0, 40)],
    ...[encode(key), encode(secret).toUpperCase(), encode(secret).replaceAll('%', '%25')],
    ...[
      `${encode(key.slice(0, 20))}${key.slice(20)}`,
      `n${secret}`,
      `x'.${secret}`,
      `\\u00e9${secret}`,
    ],
    ...['"'.repeat(990) + secret, `${'-'.repeat(995)}${key}`, `${'a-'.repeat(20)}${secret}`],
  ]
}

/** Requests with the key in the right place, and a text in every other place. */
function requestsWith(key: string, text = key): readonly string[] {
  const good = `Host: x\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\n`
  const bare = 'Host: x\r\nConnection: close\r\n'
  const body = (json: string) =>
    `Content-Type: application/json\r\nContent-Length: ${json.length}\r\n\r\n${json}`
  return [
    `GET ${path} HTTP/1.1\r\n${good}\r\n`,
    `HEAD ${path} HTTP/1.1\r\n${good}\r\n`,
    `GET ${path}?limit=5 HTTP/1.1\r\n${good}If-None-Match: *\r\n\r\n`,
    `GET ${path}?limit=${text} HTTP/1.1\r\n${good}\r\n`,
    `GET ${path}?${text}=1 HTTP/1.1\r\n${good}\r\n`,
    `GET ${path}?x${text}=1 HTTP/1.1\r\n${good}\r\n`,
    `GET ${pathOf(rights, text)} HTTP/1.1\r\n${good}\r\n`,
    `GET ${pathOf(rights, `%zz${text}`)} HTTP/1.1\r\n${good}\r\n`,
    `GET ${path} HTTP/1.1\r\n${good}${body(JSON.stringify({ page: text }))}`,
    `GET ${path} HTTP/1.1\r\n${good}${body(JSON.stringify({ [text]: 1 }))}`,
    `GET ${path} HTTP/1.1\r\n${good}${body(text)}`,
    `POST ${path} HTTP/1.1\r\n${good}\r\n`,
    `GET ${path} HTTP/1.1\r\n${bare}Authorization: Basic ${text}\r\n\r\n`,
    `GET ${path} HTTP/1.1\r\n${bare}Authorization: Bearer ${text}x\r\n\r\n`,
    `GET ${path}?key=${text} HTTP/1.1\r\n${bare}\r\n`,
    `GET /${text} HTTP/1.1\r\n${bare}\r\n`,
    `GET /healthz HTTP/1.1\r\n${bare}User-Agent: ${text}\r\nCookie: ${text}\r\n\r\n`,
    `GET /healthz HTTP/1.1\r\n${bare}X-Request-Id: ${text}\r\nReferer: ${text}\r\n\r\n`,
    `GET /healthz HTTP/1.1\r\n${bare}Expect: ${text}\r\n\r\n`,
    `CONNECT ${text} HTTP/1.1\r\n${bare}\r\n`,
    `${text}\r\n\r\n`,
    `GET /healthz HTTP/1.1\r\n${bare}${text}\r\n\r\n`,
    `GET /healthz HTTP/1.1\r\n${bare}X: ${text.repeat(400)}\r\n\r\n`,
  ]
}

test('an encoded, prefixless or truncated key is not logged either (C13)', async (t) => {
  const key = await store.issueKey({ name: 'spelled' })
  const server = await runServer(t, store.db)
  // Decodes the text, as a reader of the log might.
  const read = (text: string) =>
    text
      .replaceAll('%25', '%')
      .replace(/%[0-9a-f]{2}/gi, (code) => String.fromCharCode(parseInt(code.slice(1), 16)))
  for (const spelling of spellingsOf(key)) {
    for (const sent of requestsWith(key, spelling)) {
      const [answer] = answersIn(await exchange(server.port, sent))
      assert.ok(answer, sent)
      // A client's own request id is returned to it (contract section 5).
      const headers = JSON.stringify({ ...answer.headers, 'x-request-id': '' })
      assertWithout(key, read(headers + answer.body), sent)
    }
  }
  const { lines } = await server.end()
  assert.ok(lines.length > 10 * spellingsOf(key).length, 'each has a line, and all are JSON')
  assertWithout(key, read(server.printed()), 'the log')
})

test('text that only resembles a key is logged unchanged', async (t) => {
  const server = await runServer(t, store.db)
  const ids = [
    ...['11bbbf98-591a-48bd-b9a1-bc5535e43675', '4bf92f3577b34da6a3ce929d0e0e4736'],
    ...['01ARZ3NDEKTSV4RRFFQ69G5FAV', '0ujtsYcgvSTl8PAuAdqWYSMnLOv', 'dossier_requests_total'],
    'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  ]
  const companies = ['LEI:5493001KJTIIGC8Y1R12', 'DE:HRB%20123456', 'RU:%D0%9E%D0%93%D0%A0%D0%9D']
  for (const text of [...ids, ...companies]) {
    const fields = ids.includes(text) ? [`X-Request-Id: ${text}`] : []
    await askPort(server.port, pathOf(rights, text), { fields })
  }
  const { lines } = await server.end()
  const logged = lines.filter((line) => 'path' in line)
  const paths = logged.map((line) => line['path'])
  const expected = [...ids, ...companies].map((text) => pathOf(rights, text))
  assert.deepEqual(paths, expected)
  const found = logged.slice(0, ids.length).map((line) => line['request_id'])
  assert.deepEqual(found, ids)
})

test('a log line has request id, key name, resource, status, time and bytes', async (t) => {
  const key = await store.issueKey({ name: 'acme' })
  const server = await runServer(t, store.db)
  const ask = async (id: string, target: string, more: Parameters<typeof askPort>[2] = {}) =>
    (await askPort(server.port, target, { fields: [`X-Request-Id: ${id}`], ...more })).body.length
  const bytes = await ask('a', path, { key })
  await ask('b', path, { key, method: 'HEAD' })
  await ask('c', path)
  await ask('d', '/healthz')
  const { lines } = await server.end()
  const lineOf = (id: string) => {
    const { level, time, ms, ...rest } = lines.find((line) => line['request_id'] === id) ?? {}
    assert.deepEqual([level, typeof time, typeof ms], [30, 'number', 'number'])
    return rest
  }
  const page = { method: 'GET', path, status: 200, resource: 'rights' }
  const refused = failureText(403, 'Forbidden').length
  assert.deepEqual(lineOf('a'), { ...page, request_id: 'a', bytes, key: 'acme' })
  const head = { ...page, method: 'HEAD', bytes: 0 }
  assert.deepEqual(lineOf('b'), { ...head, request_id: 'b', key: 'acme' })
  assert.deepEqual(lineOf('c'), { ...page, request_id: 'c', status: 403, bytes: refused })
  const health = { method: 'GET', path: '/healthz', status: 200, bytes: 11 }
  assert.deepEqual(lineOf('d'), { ...health, request_id: 'd' })
})

test('a key appears in no log, error, message or process list (C13)', async (t) => {
  const dossier = (...args: string[]) => runCommand(store.folder, [...args, '--db', store.db])
  const key = (await dossier('keys', 'create', '--name', 'canary')).out.trim()
  for (const args of [['list'], ['list', '--json'], ['create', '--name', 'canary']]) {
    const { out, err } = await dossier('keys', ...args)
    assertWithout(key, out + err, `keys ${args.join(' ')}`)
  }
  const wrong = await dossier('keys', 'revoke', key)
  assert.equal(wrong.code, 1)

  const server = await runServer(t, store.db, ['--log-level', 'debug'])
  for (const request of requestsWith(key)) {
    const shown = request.replaceAll(key, '{key}').slice(0, 200)
    const received = await exchange(server.port, request)
    const [answer] = answersIn(received, [request.startsWith('HEAD') ? 'HEAD' : 'GET'])
    assert.ok(answer, shown)
    // A client's own request id is returned to it (contract section 5).
    const { 'x-request-id': id = '', ...headers } = answer.headers
    if (id !== key) assertWithout(key, id, shown)
    assertWithout(key, JSON.stringify(headers) + answer.body, shown)
  }
  if (existsSync('/proc')) {
    const of = (file: string) => readFileSync(`/proc/${server.pid}/${file}`, 'utf8')
    assertWithout(key, of('cmdline') + of('environ'), 'the process list')
  }

  // A fault inside, with its cause in the log.
  changeStore(store.db, 'alter table heads rename to lost')
  const [, , , failing = ''] = requestsWith(key).map((text) =>
    text.replace(`limit=${key}`, 'limit=7'),
  )
  const broken = answersIn(await exchange(server.port, failing))[0]
  assert.equal(broken?.status, 503)
  assertWithout(key, JSON.stringify(broken), 'the fault')

  const { lines } = await server.end()
  assert.ok(lines.length > requestsWith(key).length, 'each has a line')
  assert.ok(lines.some((line) => 'err' in line))
  assert.ok(lines.some(({ msg }) => msg === 'broken request'))
  assertWithout(key, server.printed(), 'the log')
})
