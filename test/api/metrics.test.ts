// The metrics of the server for Prometheus (reliability rows I12, I13, C13).

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { rights } from '../../src/resources/rights.ts'
import { makeRecords } from '../support/make-record.ts'
import { parseMetrics, readMetrics, type Samples } from '../support/read-metrics.ts'
import { makeRightsStore } from '../support/rights-store.ts'
import { mustRun } from '../support/run-command.ts'
import { checkExit, runDossier } from '../support/run-dossier.ts'
import { answersIn, askPort, exchange, runServer, type Server } from '../support/run-server.ts'

const companyId = 4_711_000_123
const { store, path } = await makeRightsStore({ after }, 12, companyId)
const key = await store.issueKey({ name: 'canary-client' })

async function ask({ port }: Server, target: string, ...fields: string[]): Promise<number> {
  return (await askPort(port, target, { fields })).body.length
}

test('requests, times, bytes, cache, refused keys and the registry, also after an import, are counted', async (t) => {
  const server = await runServer(t, store.db, ['--metrics-port', '0'])
  const auth = `Authorization: Bearer ${key}`
  const startedAt = performance.now()
  const bytes =
    (await ask(server, path, auth)) +
    (await ask(server, path, auth)) +
    (await ask(server, `${path}?limit=5`, auth)) +
    (await ask(server, `${path}?limit=0`, auth)) +
    (await ask(server, path))
  await ask(server, path, auth, 'If-None-Match: *')
  await ask(server, '/healthz')
  await ask(server, '/nowhere')
  await ask(server, '/%zz')
  await exchange(server.port, 'NONSENSE\r\n\r\n')
  const samples = await readMetrics(server.metricsUrl())
  const values = {
    'dossier_requests_total{resource="rights",status="200"}': 3,
    'dossier_requests_total{resource="rights",status="304"}': 1,
    'dossier_requests_total{resource="rights",status="400"}': 1,
    'dossier_requests_total{resource="rights",status="403"}': 1,
    'dossier_requests_total{resource="none",status="200"}': 1,
    'dossier_requests_total{resource="none",status="404"}': 1,
    'dossier_requests_total{resource="none",status="400"}': 1,
    'dossier_response_bytes_total{resource="rights"}': bytes,
    'dossier_response_bytes_total{resource="jobs"}': 0,
    'dossier_request_duration_seconds_count{resource="rights"}': 6,
    'dossier_request_duration_seconds_bucket{resource="rights",le="+Inf"}': 6,
    dossier_page_cache_hits_total: 1,
    dossier_page_cache_misses_total: 2,
    dossier_keys_refused_total: 1,
    dossier_broken_requests_total: 1,
    'dossier_store_duration_seconds_count{operation="page"}': 2,
    'dossier_store_duration_seconds_count{operation="head"}': 2,
    dossier_registry_version: 1,
    dossier_store_up: 1,
  }
  for (const [name, value] of Object.entries(values)) assert.equal(samples.get(name), value, name)
  const lastImport = samples.get('dossier_last_import_timestamp_seconds{source="test"}') ?? 0
  assert.ok(Math.abs(Date.now() / 1_000 - lastImport) < 600, String(lastImport))
  const seconds = samples.get('dossier_request_duration_seconds_sum{resource="rights"}') ?? 0
  const passed = (performance.now() - startedAt) / 1_000
  assert.ok(seconds > 0 && seconds < passed, `${seconds} of ${passed} s`)
  const buckets = [...samples]
    .filter(([name]) =>
      name.startsWith('dossier_request_duration_seconds_bucket{resource="rights"'),
    )
    .map(([, count]) => count)
  assert.deepEqual(
    buckets,
    buckets.toSorted((a, b) => a - b),
    'buckets are cumulative',
  )
  for (const name of ['nodejs_eventloop_lag_p99_seconds', 'process_resident_memory_bytes']) {
    assert.ok((samples.get(name) ?? 0) > 0, name)
  }
  await store.load([{ resource: rights, company: companyId, records: makeRecords(rights, 2) }])
  const since = await readMetrics(server.metricsUrl())
  assert.equal(since.get('dossier_registry_version'), 2)
  const age = 'dossier_last_import_timestamp_seconds{source="test"}'
  assert.ok((since.get(age) ?? 0) > lastImport)
  // A source that is gone is not late; a revert is a version, too.
  const run = (words: string) => mustRun(import.meta.dirname, `${words} --db ${store.db}`)
  await run('sources remove test --yes')
  const removed = await readMetrics(server.metricsUrl())
  assert.deepEqual([removed.get(age), removed.get('dossier_registry_version')], [undefined, 3])
  await run('revert 3')
  const back = await readMetrics(server.metricsUrl())
  assert.deepEqual([back.get(age), back.get('dossier_registry_version')], [since.get(age), 4])
})

