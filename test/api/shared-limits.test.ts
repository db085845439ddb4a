// Several servers that share rates through a real Redis, and their behaviour without it.

import assert from 'node:assert/strict'
import { connect, createServer, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openPort } from '../support/free-port.ts'
import { makeRightsStore } from '../support/rights-store.ts'
import { checkExit, runDossier } from '../support/run-dossier.ts'
import { noRedis, runRedis } from '../support/run-redis.ts'
import { askPort, runServer, type Server } from '../support/run-server.ts'
import { until } from '../support/until.ts'

const withRedis = { skip: noRedis }
const away = 'Redis is unreachable; this server counts rates on its own'
const back = 'Redis is reachable; rates are shared'

/** Servers on one store that share a Redis, and a way to send requests to each. */
async function serve(t: TestContext, redisUrl: string, count: number) {
  const { store, path } = await makeRightsStore(t, 3)
  const options = ['--redis-url', redisUrl]
  const servers = await Promise.all(
    Array.from({ length: count }, () => runServer(t, store.db, options)),
  )
  const [server = assert.fail()] = servers
  const ask = ({ port }: Server, key: string) => askPort(port, path, { key })
  return { store, servers, server, ask }
}

/** The number of times a server has logged a message. */
function timesLogged(server: Server, message: string): number {
  return server.printed().split(message).length - 1
}

/**
 * The result of `askAll` in a round in which Redis answered every server in time. On a very busy
 * machine a server stops waiting for Redis, logs that, and counts locally for a while.
 */
async function askInTime<T>(servers: readonly Server[], askAll: (round: number) => Promise<T>) {
  const timesAway = () => servers.reduce((sum, server) => sum + timesLogged(server, away), 0)
  for (let round = 0; ; round += 1) {
    const before = timesAway()
    const answers = await askAll(round)
    // Long enough for buffered log lines to be written.
    await sleep(300)
    if (timesAway() === before) return answers
    assert.ok(round < 5, 'Redis answers in time')
    await sleep(1_500)
  }
}

test('three servers together allow a key exactly its rate (E10)', withRedis, async (t) => {
  const redis = await runRedis(t)
  const { store, servers, server, ask } = await serve(t, redis.url, 3)
  const answers = await askInTime(servers, async (round) => {
    const key = await store.issueKey({ name: `small ${round}`, rate: '50/1h' })
    // One request at a time for each server, so that none queues for Redis.
    const asked = servers.map(async (one) => {
      const own = []
      for (let turn = 0; turn < 30; turn += 1) own.push(await ask(one, key))
      return own
    })
    return (await Promise.all(asked)).flat()
  })
  const within = answers.filter(({ status }) => status === 200)
  assert.equal(within.length, 50)
  assert.equal(answers.filter(({ status }) => status === 429).length, 40)
  const left = within.map(({ headers }) => Number(/r=(\d+);/.exec(headers['ratelimit'] ?? '')?.[1]))
  const sorted = left.sort((a, b) => a - b)
  const expected = Array.from({ length: 50 }, (_, index) => index)
  assert.deepEqual(sorted, expected)
  for (const { headers } of answers) {
    assert.equal(headers['ratelimit-policy'], '"default";q=50;w=3600')
    const reset = Number(/t=(\d+)$/.exec(headers['ratelimit'] ?? '')?.[1])
    assert.ok(reset > 3_500 && reset <= 3_600)
  }
  const other = await store.issueKey({ name: 'other', rate: '50/1h' })
  assert.equal((await ask(server, other)).status, 200)
})

test('a shared window ends (E9)', withRedis, async (t) => {
  const redis = await runRedis(t)
  const { store, server, ask } = await serve(t, redis.url, 1)
  const key = await store.issueKey({ name: 'small', rate: '2/1s' })
  const statuses: number[] = []
  for (let turn = 0; turn < 3; turn += 1) statuses.push((await ask(server, key)).status)
  // On a slow machine the window may end; then the third request starts the next one.
  assert.deepEqual(statuses.slice(0, 2), [200, 200])
  await until(async () => (await ask(server, key)).status === 429)
  await sleep(1_100)
  assert.equal((await ask(server, key)).status, 200)
})

