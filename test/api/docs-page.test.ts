// The reference page works behind any prefix, without requests to other hosts.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createContext, runInContext } from 'node:vm'
import { resources } from '../../src/resources/index.ts'
import { checkFailure, makeApp } from '../support/make-app.ts'

const { ask } = await makeApp({ after })
const page = await ask('/docs', { authorization: null })
const references = [...page.text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url]) => url ?? '')
const assets = references.filter((url) => /^docs\/.+\.(?:js|css)$/.test(url))

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

const inherited = ['constructor', 'toString', '__proto__', 'hasOwnProperty']
const unknown = ['package.json', 'index.html', '..%2f..%2fpackage.json', 'start.js.map', 'x']
for (const asset of [...unknown, ...inherited]) {
  test(`/docs/${asset} is a 404`, async () => {
    checkFailure(await ask(`/docs/${asset}`), 404, 'Not Found')
  })
}

test('the page links the guide and the explorer', () => {
  for (const url of ['docs/client.md', './']) assert.ok(references.includes(url), url)
})

/** Parses a file as the reference implementation of llmstxt.org does, with its expressions. */
function parseLlms(text: string) {
  const [start = '', ...rest] = text.split(/^##\s*(.*?$)/m)
  const head = /^#\s*(?<title>.+?$)\n+(?:^>\s*(?<summary>.+?$)$)?\n+(?<info>.*)/ms.exec(
    start.trim(),
  )
  const sections = new Map<string, Readonly<Record<string, string>>[]>()
  for (let n = 0; n < rest.length; n += 2) {
    const lines = (rest[n + 1] ?? '').trim().split(/\n+/)
    const links = lines.map((line) => {
      const link = /-\s*\[(?<title>[^\]]+)\]\((?<url>[^)]+)\)(?::\s*(?<desc>.*))?/.exec(line)
      return link?.groups ?? assert.fail(`no link: ${line}`)
    })
    sections.set(rest[n] ?? '', links)
  }
  const { title = '', summary = '', info = '' } = head?.groups ?? {}
  return { title, summary, info, sections }
}

test('/llms.txt is as llmstxt.org has it, with absolute addresses that lead somewhere', async () => {
  const asked = { authorization: null, headers: { host: 'registry.test:8080' } }
  const { text, headers } = await ask('/llms.txt', asked)
  const { title, summary, info, sections } = parseLlms(text)
  assert.equal(title, 'Dossier')
  assert.match(summary, /^A read-only service .* as they were\.$/)
  assert.match(info, /^Every request under `\/api\/` needs a key/)
  assert.deepEqual([...sections.keys()], ['Documents', 'Endpoints'])
  const { paths } = JSON.parse((await ask('/openapi.json')).text) as {
    paths: Readonly<Record<string, { get: { operationId: string; tags: string[] } }>>
  }
  for (const { url = '', desc = '' } of [...sections.values()].flat()) {
    const { host, pathname } = new URL(url)
    assert.equal(host, 'registry.test:8080')
    assert.equal((await ask(pathname, { authorization: null })).status, 200, url)
    assert.ok(desc.length > 5, url)
  }
  assert.deepEqual(
    sections.get('Endpoints')?.map((link) => [link['title'], link['url']]),
    Object.entries(paths).map(([path, { get }]) => [
      `GET ${path}`,
      `http://registry.test:8080/docs#/${get.tags[0]}/${get.operationId}`,
    ]),
  )
  assert.match(headers['etag'] ?? '', /^W\//)
  for (const host of ['a).b', '[x](http://y)', 'a b']) {
    const odd = await ask('/llms.txt', { authorization: null, headers: { host } })
    if (odd.status === 200) assert.doesNotMatch(odd.text, /\]\(https?:/, host)
  }
})

test('behind a trusted proxy with TLS, the addresses in /llms.txt are those of clients', async (t) => {
  const proxied = { headers: { host: 'registry.test', 'x-forwarded-proto': 'https' } }
  const trusting = await makeApp(t, { trustedProxies: ['127.0.0.1'] })
  assert.match(
    (await trusting.ask('/llms.txt', proxied)).text,
    /\(https:\/\/registry\.test\/docs\)/,
  )
  assert.match((await ask('/llms.txt', proxied)).text, /\(http:\/\/registry\.test\/docs\)/)
})

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
