// The reference page works behind any prefix, without requests to other hosts.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createContext, runInContext } from 'node:vm'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { resources } from '../../src/resources/index.ts'
import { checkFailure, makeApp } from '../support/make-app.ts'

const { ask } = await makeApp({ after })
const page = await ask('/docs', { authorization: null })
const references = [...page.text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url]) => url ?? '')
const assets = references.filter((url) => url.startsWith('docs/'))

test('/docs is served with protective header fields', () => {
  assert.equal(page.status, 200)
  assert.equal(page.headers['content-type'], 'text/html; charset=utf-8')
  assert.equal(page.headers['x-content-type-options'], 'nosniff')
  const policy = page.headers['content-security-policy'] ?? ''
  const directives = new Map(
    policy.split('; ').map((directive) => {
      const [name = '', ...sources] = directive.split(' ')
      return [name, sources.join(' ')]
    }),
  )
  assert.equal(directives.get('default-src'), "'none'")
  assert.equal(directives.get('script-src'), "'self'")
  assert.equal(directives.get('style-src'), "'self'")
  assert.equal(directives.get('require-trusted-types-for'), "'script'")
  assert.equal(directives.get('connect-src'), "'self'")
  assert.equal(directives.get('frame-ancestors'), "'none'")
  assert.equal(directives.get('base-uri'), "'none'")
  assert.equal(directives.get('form-action'), "'none'")
  assert.equal(page.headers['x-frame-options'], 'DENY')
  assert.equal(page.headers['referrer-policy'], 'no-referrer')
  assert.equal(page.headers['cross-origin-opener-policy'], 'same-origin')
  assert.equal(page.headers['cross-origin-resource-policy'], 'same-origin')
  assert.match(page.headers['permissions-policy'] ?? '', /\bcamera=\(\)/)
  assert.doesNotMatch(policy, /unsafe-eval|unsafe-inline|https?:|\*/)
})

test('the page has no inline script, which its policy would block', () => {
  assert.doesNotMatch(page.text, /<script(?![^>]* src=)/)
  assert.doesNotMatch(page.text, /\son\w+=/)
})

test('neither the page nor its start script names another host', async () => {
  const start = await ask('/docs/start.js')
  for (const text of [page.text, start.text]) {
    assert.doesNotMatch(text, /https?:|"\/\/|'\/\//)
  }
  assert.equal(assets.length, 3)
})

for (const asset of assets) {
  test(`the page's ${asset} is served with a working content type`, async () => {
    const path = new URL(asset, 'http://host/docs').pathname
    const answer = await ask(path, { authorization: null })
    assert.equal(answer.status, 200)
    const type = asset.endsWith('.css') ? 'text/css' : 'text/javascript'
    assert.equal(answer.headers['content-type'], `${type}; charset=utf-8`)
    assert.equal(answer.headers['x-content-type-options'], 'nosniff')
    assert.equal(answer.headers['cross-origin-resource-policy'], 'same-origin')
    assert.ok(answer.bytes.length > 100)
  })
}

test('the assets are compressed for clients that accept it', async () => {
  const plain = await ask('/docs/swagger-ui.css')
  const asked = (coding: string) =>
    ask('/docs/swagger-ui.css', { headers: { 'accept-encoding': coding } })
  const [gzip, br] = [await asked('gzip'), await asked('br')]
  assert.equal(gzip.headers['content-encoding'], 'gzip')
  assert.equal(br.headers['content-encoding'], 'br')
  assert.deepEqual(gunzipSync(gzip.bytes), plain.bytes)
  assert.deepEqual(brotliDecompressSync(br.bytes), plain.bytes)
  assert.equal(plain.headers['vary'], 'Accept-Encoding')
  assert.equal(plain.headers['content-encoding'], undefined)
})

for (const [base, document] of [
  ['http://host/docs', 'http://host/openapi.json'],
  ['https://host/registry/docs', 'https://host/registry/openapi.json'],
] as const) {
  test(`at ${base} the page reads ${document}`, async () => {
    let options: { url?: string; validatorUrl?: unknown } = {}
    const context = createContext({
      location: new URL(base),
      SwaggerUIBundle: (given: typeof options) => {
        options = given
      },
    })
    runInContext((await ask('/docs/start.js')).text, context)
    assert.equal(new URL(options.url ?? '', base).href, document)
    assert.equal(options.validatorUrl, null, 'nothing is sent to a validator elsewhere')
    for (const asset of assets) {
      assert.ok(new URL(asset, base).href.startsWith(`${base}/`))
    }
    assert.equal((await ask('/openapi.json')).status, 200)
  })
}

for (const asset of ['package.json', 'index.html', '..%2f..%2fpackage.json', 'start.js.map', 'x']) {
  test(`/docs/${asset} is a 404`, async () => {
    checkFailure(await ask(`/docs/${asset}`), 404, 'Not Found')
  })
}

for (const inherited of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) {
  test(`/docs/${inherited}, a property of every object, is a 404`, async () => {
    checkFailure(await ask(`/docs/${inherited}`), 404, 'Not Found')
  })
}

test('the client’s guide and the index of documents are there without a key', async () => {
  const guide = await ask('/docs/client.md', { authorization: null })
  assert.equal(guide.status, 200)
  assert.equal(guide.headers['content-type'], 'text/markdown; charset=utf-8')
  assert.match(guide.text, /^# Client's guide\n/)
  const index = await ask('/llms.txt', { authorization: null })
  assert.equal(index.status, 200)
  assert.equal(index.headers['content-type'], 'text/plain; charset=utf-8')
  const { paths } = JSON.parse((await ask('/openapi.json')).text) as { paths: object }
  for (const path of Object.keys(paths)) {
    assert.ok(guide.text.includes(`| \`${path}\` |`), path)
    assert.ok(index.text.includes(`- \`GET ${path}\`: `), path)
  }
  const linked = [...index.text.matchAll(/\]\(([^)]+)\)/g)].map(([, url]) => url ?? '')
  assert.equal(linked.length, 3)
  for (const url of linked) {
    assert.equal((await ask(`/${url}`, { authorization: null })).status, 200, url)
  }
})

test('the guide that a service shows is that of its own resources', async (t) => {
  const [some = assert.fail()] = resources
  const other = { ...some, name: 'filings', title: 'Filing' }
  const made = await makeApp(t, { resources: [other] })
  const { text } = await made.ask('/docs/client.md')
  assert.match(text, /^### filings$/m)
  assert.match(text, /`\/api\/v1\/companies\/\{company_id\}\/filings`/)
  assert.doesNotMatch(text, /^### events$/m)
})
