// The formats of a listing, and all of it in one answer (contract section 11).

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { rights } from '../../src/resources/rights.ts'
import type { StoreReader } from '../../src/store/serving/store-reader.ts'
import { importInto } from '../support/import-rows.ts'
import { checkFailure, listenOn, makeApp, pathOf } from '../support/make-app.ts'
import { inOrder, makeRecord, type WireRecord } from '../support/make-record.ts'

const path = pathOf(rights, 7)
const odd = [
  makeRecord(rights, { id: 1, name: 'a,b', status: '=1+1', object_type: ',{"id":7},{' }),
  makeRecord(rights, { id: 2, name: 'quo"te', status: null }),
  makeRecord(rights, { id: 3, name: 'two\r\nlines \\ é😀', status: ' x ' }),
  makeRecord(rights, { id: 4, name: 'ends in \\', holders: ['a]b', 'say "c]"', '\\'] }),
]
const load = (records: readonly WireRecord[]) => ({
  records: [{ resource: rights, company: 7, records }],
})
const { ask, store } = await makeApp({ after }, load(odd))
const linesOf = (records: readonly WireRecord[]) =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('')

test('CSV has a header, CRLF, empty cells for null, and JSON for lists (11.2)', async () => {
  const { text, headers } = await ask(`${path}?format=csv`)
  const [header, first = '', second = ''] = text.split('\r\n')
  assert.equal(header, Object.keys(rights.fields).join(','))
  assert.ok(first.includes('"a,b"') && first.includes('"=1+1"'), first)
  assert.ok(second.includes('"quo""te"') && second.includes(',,'), second)
  assert.ok(text.includes('"two\r\nlines \\ é😀"'))
  assert.match(text, /"\[""[^\]]+\]"/)
  assert.ok(text.endsWith('\r\n'))
  assert.equal(headers['content-type'], 'text/csv; charset=utf-8; header=present')
})

test('NDJSON is the records, one a line, with the counters in headers (11.2)', async () => {
  const { text, headers } = await ask(`${path}?format=ndjson&limit=2`)
  assert.equal(text, linesOf(odd.slice(0, 2)))
  assert.equal(headers['content-type'], 'application/x-ndjson; charset=utf-8')
  assert.equal(headers['x-total-count'], '4')
  assert.equal(headers['data-version'], '1')
  const file = 'rights-7-version-1.ndjson'
  assert.equal(headers['content-disposition'], `attachment; filename="${file}"`)
  const form = `${path}?page=2&limit=2&format=ndjson&version=1`
  assert.ok(headers['link']?.includes(`<${form}>; rel="next"`))
})

test('Accept chooses a format, and the parameter wins over it (11.1)', async () => {
  for (const [accept, query, type] of [
    ['text/csv', '', 'text/csv'],
    ['application/x-ndjson', '', 'application/x-ndjson'],
    ['text/csv;q=0.5, application/x-ndjson', '', 'application/x-ndjson'],
    ['application/json, text/csv;q=0.1', '', 'application/json'],
    ['text/csv;q=0', '', 'application/json'],
    ['Text/CSV', '', 'text/csv'],
    ['text/csv; charset=UTF-8', '', 'text/csv'],
    ['text/csv;header=absent', '', 'application/json'],
    ['application/json; charset=utf-8, text/csv;q=0.1', '', 'application/json'],
    ['text/html, */*', '', 'application/json'],
    ['image/png', '', 'application/json'],
    ['text/csv', '?format=json', 'application/json'],
    ['application/json', '?format=csv', 'text/csv'],
  ] as const) {
    const { headers } = await ask(`${path}${query}`, { headers: { accept } })
    assert.equal(headers['content-type']?.split(';')[0], type, `${accept} ${query}`)
    assert.equal(headers['vary'], 'Accept, Accept-Encoding')
  }
  const asked = await ask(path, { json: { format: 'csv', limit: 'all' } })
  assert.equal(asked.headers['content-type'], 'text/csv; charset=utf-8; header=present')
})

test('of the formats that a client accepts, it gets one that there is (11.1)', async () => {
  const key = await store.issueKey({ name: 'follower', scopes: ['changes', 'rights'] })
  const headers = { accept: 'text/csv, application/x-ndjson;q=0.5' }
  const changes = await ask('/api/v1/changes?after=0', { key, headers })
  assert.equal(changes.headers['content-type'], 'application/x-ndjson; charset=utf-8')
})

test('a wrong format or limit is an error that says what to ask for (11)', async () => {
  for (const [query, message] of [
    ['format=xml', 'format is "xml"; it takes json, csv or ndjson'],
    ['format=csv&format=json', 'format is given more than once; it takes json, csv or ndjson'],
    ['limit=all', 'limit is "all"; that takes format=csv or format=ndjson'],
    ['limit=all&format=csv&page=2', 'page is 2; limit=all has only one page'],
    ['limit=every&format=csv', 'limit is "every"; it takes an integer from 1 to 1000'],
  ] as const) {
    checkFailure(await ask(`${path}?${query}`), 400, message)
  }
  checkFailure(await ask(`${pathOf(rights, 8)}?format=csv&limit=all`), 404, /^Company 8 is not/)
  checkFailure(await ask(`${path}?format=csv&limit=all&version=2`), 404, /^Version 2 does not/)
})

// More than one piece: the first has 500 records.
const many = Array.from({ length: 2_345 }, (_, n) =>
  makeRecord(rights, { id: n + 1, status: n % 3 === 0 ? 'ended' : 'registered' }),
)

