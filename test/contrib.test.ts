// The files of contrib/ are valid, and proxies pass Dossier's answers on unchanged.
// Tests of programs that are not installed are reported as skipped.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { freePort } from './support/free-port.ts'
import { settings, variableOf } from '../src/config/settings.ts'
import { rights } from '../src/resources/rights.ts'
import { expectedBody, failureText } from './support/make-app.ts'
import { makeFolder } from './support/import-rows.ts'
import {
  answerIn,
  answersIn,
  askPort,
  exchange,
  requestTo,
  runServer,
  type WireAnswer,
} from './support/run-server.ts'
import { makeRightsStore } from './support/rights-store.ts'
import type { Scope } from './support/temp-store.ts'
import { until } from './support/until.ts'

const root = join(import.meta.dirname, '..')
const contrib = (name: string) => readFileSync(join(root, 'contrib', name), 'utf8')

/** Skips a test where a program is missing. */
function withPrograms(...programs: readonly string[]) {
  const missing = programs.find((program) => spawnSync(program, ['--version']).error !== undefined)
  return { skip: missing === undefined ? false : `${missing} is not installed here` }
}

const withSystemd = withPrograms('systemd-analyze')
const withNginx = withPrograms('nginx')

test('contrib names only existing variables and options', () => {
  const variables = Object.values(settings).map(variableOf)
  for (const file of globSync('contrib/*', { cwd: root })) {
    const text = readFileSync(join(root, file), 'utf8')
    for (const [variable] of text.matchAll(/\bDOSSIER_[A-Z_]+(?!NAME)\b/g)) {
      if (variable !== 'DOSSIER_NAME') assert.ok(variables.includes(variable), variable)
    }
  }
})

test('contrib/Dockerfile copies existing files that its ignore file includes', () => {
  const sources = [...contrib('Dockerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm)]
    .flatMap(([, paths = '']) => paths.split(' '))
    .filter((path) => path !== '')
  assert.ok(sources.length >= 6)
  const passes = contrib('Dockerfile.dockerignore').split('\n')
  for (const path of sources) {
    assert.equal(globSync(path, { cwd: root }).length, 1, path)
    assert.ok(passes.includes(`!${path}`), `${path} is in the ignore file`)
  }
  // Every other file that the sources read must be in the image.
  const read = globSync('src/**/*.ts', { cwd: root }).flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/'((?:\.\.\/){2,}[\w./-]+)/g)].map(
      ([, path = '']) => join(dirname(file), path),
    ),
  )
  for (const path of read) {
    assert.ok(path.startsWith('src/') || sources.includes(path), path)
  }
})

test('the units of contrib are valid, and the server is sandboxed as stated', withSystemd, (t) => {
  const folder = makeFolder(t)
  const units = globSync('contrib/*.{service,socket,timer}', { cwd: root }).map((file) => {
    const unit = join(folder, basename(file))
    writeFileSync(unit, contrib(basename(file)).replaceAll('/opt/dossier/current', root))
    return unit
  })
  assert.equal(units.length, 4)
  const verifyArgs = ['verify', '--man=no', ...units]
  const verify = spawnSync('systemd-analyze', verifyArgs, { encoding: 'utf8' })
  const about = verify.stderr.split('\n').filter((line) => line.includes('dossier'))
  assert.deepEqual(about, [])
  const server = join(folder, 'dossier.service')
  const args = ['security', '--offline=true', '--threshold=20', server]
  const security = spawnSync('systemd-analyze', args, { encoding: 'utf8' })
  assert.equal(security.status, 0, security.stdout + security.stderr)
  const [, exposure] = /exposure level for [^:]+: ([\d.]+)/.exec(security.stdout) ?? []
  t.diagnostic(`exposure level ${String(exposure)} of 10`)
})