test('while Redis is down, the server warns once and counts locally', withRedis, async (t) => {
  const redis = await runRedis(t)
  const { store, servers, server: one, ask } = await serve(t, redis.url, 2)
  const [, two = assert.fail()] = servers
  const key = await store.issueKey({ name: 'small', rate: '2/1h' })
  assert.deepEqual([(await ask(one, key)).status, (await ask(two, key)).status], [200, 200])
  assert.equal((await ask(one, key)).status, 429)

  await redis.kill()
  const statuses: number[] = []
  for (const server of [one, one, one, two, two, two])
    statuses.push((await ask(server, key)).status)
  assert.deepEqual(statuses, [200, 200, 429, 200, 200, 429])
  for (const server of servers) await until(() => timesLogged(server, away) === 1)

  await redis.restart()
  for (const server of servers) {
    await until(async () => (await ask(server, key), timesLogged(server, back) === 1))
  }
  // The counter begins anew: two requests to one of them are all that both answer.
  for (let turn = 0; turn < 2; turn += 1) await ask(one, key)
  for (const server of servers) assert.equal((await ask(server, key)).status, 429)
})

test('a hanging Redis delays one request briefly, later ones not', withRedis, async (t) => {
  const redis = await runRedis(t)
  const { store, server, ask } = await serve(t, redis.url, 1)
  const key = await store.issueKey({ name: 'small', rate: '100/1h' })
  assert.equal((await ask(server, key)).status, 200)
  redis.freeze()
  t.after(() => redis.thaw())
  const start = performance.now()
  for (let turn = 0; turn < 5; turn += 1) assert.equal((await ask(server, key)).status, 200)
  assert.ok(performance.now() - start < 3_000)
  await until(() => timesLogged(server, away) === 1)
  redis.thaw()
  await until(async () => (await ask(server, key), timesLogged(server, back) === 1))
  assert.equal(timesLogged(server, away), 1)
})

test('a connection to Redis that has died without a sign is replaced', withRedis, async (t) => {
  const redis = await runRedis(t)
  const open: Socket[] = []
  const path = createServer((client) => {
    const server = connect(Number(new URL(redis.url).port), '127.0.0.1')
    for (const socket of [client, server]) open.push(socket.on('error', () => undefined))
    client.pipe(server).pipe(client)
  })
  const port = await openPort(t, path)
  t.after(() => open.forEach((socket) => socket.destroy()))
  const { store, server, ask } = await serve(t, `redis://127.0.0.1:${port}`, 1)
  const key = await store.issueKey({ name: 'small', rate: '100/1h' })
  assert.equal((await ask(server, key)).status, 200)
  for (const socket of open.splice(0)) socket.unpipe().pause()
  assert.equal((await ask(server, key)).status, 200)
  await until(async () => (await ask(server, key), timesLogged(server, back) === 1))
  assert.equal(timesLogged(server, away), 1)
})

test('an unfinished connection to Redis does not delay a stop (I1)', async (t) => {
  // TLS that is never answered.
  const port = await openPort(t, createServer())
  const { server } = await serve(t, `rediss://127.0.0.1:${port}`, 1)
  const { ms } = await server.end()
  assert.ok(ms < 2_000, `${ms} ms`)
})

test('without Redis the server starts, counts locally and stops', async (t) => {
  const { store, server, ask } = await serve(t, 'redis://user:hunter2@127.0.0.1:1', 1)
  const key = await store.issueKey({ name: 'small', rate: '1/1h' })
  assert.deepEqual([(await ask(server, key)).status, (await ask(server, key)).status], [200, 429])
  await server.end()
  assert.equal(timesLogged(server, away), 1)
  assert.doesNotMatch(server.printed(), /hunter2/)

  // A server that cannot start ends, although it would connect again and again.
  const args = ['serve', '--db', store.db, '--port', '0', '--redis-url', 'redis://127.0.0.1:1']
  const run = await runDossier(store.folder, [...args, '--host', '192.0.2.1'])
  checkExit(run, 1, /^dossier: [^\n]*192\.0\.2\.1/)
})