test('limit=all is every record of a selection, in its order (11.3)', async (t) => {
  const { ask, logged } = await makeApp(t, load(many))
  const all = await ask(`${path}?format=ndjson&limit=all`)
  assert.equal(all.text, linesOf(inOrder(rights, many)))
  assert.equal(all.headers['x-total-count'], String(many.length))
  assert.equal(logged().at(-1)?.['bytes'], all.bytes.length)
  const ended = await ask(`${path}?format=ndjson&limit=all&status=ended&sort=-updated_at`)
  const expected = many.filter(({ id }) => (id - 1) % 3 === 0).toReversed()
  assert.equal(ended.text, linesOf(expected))
  const none = await ask(`${path}?format=csv&limit=all&status=nobody`)
  assert.equal(none.text, `${Object.keys(rights.fields).join(',')}\r\n`)
  const head = await ask(`${path}?format=ndjson&limit=all`, { method: 'HEAD' })
  assert.deepEqual([head.status, head.text], [200, ''])
  assert.equal(head.headers['x-total-count'], all.headers['x-total-count'])
})

test('records larger than a piece are sent whole (3.10, 11.3)', async (t) => {
  const large = Array.from({ length: 40 }, (_, n) =>
    makeRecord(rights, { id: n + 1, name: 'é'.repeat(30_000), object_type: 'x'.repeat(60_000) }),
  )
  const { ask } = await makeApp(t, load(large))
  const { text } = await ask(`${path}?format=ndjson&limit=all`)
  assert.ok(text === linesOf(inOrder(rights, large)))
})

test('a stream is compressed as the client asks (11.3)', async (t) => {
  const { ask } = await makeApp(t, load(many))
  const plain = await ask(`${path}?format=csv&limit=all`)
  for (const [coding, decode] of [
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
    ['zstd', zstdDecompressSync],
  ] as const) {
    const coded = await ask(`${path}?format=csv&limit=all`, {
      headers: { 'accept-encoding': coding },
    })
    assert.equal(coded.headers['content-encoding'], coding)
    assert.ok(decode(coded.bytes).equals(plain.bytes))
  }
})

for (const format of ['csv', 'ndjson'] as const) {
  test(`a listing as ${format} goes back through an import unchanged (11.2)`, async (t) => {
    const from = await makeApp(t, load([...odd, ...many.slice(10, 30)]))
    const to = await makeApp(t)
    const { bytes } = await from.ask(`${path}?format=${format}&limit=all`)
    const file = join(to.store.folder, `copy.${format}`)
    writeFileSync(file, bytes)
    await importInto(to.store.path, 'rights', [file], {
      mapping: 'select 7 as company_id, * from source',
    })
    const [before, after] = [await from.ask(path), await to.ask(path)]
    assert.equal(after.text, before.text)
  })
}

/** Opens a stream over a socket, of which nothing is read yet. */
async function open(key: string, query: string): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${key}` }
  const asked = request({ port, host: '127.0.0.1', path: `${path}?${query}`, headers }).end()
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  // A connection that is reset is an error of the answer, too.
  asked.on('error', () => undefined)
  return answer.pause()
}

async function readAll(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of answer) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

// More than the buffers of two sockets and the server hold.
const wide = Array.from({ length: 6_000 }, (_, n) =>
  makeRecord(rights, { id: n + 1, name: `${n}`.padEnd(3_000, '.') }),
)
/** The pages that the store of these gives until its disk is gone. */
let pagesLeft = Infinity
const made = await makeApp(
  { after },
  {
    ...load(wide),
    wrapStore: (store: StoreReader) => ({
      ...store,
      readPage(...asked) {
        pagesLeft -= 1
        if (pagesLeft < 0) return Promise.reject(new Error('the disk is gone'))
        return store.readPage(...asked)
      },
    }),
  },
)
const port = await listenOn(made)

test('a stream that fails is cut off, and the cause is logged (11.3)', async () => {
  pagesLeft = 3
  const answer = await open(made.key, 'format=csv&limit=all')
  await assert.rejects(readAll(answer), /aborted|ECONNRESET/)
  pagesLeft = Infinity
  const faults = made.logged().filter(({ msg }) => msg === 'the request could not be answered')
  assert.equal(faults.length, 1)
  assert.match(JSON.stringify(faults[0]), /the disk is gone/)
})

test('a stream ends with the key that asked for it (2.2)', async () => {
  const key = await made.store.issueKey({ name: 'leaving' })
  const answer = await open(key, 'format=ndjson&limit=all')
  const other = await open(made.key, 'format=ndjson&limit=all')
  await made.store.revokeKey('leaving')
  // A key that was found good is not looked up again for half a second.
  await sleep(600)
  assert.equal((await readAll(other)).length, linesOf(wide).length)
  await assert.rejects(readAll(answer), /aborted|ECONNRESET/)
})

test('a stream is of one version, even while imports continue (11.3)', async () => {
  const answer = await open(made.key, 'format=ndjson&limit=all')
  const changed = wide.map((record) => ({ ...record, status: 'changed' }))
  await made.store.load([{ resource: rights, company: 7, records: changed.slice(0, 5_500) }])
  const text = await readAll(answer)
  assert.equal(answer.headers['data-version'], '1')
  assert.ok(text === linesOf(inOrder(rights, wide)))
  const later = await made.ask(`${path}?limit=1`)
  assert.equal(later.headers['data-version'], '2')
})