test('contrib/nginx.conf is valid unchanged', withPrograms('nginx', 'openssl'), (t) => {
  const folder = makeFolder(t)
  const request =
    'req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=x -keyout key.pem -out cert.pem'
  const options = { cwd: folder, encoding: 'utf8' } as const
  const made = spawnSync('openssl', request.split(' '), options)
  assert.equal(made.status, 0, made.stderr)
  const site = contrib('nginx.conf')
    .replace('/etc/ssl/dossier/fullchain.pem', join(folder, 'cert.pem'))
    .replace('/etc/ssl/dossier/privkey.pem', join(folder, 'key.pem'))
  const checked = spawnSync('nginx', ['-t', '-c', nginxMain(folder, site)], { encoding: 'utf8' })
  assert.equal(checked.status, 0, checked.stderr)
  assert.doesNotMatch(checked.stderr, /\[(warn|emerg)\]/)
})

/** Writes an nginx.conf around a site; returns its path. */
function nginxMain(folder: string, site: string): string {
  writeFileSync(join(folder, 'site.conf'), site)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${folder}/${kind};`)
    .join(' ')
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  writeFileSync(
    join(folder, 'nginx.conf'),
    `${user} daemon off; pid ${folder}/pid; error_log ${folder}/error.log; worker_processes 1;
    events {} http { access_log off; ${temporary} include ${folder}/site.conf; }`,
  )
  return join(folder, 'nginx.conf')
}

/** Runs a program until the test ends, and waits until its port answers. */
async function runProxy(t: Scope, port: number, command: string, args: string[], home: string) {
  const env = { PATH: process.env['PATH'], HOME: home, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home }
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'], env })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
  t.after(async () => {
    child.kill('SIGTERM')
    if (child.exitCode === null) await once(child, 'exit')
  })
  const ask = () => fetch(`http://127.0.0.1:${port}/`).catch(() => undefined)
  await until(async () => {
    assert.equal(child.exitCode, null, said)
    return (await ask()) !== undefined
  }, `${command} answers`)
}

const { store, key, all, path, whole: page } = await makeRightsStore({ after })

/** The host name in the files of contrib/. */
const host = 'registry.example.com'

/** Sends a request with the key through the proxy on a port. */
const askAt = (port: number, target: string, request: Parameters<typeof askPort>[2] = {}) =>
  askPort(port, target, { host, key, ...request })
/** Of a request without. */
const keyless = { key: undefined }

function assertFailure(answer: WireAnswer, status: number): void {
  assert.equal(answer.status, status, answer.body)
  assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
  const { error } = JSON.parse(answer.body) as { error: { code: number; message: string } }
  assert.equal(answer.body, failureText(status, error.message))
}

/** Rules of the contract that a proxy could break. */
async function checkContract(port: number): Promise<void> {
  const whole = await askAt(port, path)
  assert.equal(whole.status, 200)
  assert.equal(whole.body, page)
  assert.equal(whole.headers['content-type'], 'application/json; charset=utf-8')
  assert.equal(whole.headers['x-content-type-options'], 'nosniff')
  assert.ok(whole.headers['data-version'] && whole.headers['last-modified'])

  const second = await askAt(port, `${path}?page=2&limit=5`)
  assert.equal(second.body, expectedBody({ resource: rights, all, page: 2, limit: 5 }))
  const link = second.headers['link'] ?? ''
  assert.match(link, /<\/api\/v1\/companies\/1\/rights\?page=3&limit=5&version=\d+>/)
  const filter = `jurisdiction=GB&jurisdiction=${'9'.repeat(1_900)}`
  const long = await askAt(port, `${path}?limit=5&page=2&${filter}`)
  assert.equal(long.status, 200, long.body)
  assert.ok((long.headers['link'] ?? '').length > 7_500, 'as long as links may be')
  const asked = await askAt(port, path, { json: '{"page":2,"limit":5}' })
  assert.equal(asked.body, second.body, 'the body of a GET')

  const tag = whole.headers['etag'] ?? assert.fail('no tag')
  const unchanged = await askAt(port, path, { fields: [`If-None-Match: ${tag}`] })
  assert.equal(unchanged.status, 304)
  const head = await askAt(port, path, { method: 'HEAD' })
  assert.deepEqual([head.status, head.body, head.headers['etag']], [200, '', tag])

  const fields = ['Accept-Encoding: gzip', 'X-Request-Id: mine-1']
  const zipped = await askAt(port, path, { fields })
  assert.equal(zipped.headers['content-encoding'], 'gzip')
  assert.equal(zipped.headers['x-request-id'], 'mine-1')
  const bytes = Buffer.from(zipped.body, 'latin1')
  assert.equal(gunzipSync(bytes).toString(), whole.body, 'coded once')

  assertFailure(await askAt(port, path, keyless), 403)
  assertFailure(await askAt(port, '/nothing'), 404)
  assertFailure(await askAt(port, `${path}?limit=0`), 400)
  assertFailure(await askAt(port, `${path}?lmit=1`), 400)
  assertFailure(await askAt(port, path, { method: 'POST', fields: ['Content-Length: 0'] }), 405)
  const refused = await askAt(port, path, { json: ' '.repeat(20_000) })
  // Caddy may still be sending when Dossier has refused and closed; then Caddy answers 503.
  assertFailure(refused, refused.status === 503 ? 503 : 413)
}

