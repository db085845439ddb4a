// The client's guide, and the index of documents for agents (llmstxt.org).

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { makeApp } from '../support/make-app.ts'

const { ask } = await makeApp({ after })

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

test('/llms.txt has the form of llmstxt.org, with absolute addresses that exist', async () => {
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
  assert.equal(headers['content-type'], 'text/plain; charset=utf-8')
  assert.match(headers['etag'] ?? '', /^W\//)
  for (const host of ['a).b', '[x](http://y)', 'a b']) {
    const odd = await ask('/llms.txt', { authorization: null, headers: { host } })
    if (odd.status === 200) assert.doesNotMatch(odd.text, /\]\(https?:/, host)
  }
})

test('behind a trusted proxy with TLS, the addresses in /llms.txt are those of clients', async (t) => {
  const proxied = { headers: { host: 'registry.test', 'x-forwarded-proto': 'https' } }
  const trusting = await makeApp(t, { trustedProxies: ['127.0.0.1'] })
  const guide = (await trusting.ask('/llms.txt', proxied)).text
  assert.match(guide, /\(https:\/\/registry\.test\/docs\)/)
  const distrusting = await makeApp(t, { trustedProxies: ['192.0.2.1'] })
  for (const app of [distrusting, { ask }]) {
    const { text } = await app.ask('/llms.txt', proxied)
    assert.match(text, /\(http:\/\/registry\.test\/docs\)/)
  }
})

test('the client’s guide needs no key', async () => {
  const guide = await ask('/docs/client.md', { authorization: null })
  assert.equal(guide.status, 200)
  assert.equal(guide.headers['content-type'], 'text/markdown; charset=utf-8')
  assert.match(guide.text, /^# Client's guide\n/)
  const { paths } = JSON.parse((await ask('/openapi.json')).text) as { paths: object }
  for (const path of Object.keys(paths)) {
    // A path of the document alone, for the listings as CSV and NDJSON.
    const isEndpoint = path !== '/api/v1/companies/{company_id}/{listing}'
    assert.equal(guide.text.includes(`| \`${path}\` |`), isEndpoint, path)
  }
})
