// The explorer as it is served; test/explorer/ shows what it does in a browser.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { resources } from '../../src/resources/index.ts'
import { checkFailure, makeApp } from '../support/make-app.ts'

const { ask } = await makeApp({ after })
const page = await ask('/', { authorization: null })
const addresses = [...page.text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url]) => url ?? '')
const files = [...new Set(addresses.filter((url) => url.startsWith('explorer/')))]

test('the page is served to everybody, with protective header fields', () => {
  assert.equal(page.status, 200)
  assert.equal(page.headers['content-type'], 'text/html; charset=utf-8')
  assert.equal(page.headers['cache-control'], 'no-cache')
  assert.equal(
    page.headers['content-security-policy'],
    "default-src 'none'; connect-src 'self'; script-src 'self'; style-src 'self'; " +
      "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
      "require-trusted-types-for 'script'; trusted-types 'none'",
  )
  assert.equal(page.headers['referrer-policy'], 'no-referrer')
  assert.equal(page.headers['x-content-type-options'], 'nosniff')
  assert.equal(page.headers['x-frame-options'], 'DENY')
})

test('every address in it is relative, so that it works behind any prefix', () => {
  assert.ok(files.length > 20)
  const known = /^(?:explorer\/[\w.-]+|docs(?:\/client\.md)?)$/
  for (const address of addresses) assert.match(address, known)
})

test('its only inline script is data, which the policy does not let run', () => {
  const scripts = [...page.text.matchAll(/<script([^>]*)>([^]*?)<\/script>/g)]
  const inline = scripts.filter(([, attributes]) => attributes?.includes('src=') === false)
  assert.deepEqual(
    inline.map(([, attributes]) => attributes),
    [' type="application/json" id="resources"'],
  )
  const described = JSON.parse(inline[0]?.[2] ?? '') as { name: string }[]
  assert.deepEqual(
    described.map(({ name }) => name),
    resources.map(({ name }) => name),
  )
  assert.doesNotMatch(page.text, /\s(?:on\w+|style)=/)
})

test('its files are named by their content and kept for good', async () => {
  for (const file of files) {
    const answer = await ask(`/${file}`, { authorization: null })
    assert.equal(answer.status, 200, file)
    assert.match(file, /^explorer\/[\w-]+\.[0-9a-f]{16}\.(?:js|css|svg)$/)
    assert.equal(answer.headers['cache-control'], 'public, max-age=31536000, immutable')
    assert.equal(answer.headers['x-content-type-options'], 'nosniff')
    assert.doesNotMatch(answer.text, /https?:\/\/(?!www\.w3\.org\/)/, `${file} names a host`)
    for (const [, imported = ''] of answer.text.matchAll(/\bfrom\s*['"]([^'"]*)['"]/g)) {
      if (/[^\w./-]/.test(imported)) continue
      assert.ok(files.includes(`explorer/${imported.replace('./', '')}`), `${file}: ${imported}`)
    }
  }
})

test('all of it is at most 85 kB, compressed', async (t) => {
  const sizes = { gzip: 0, br: 0 }
  const decode = { gzip: gunzipSync, br: brotliDecompressSync }
  for (const coding of ['gzip', 'br'] as const) {
    for (const file of ['', ...files]) {
      const headers = { 'accept-encoding': coding }
      const { bytes, headers: given } = await ask(`/${file}`, { authorization: null, headers })
      sizes[coding] += bytes.length
      if (given['content-encoding'] !== coding) continue
      const plain = await ask(`/${file}`, { authorization: null })
      assert.deepEqual(decode[coding](bytes), plain.bytes)
    }
  }
  t.diagnostic(`gzip ${sizes.gzip} bytes, br ${sizes.br} bytes`)
  assert.ok(Math.max(sizes.gzip, sizes.br) <= 85_000)
})

for (const path of [
  'explorer',
  'explorer/',
  'explorer/main.js',
  'explorer/..%2fapi.ts',
  'index.html',
]) {
  test(`/${path} is a 404`, async () => {
    checkFailure(await ask(`/${path}`, { authorization: null }), 404, 'Not Found')
  })
}

test('POST / is a 405', async () => {
  const answer = await ask('/', { method: 'POST' })
  checkFailure(answer, 405, 'Method Not Allowed')
  assert.equal(answer.headers['allow'], 'GET, HEAD')
})

test('--explorer no leaves a 404, and no link to it', async (t) => {
  const without = await makeApp(t, { isExplorerOn: false })
  checkFailure(await without.ask('/', { authorization: null }), 404, 'Not Found')
  const file = files[0] ?? assert.fail()
  checkFailure(await without.ask(`/${file}`, { authorization: null }), 404, 'Not Found')
  const [withLink, withoutLink] = [await ask('/docs'), await without.ask('/docs')]
  assert.match(withLink.text, /<a class="link" href="\.\/">/)
  assert.doesNotMatch(withoutLink.text, /href="\.\/"/)
})
