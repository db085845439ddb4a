// Several processes that form one server (`--workers`).

import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort, openPort } from '../support/free-port.ts'
import { type Load, startLoad } from '../support/load-client.ts'
import { readMetrics, sumOf } from '../support/read-metrics.ts'
import { runCommand } from '../support/run-command.ts'
import { checkExit, runDossier } from '../support/run-dossier.ts'
import { answerIn, openWire, requestTo, runServer, type Server } from '../support/run-server.ts'
import { makeRightsStore } from '../support/rights-store.ts'
import { until } from '../support/until.ts'
import { isRunning } from '../../src/files/unfinished.ts'

const { store, key, path, whole: body } = await makeRightsStore({ after })

const two = ['--workers', '2', '--metrics-port', '0']

function started(server: Server): number[] {
  return [...server.printed().matchAll(/"worker":(\d+),"msg":"a worker started"/g)].map(([, pid]) =>
    Number(pid),
  )
}

/** Kills a worker. The process id 0 would stand for this process's own group. */
function kill(worker: number | undefined): void {
  assert.ok(worker, 'it has started')
  process.kill(worker, 'SIGKILL')
}

/** Waits until this many requests have been answered; a failed one ends the test. */
async function untilAnswered(load: Load, count: number): Promise<void> {
  const isEnough = () => load.answered() >= count || load.failures.length > 0
  await until(isEnough, `${count} requests have been answered`)
  assert.deepEqual(load.failures, [])
}

test('--workers 2: both answer, metrics cover both, and one that is killed is replaced', async (t) => {
  const server = await runServer(t, store.db, two)
  const load = startLoad({ port: server.port, path, key, body, clients: 8 })
  await untilAnswered(load, 400)
  assert.deepEqual(await load.stop(), [])
  const figures = await readMetrics(server.metricsUrl())
  const counted = figures.get('dossier_requests_total{resource="rights",status="200"}')
  assert.equal(counted, load.answered(), 'none is counted twice or not at all')
  assert.equal(figures.get('dossier_workers'), 2)
  assert.equal(figures.get('dossier_worker_deaths_total'), 0)
  assert.equal(figures.get('dossier_registry_version'), 1, 'no sum of versions')
  assert.equal(figures.get('dossier_store_up'), 1)
  assert.equal(figures.get('dossier_request_duration_seconds_count{resource="rights"}'), counted)
  const told = () => server.printed().match(/"request_id"/g)?.length
  await until(() => told() === counted, 'each has a line')
  // A scrape is answered even if its client has closed its sending side after the request.
  const scrape = await openWire(Number(new URL(server.metricsUrl()).port))
  scrape.socket.end(requestTo('/metrics'))
  assert.equal(answerIn(await scrape.closed()).status, 200)

  const [victim = 0, survivor = 0] = started(server)
  kill(victim)
  await until(() => server.printed().includes('a worker died'), 'its death is noticed')
  // The other worker answers meanwhile.
  const during = startLoad({ port: server.port, path, key, body, clients: 8 })
  await untilAnswered(during, 100)
  assert.deepEqual(await during.stop(), [])
  await until(() => started(server).length === 3, 'another one has started')
  assert.ok(isRunning(survivor) && !isRunning(victim))
  const ready = async () => (await readMetrics(server.metricsUrl())).get('dossier_workers') === 2
  await until(ready, 'there are two again')
  const now = await readMetrics(server.metricsUrl())
  const answered = /^dossier_requests_total\{resource="rights",status="200"\}/
  assert.equal(sumOf(now, answered), load.answered() + during.answered(), 'the totals do not fall')
  assert.equal(now.get('dossier_worker_deaths_total'), 1)
  await server.end()
})

const hasNoLimits = spawnSync('prlimit', ['--version']).error !== undefined

test('a worker that the system cannot start is started later', { skip: hasNoLimits }, async (t) => {
  const server = await runServer(t, store.db, two)
  const { pid } = server
  const limitFiles = (max: number) =>
    execFileSync('prlimit', ['--pid', `${pid}`, `--nofile=${max}:`])
  const [victim] = started(server)
  limitFiles(readdirSync(`/proc/${pid}/fd`).length)
  kill(victim)
  const message = 'a worker could not be started'
  await until(() => server.printed().split(message).length > 2, 'it is tried again')
  limitFiles(1_024)
  await until(() => started(server).length === 3, 'another one has started')
  await server.end()
})

test('a worker does not die because its primary is busy when it listens', async (t) => {
  // With a listener of its own, it need not ask the primary for one.
  const port = String(await freePort())
  const server = await runServer(t, store.db, [...two, '--reuse-port', 'yes', '--port', port])
  kill(started(server)[0])
  await until(() => started(server).length === 3, 'another one has started')
  server.stop('SIGSTOP')
  await sleep(4_000)
  server.stop('SIGCONT')
  const { lines } = await server.end()
  assert.equal(lines.filter(({ msg }) => msg === 'a worker died').length, 1)
})

test('SIGTERM to two workers under load: no request fails, and no process remains (I1)', async (t) => {
  const server = await runServer(t, store.db, [...two, '--stop-seconds', '100'])
  const load = startLoad({ port: server.port, path, key, body, clients: 20, endsWhenClosed: true })
  await untilAnswered(load, 300)
  server.stop()
  await load.ended()
  assert.deepEqual(load.failures, [])
  assert.equal(load.closings(), 20)
  const { ms } = await server.ended(0)
  assert.ok(ms < 90_000, `${ms} ms`)
  assert.deepEqual(started(server).filter(isRunning), [])
})

test('a second signal, and the death of the primary, end the workers too (I2)', async (t) => {
  for (const end of ['second signal', 'SIGKILL'] as const) {
    const server = await runServer(t, store.db, two)
    if (end === 'SIGKILL') server.stop('SIGKILL')
    else {
      server.stop()
      await until(() => server.printed().includes('"stopping"'), 'it stops')
      server.stop()
    }
    await until(() => !started(server).some(isRunning), `the workers have gone, ${end}`)
  }
})

test('an unavailable store or port is reported once, with exit code 1 (I6)', async (t) => {
  const missing = ['serve', '--workers', '2', '--db', 'nowhere.db']
  const noStore = await runDossier(store.folder, missing)
  checkExit(noStore, 1, /^dossier: nowhere\.db does not exist;[^\n]*\n$/)
  assert.ok(!existsSync('nowhere.db'))

  const port = await openPort(t, createServer())
  const args = ['serve', '--workers', '2', '--db', store.db, '--port', String(port)]
  const taken = await runDossier(store.folder, args)
  checkExit(taken, 1, /^dossier: port \d+ of 127\.0\.0\.1 is in use; [^\n]*\n$/)

  for (const workers of ['0', 'many', '-1']) {
    const run = await runCommand(store.folder, ['serve', '--workers', workers])
    checkExit(run, 2, /--workers is ".*"; it must be an integer from 1 to 256, or auto/)
  }
})