test('contrib/nginx.conf: the contract holds through nginx', withNginx, async (t) => {
  const server = await runServer(t, store.db)
  const [port, other] = [await freePort(), await freePort()]
  const folder = makeFolder(t)
  const site = contrib('nginx.conf')
    .replace('127.0.0.1:8080', `127.0.0.1:${server.port}`)
    .replace(/listen 80\b/g, `listen 127.0.0.1:${other}`)
    .replace(/listen 443 ssl http2\b/g, `listen 127.0.0.1:${port}`)
    .replace(/^\s*ssl_.*$/gm, '')
  await runProxy(t, port, 'nginx', ['-c', nginxMain(folder, site)], folder)
  await checkContract(port)
  assertFailure(await askAt(port, `/${'x'.repeat(17_000)}`), 414)
  assertFailure(await askAt(port, path, { fields: [`X: ${'x'.repeat(17_000)}`] }), 431)
  const [broken] = answersIn(await exchange(port, 'GET / HTTP/1.1\r\n\r\n'))
  assertFailure(broken ?? assert.fail(), 400)
  assertFailure(await askAt(port, '/.failure/503'), 404)
  const moved = await askAt(other, path, keyless)
  assert.equal(moved.headers['location'], `https://${host}${path}`)
  const foreign = requestTo(path, { host: 'evil.example' })
  assert.equal(await exchange(other, foreign), '', 'no redirect to whatever host is named')
  assertFailure(answerIn(await exchange(port, foreign)), 421)
  for (const url of [path, '/nothing', '/docs', '/.failure/503']) {
    const { headers } = await askAt(port, url)
    assert.equal(headers['strict-transport-security'], 'max-age=31536000', url)
  }
  assert.equal((await askAt(port, '/readyz', keyless)).status, 200)

  await server.end()
  const gone = await askAt(port, path)
  assertFailure(gone, 503)
  assert.equal(gone.headers['retry-after'], '5')
  assert.equal(gone.headers['strict-transport-security'], 'max-age=31536000')
  assert.equal(gone.headers['x-content-type-options'], 'nosniff')
})

test('contrib/Caddyfile: the contract holds through Caddy', withPrograms('caddy'), async (t) => {
  const server = await runServer(t, store.db)
  const port = await freePort()
  const folder = makeFolder(t)
  mkdirSync(join(folder, 'caddy'))
  const args = ['adapt', '--config', join(root, 'contrib/Caddyfile'), '--adapter', 'caddyfile']
  const env = {
    ...process.env,
    DOMAIN: `http://:${port}`,
    UPSTREAM: `127.0.0.1:${server.port}`,
  }
  const adapted = spawnSync('caddy', args, { env, encoding: 'utf8' })
  assert.equal(adapted.status, 0, adapted.stderr)
  const config = JSON.parse(adapted.stdout) as Record<string, unknown>
  const file = join(folder, 'caddy.json')
  writeFileSync(file, JSON.stringify({ ...config, admin: { disabled: true } }))
  await runProxy(t, port, 'caddy', ['run', '--config', file], folder)
  await checkContract(port)

  await server.end()
  const gone = await askAt(port, path)
  assertFailure(gone, 503)
  assert.equal(gone.headers['retry-after'], '5')
})
