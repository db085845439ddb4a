// The reference and the explorer as they are served: behind any prefix, without requests to other
// hosts. test/explorer/ shows what the explorer does in a browser.

import assert from 'node:assert/strict'
import { extname } from 'node:path/posix'
import { after, test } from 'node:test'
import { createContext, runInContext } from 'node:vm'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { resources } from '../../src/resources/index.ts'
import { checkFailure, makeApp } from '../support/make-app.ts'

const { ask } = await makeApp({ after })
const get = (path: string, headers = {}, method = 'GET') =>
  ask(path, { authorization: null, headers, method })

const docs = await get('/docs')
const explorer = await get('/')
const guide = await get('/docs/guide')
const addressesIn = (html: string) =>
  [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url = '']) => url)
const docsFiles = addressesIn(docs.text).filter((url) => /^docs\/.+\.(?:js|css)$/.test(url))
const explorerFiles = addressesIn(explorer.text).filter((url) => url.startsWith('explorer/'))

for (const [path, page, images, policies] of [
  ['/docs', docs, "'self' data:", 'default dompurify'],
  ['/', explorer, "'self'", "'none'"],
  ['/docs/guide', guide, 'data:', "'none'"],
] as const) {
  test(`${path} is served to everybody, with protective header fields`, () => {
    assert.equal(page.status, 200)
    const { 'permissions-policy': permissions = '', ...headers } = page.headers
    assert.match(permissions, /\bcamera=\(\)/)
    for (const [name, value] of Object.entries({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'content-security-policy':
        "default-src 'none'; connect-src 'self'; script-src 'self'; style-src 'self'; " +
        `img-src ${images}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; ` +
        `require-trusted-types-for 'script'; trusted-types ${policies}`,
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    })) {
      assert.equal(headers[name], value, name)
    }
  })

  test(`${path} has nothing inline that its policy would block`, () => {
    const scripts = [...page.text.matchAll(/<script([^>]*)>([^]*?)<\/script>/g)]
    const inline = scripts.filter(([, attributes]) => attributes?.includes('src=') === false)
    const data = path === '/' ? [' type="application/json" id="resources"'] : []
    const told = inline.map(([, attributes]) => attributes)
    assert.deepEqual(told, data)
    assert.doesNotMatch(page.text, /\s(?:on\w+|style)=/)
  })
}

test('every address in the explorer is relative, so that it works behind any prefix', () => {
  assert.ok(explorerFiles.length > 5)
  const known = /^(?:explorer\/[0-9a-f]{16}\/[\w./-]+|docs(?:\/guide)?)$/
  for (const address of addressesIn(explorer.text)) assert.match(address, known)
})

test('the explorer has the description of all resources', () => {
  const [, text = ''] = /id="resources">([^]*?)<\/script>/.exec(explorer.text) ?? []
  const described = JSON.parse(text) as { name: string }[]
  const names = described.map(({ name }) => name)
  const expected = resources.map(({ name }) => name)
  assert.deepEqual(names, expected)
})

