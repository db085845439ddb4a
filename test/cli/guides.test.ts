// Each request and program of the client's guide and of the README is run against the demo, as it
// is printed there.

import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { startDemo } from '../explorer/demo.ts'
import { openPort } from '../support/free-port.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const documents = ['docs/client.md', 'README.md']
const folder = mkdtempSync(join(tmpdir(), 'dossier-test-'))
const { url, key, stop } = await startDemo(folder)
after(() => {
  stop()
  rmSync(folder, { recursive: true, force: true })
})

interface Block {
  readonly language: string
  readonly text: string
}

const blocksOf = (document: string): Block[] =>
  [...read(document).matchAll(/^```(\w+)(?: [\w.]+)?\n([^]*?)^```$/gm)].map(
    ([, language = '', text = '']) => ({
      language,
      text,
    }),
  )

/** Runs a program, without the event loop's being blocked. */
async function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const options = { cwd: folder, env: { ...process.env, ...env }, timeout: 60_000 }
  return new Promise<{ code: unknown; out: string; err: string }>((done) => {
    execFile(command, args, options, (error, out, err) =>
      done({ code: error?.code ?? 0, out, err }),
    )
  })
}

const isThere = (command: string) => spawnSync(command, ['--version']).error === undefined
const skipCurl = !isThere('curl') && 'there is no curl'

/** Says the status of each request, besides what curl prints. */
const curl = String.raw`curl() { command curl -sS -w '%{stderr}%{http_code}\n' "$@"; }`

for (const document of documents) {
  const blocks = blocksOf(document)
  for (const [index, { language, text }] of blocks.entries()) {
    if (language !== 'sh' || !text.includes('curl')) continue
    const title = text.split('\n').find((line) => line.includes('/api/')) ?? ''
    test(`${document}: ${title.trim()}`, { skip: skipCurl }, async () => {
      const script = text.replaceAll('http://127.0.0.1:8080', url).replace('dossier_…', key)
      const { code, out, err } = await run('sh', ['-c', `${curl}\n${script}`], {
        BASE: url,
        KEY: key,
      })
      const requests = text.match(/\bcurl /g)?.length
      const statuses = err.trim().split('\n')
      assert.equal(code, 0, err)
      assert.equal(statuses.length, requests, err)
      const expected = text.includes('If-None-Match') ? ['200', '304'] : statuses.map(() => '200')
      assert.deepEqual(statuses, expected, out)
      const next = blocks[index + 1]
      const isAnswer = next?.language === 'json' && next.text.startsWith('{"ok":true')
      if (isAnswer) assert.ok(out.includes(next.text.trim()), `${next.text} is not in ${out}`)
      if (text.includes('curl -i')) {
        const names = (lines: string) => lines.match(/^[a-z-]+(?=:)/gm)
        assert.deepEqual(names(next?.text ?? ''), names(out))
        assert.match(next?.text ?? '', new RegExp(String(/^vary: .*$/m.exec(out)?.[0])))
      }
    })
  }

  test(`${document}: the requests within sentences and tables`, async () => {
    const company = /begins with `(\/api\/v1\/companies\/GB:[^`]+)`/.exec(read(document))?.[1]
    const inText = read(document).replaceAll(/^```[^]*?^```$/gm, '')
    const cells = [...inText.matchAll(/^\|[^\n]*$/gm)].flatMap(([line]) => {
      return [...line.matchAll(/`(\/[a-z_]+\?[^`]*)`/g)].map(
        ([, request]) => `${company}${request}`,
      )
    })
    const whole = [...inText.matchAll(/`(?:GET )?(\/api\/v1\/[^`{]*[^`{/])`/g)].map(
      ([, path]) => path,
    )
    // In the table of endpoints, these stand without the parameter that they need.
    const incomplete = ['/api/v1/companies', '/api/v1/changes']
    const requests = [...new Set([...cells, ...whole])].filter(
      (one) => one === undefined || !incomplete.includes(one),
    )
    assert.ok(requests.length > (document === 'README.md' ? 0 : 15))
    for (const request of requests) {
      const answer = await fetch(`${url}${request}`, {
        headers: { authorization: `Bearer ${key}` },
      })
      const text = await answer.text()
      assert.equal(answer.status, 200, `${request}: ${text}`)
      // Each question of a table has an answer.
      if (cells.includes(String(request))) assert.doesNotMatch(text, /"pagination_total":0,/)
    }
  })
}

test('docs/client.md: the links of a page', async () => {
  const [, sample] = /^link: (.*)$/m.exec(read('docs/client.md')) ?? []
  const answer = await fetch(`${url}/api/v1/companies/1/pos_terminals?limit=1`, {
    headers: { authorization: `Bearer ${key}` },
  })
  assert.equal(answer.headers.get('link'), sample)
})

for (const [language, command, file] of [
  ['js', process.execPath, 'walk.mjs'],
  ['python', 'python3', 'walk.py'],
] as const) {
  const skip = !isThere(command) && `there is no ${command}`
  const program =
    blocksOf('docs/client.md').find((block) => block.language === language)?.text ?? ''
  const path = join(folder, file)
  writeFileSync(path, program)

  test(`the client's program in ${language} walks a listing, or says why`, { skip }, async () => {
    const { code, out, err } = await run(command, [path, url, key])
    assert.deepEqual([code, err], [0, ''])
    assert.equal(out.trim().split('\n').length, 230)
    const refused = await run(command, [path, url, 'dossier_x'])
    assert.deepEqual([refused.code, refused.out, refused.err], [1, '', '403: Forbidden\n'])
    const unreachable = await run(command, [path, 'http://127.0.0.1:1', key])
    assert.equal(unreachable.code, 1)
    assert.match(unreachable.err, /^[^\n]+\n$/)
  })

  test(`the client's program in ${language} waits as Retry-After says`, { skip }, async (t) => {
    const times: number[] = []
    const server = createServer((_, response) => {
      times.push(performance.now())
      const isBusy = times.length === 1
      response.writeHead(isBusy ? 429 : 200, isBusy ? { 'retry-after': '1' } : {})
      response.end(isBusy ? '{"ok":false}' : '{"ok":true,"rights":[{"id":7,"name":"x"}]}')
    })
    const port = await openPort(t, server)
    const { code, out } = await run(command, [path, `http://127.0.0.1:${port}`, key])
    assert.deepEqual([code, out, times.length], [0, '7 x\n', 2])
    const [first = 0, second = 0] = times
    assert.ok(second - first >= 990, 'not before the second is over')
  })
}