test('no metric contains a key, key name, company or address (C13, I12); the dashboard asks for existing ones', async (t) => {
  const server = await runServer(t, store.db, ['--metrics-port', '0'])
  const url = server.metricsUrl()
  const before = ownNames(await readMetrics(url)).length
  const auth = `Authorization: Bearer ${key}`
  await ask(server, path, auth, `User-Agent: ${key}`)
  await ask(server, `${path}?key=${key}`)
  await ask(server, `/${key}`)
  await ask(server, `/api/v1/companies/${companyId}/${key}`, auth)
  for (let n = 0; n < 50; n += 1) await ask(server, `/unknown/${n}?page=${n}`)
  const text = await (await fetch(url)).text()
  for (const secret of [key.slice(8, 24), 'canary-client', String(companyId), '127.0.0.1']) {
    assert.ok(!text.includes(secret), secret)
  }
  // One series for each status of a listing, not for each path.
  const samples = parseMetrics(text)
  assert.ok(ownNames(samples).length <= before + 8)
  for (const name of namesOfDashboard()) {
    const isKnown = (sample: string) => sample === name || sample.startsWith(`${name}{`)
    assert.ok([...samples.keys()].some(isKnown), `${name}, in docs/grafana-dashboard.json`)
  }
})

/** The metrics that docs/grafana-dashboard.json asks for. */
function namesOfDashboard(): string[] {
  const file = join(import.meta.dirname, '../../docs/grafana-dashboard.json')
  const expressions = readFileSync(file, 'utf8').match(/"expr": "(?:[^"\\]|\\.)*"/g) ?? []
  assert.ok(expressions.length >= 12)
  return expressions.flatMap((text) => text.match(/\b(?:dossier|nodejs|process)_\w+/g) ?? [])
}

/** The names of our own metrics; those of the runtime grow with each kind of collection. */
function ownNames(samples: Samples): string[] {
  return [...samples.keys()].filter((name) => name.startsWith('dossier_'))
}

test('metrics are off by default, and on loopback if they are on (I13)', async (t) => {
  const server = await runServer(t, store.db, ['--host', '0.0.0.0', '--metrics-port', '0'])
  const url = new URL(server.metricsUrl())
  assert.equal(url.hostname, '127.0.0.1')
  assert.equal((await askPort(server.port, '/metrics')).status, 404)
  for (const [method, target, status] of [
    ['GET', '/', 404],
    ['GET', path, 404],
    ['POST', '/metrics', 405],
  ] as const) {
    const answer = await fetch(new URL(target, url), { method })
    assert.equal(answer.status, status)
    const { ok, error } = (await answer.json()) as { ok: boolean; error: { code: number } }
    assert.deepEqual([ok, error.code], [false, status])
  }
  const [broken] = answersIn(await exchange(Number(url.port), 'NONSENSE\r\n\r\n'))
  assert.equal(broken?.status, 400)
  assert.match(broken.body, /^\{"ok":false,/)
  const outside = Object.values(networkInterfaces())
    .flat()
    .find((face) => face?.family === 'IPv4' && !face.internal)?.address
  if (outside !== undefined) {
    await assert.rejects(fetch(`http://${outside}:${url.port}/metrics`), 'not from outside')
  }

  const silent = await runServer(t, store.db)
  assert.doesNotMatch(silent.printed(), /metrics_url/)
  for (const workers of ['1', '2']) {
    const taken = await runDossier(store.folder, [
      ...['serve', '--db', store.db, '--port', '0', '--metrics-port', url.port],
      ...['--workers', workers],
    ])
    checkExit(taken, 1, /^dossier: port \d+ of 127\.0\.0\.1 is in use;.*--metrics-port\n$/)
  }
})