test('the reference and its start script name no other host; it links guide and explorer', async () => {
  const start = await get('/docs/start.js')
  for (const text of [docs.text, start.text]) assert.doesNotMatch(text, /https?:|"\/\/|'\/\//)
  for (const url of ['docs/guide', './']) assert.ok(addressesIn(docs.text).includes(url), url)
})

test('without JavaScript, each page says so, and links what can be read without it', () => {
  for (const [page, document] of [
    [explorer, 'docs/guide'],
    [docs, 'openapi.json'],
  ] as const) {
    const [, text = ''] = /<noscript>([^]*)<\/noscript>/.exec(page.text) ?? []
    assert.match(text, /needs JavaScript/)
    assert.ok(addressesIn(text).includes(document))
  }
})

test('each link of the guide leads to one of its sections, or to a document', async () => {
  const links = addressesIn(guide.text).filter((url) => url !== 'data:,')
  assert.ok(links.length > 20)
  for (const link of links) {
    if (link.startsWith('#')) assert.ok(guide.text.includes(` id="${link.slice(1)}"`), link)
    else assert.equal((await get(new URL(link, 'http://host/docs/guide').pathname)).status, 200)
  }
})

test('the addresses of files of the explorer change with their content, so that they can be cached', async () => {
  const script = 'text/javascript; charset=utf-8'
  const types = { '.css': 'text/css; charset=utf-8', '.svg': 'image/svg+xml' }
  const isOfDocs = (file: string) => docsFiles.includes(file)
  assert.equal(docsFiles.length, 3)
  for (const file of [...docsFiles, ...explorerFiles]) {
    const answer = await get(`/${file}`)
    assert.equal(answer.status, 200, file)
    const type = (types as Record<string, string | undefined>)[extname(file)] ?? script
    assert.equal(answer.headers['content-type'], type, file)
    const kept = isOfDocs(file) ? 'no-cache' : 'public, max-age=31536000, immutable'
    assert.equal(answer.headers['cache-control'], kept)
    assert.equal(answer.headers['x-content-type-options'], 'nosniff')
    assert.equal(answer.headers['cross-origin-resource-policy'], 'same-origin')
    if (isOfDocs(file)) continue
    const hash = /\b[0-9a-f]{16}\b/
    assert.match(file, hash)
    checkFailure(await get(`/${file.replace(hash, '0123456789abcdef')}`), 404, 'Not Found')
    assert.doesNotMatch(answer.text, /https?:\/\/(?!www\.w3\.org\/)/, `${file} names a host`)
  }
})

test('the page loads each module of the explorer before another one imports it', async () => {
  const script = addressesIn(explorer.text).find((url) => url.endsWith('/main.js')) ?? ''
  const reached = new Set([script])
  for (const file of reached) {
    const { text } = await get(`/${file}`)
    for (const [, imported = ''] of text.matchAll(/\b(?:from|import)\s*['"]([\w./-]+)['"]/g)) {
      assert.match(imported, /^\.\.?\//, file)
      reached.add(new URL(imported, `http://host/${file}`).pathname.slice(1))
    }
  }
  const preloaded = [...explorer.text.matchAll(/rel="modulepreload" href="([^"]*)"/g)]
  assert.deepEqual(reached, new Set(preloaded.map(([, url]) => url)))
})

test('all servers of a version give the files of the explorer the same addresses', async (t) => {
  const other = await makeApp(t)
  assert.equal((await other.ask('/', { authorization: null })).text, explorer.text)
})

test('every file has its own tag, a 304 for it, and HEAD as GET, in any coding', async () => {
  const bundle = '/docs/swagger-ui-bundle.js'
  const urls = ['/docs', '/openapi.json', ...docsFiles.map((file) => `/${file}`)]
  const tags = new Set<string>()
  for (const url of urls) {
    const answer = await get(url)
    const tag = answer.headers['etag'] ?? assert.fail(url)
    tags.add(tag)
    for (const coding of ['identity', 'gzip', 'br', 'zstd']) {
      const headers = { 'accept-encoding': coding, 'x-request-id': 'same' }
      const [whole, head] = [await get(url, headers), await get(url, headers, 'HEAD')]
      assert.equal(head.bytes.length, 0)
      assert.deepEqual({ ...head.headers, date: '' }, { ...whole.headers, date: '' })
      assert.equal(head.headers['content-length'], String(whole.bytes.length))
      for (const method of ['GET', 'HEAD']) {
        const unchanged = await get(url, { ...headers, 'if-none-match': tag }, method)
        assert.equal(unchanged.status, 304)
        assert.equal(unchanged.bytes.length, 0)
        assert.equal(unchanged.headers['content-type'], undefined)
        for (const name of ['etag', 'cache-control', 'vary']) {
          assert.equal(unchanged.headers[name], answer.headers[name], name)
        }
      }
    }
    assert.equal((await get(url, { 'if-none-match': '"other"' })).status, 200)
  }
  assert.equal(tags.size, urls.length)
  for (const url of ['/docs', '/openapi.json', bundle]) {
    assert.equal((await get(url)).headers['cache-control'], 'no-cache')
  }
})

for (const base of ['http://host/docs', 'https://host/registry/docs']) {
  test(`at ${base} the reference reads the document beside it`, async () => {
    let options: { url?: string; validatorUrl?: unknown } = {}
    const context = createContext({
      location: new URL(base),
      SwaggerUIBundle: (given: typeof options) => {
        options = given
      },
    })
    runInContext((await get('/docs/start.js')).text, context)
    assert.equal(new URL(options.url ?? '', base).href, base.replace(/docs$/, 'openapi.json'))
    assert.equal(options.validatorUrl, null, 'nothing is sent to a validator elsewhere')
    for (const file of docsFiles) assert.ok(new URL(file, base).href.startsWith(`${base}/`))
    assert.equal((await get('/openapi.json')).status, 200)
  })
}

const unknownFiles = [
  ...['package.json', 'index.html', '..%2f..%2fpackage.json', 'start.js.map', 'x'],
  ...['constructor', 'toString', '__proto__', 'hasOwnProperty'],
].map((file) => `/docs/${file}`)
for (const path of [
  ...unknownFiles,
  ...['/explorer', '/explorer/', '/explorer/main.ts', '/explorer/..%2fapi.ts', '/index.html'],
  ...['tsconfig.json', '..%2fhttp/app.ts', '__proto__', '/main.ts'].map((file) => {
    return `/${explorerFiles[0]?.split('/', 2).join('/')}/${file}`
  }),
]) {
  test(`${path} is a 404`, async () => checkFailure(await get(path), 404, 'Not Found'))
}

test('all of the explorer is at most 65 kB, compressed', async (t) => {
  const decode = { gzip: gunzipSync, br: brotliDecompressSync }
  for (const coding of ['gzip', 'br'] as const) {
    let size = 0
    for (const file of new Set(['', ...explorerFiles])) {
      const { bytes, headers } = await get(`/${file}`, { 'accept-encoding': coding })
      size += bytes.length
      if (headers['content-encoding'] !== coding) continue
      assert.deepEqual(decode[coding](bytes), (await get(`/${file}`)).bytes)
    }
    t.diagnostic(`${coding} ${size} bytes`)
    assert.ok(size <= 65_000, `${size} bytes as ${coding}`)
  }
})

test('--explorer no leaves a 404, and no link to it', async (t) => {
  const without = await makeApp(t, { isExplorerOn: false })
  for (const path of ['', ...explorerFiles.slice(0, 1)]) {
    checkFailure(await without.ask(`/${path}`, { authorization: null }), 404, 'Not Found')
  }
  assert.match(docs.text, /<a class="link" href="\.\/">/)
  assert.doesNotMatch((await without.ask('/docs')).text, /href="\.\/"/)
})
