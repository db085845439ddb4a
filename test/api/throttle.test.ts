// C15: only clients that try invalid keys are slowed down.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { resolveSettings, settingsOf } from '../../src/config/resolve-settings.ts'
import { makeKey } from '../../src/auth/key.ts'
import { createThrottle, reservedLookUps } from '../../src/auth/throttle.ts'
import { createWindows } from '../../src/auth/windows.ts'
import { rights } from '../../src/resources/rights.ts'
import { bytesInUse } from '../support/bytes-in-use.ts'
import { checkFailure, checkPage, makeApp, type Question } from '../support/make-app.ts'
import { makeRights, makeRightsStore } from '../support/rights-store.ts'
import { askPort, runServer } from '../support/run-server.ts'
import { until } from '../support/until.ts'

const { all, records, path } = makeRights(3)
const expected = { resource: rights, all }
const badKeyRate = { quota: 10, seconds: 60 }
const unknown = () => `Bearer ${makeKey(randomBytes(32))}`

/** An application with a stopped clock. */
async function makeThrottled(t: Parameters<typeof makeApp>[0], trustedProxies?: string[]) {
  let time = 1_000_000
  const made = await makeApp(t, {
    records,
    badKeyRate,
    clock: () => time,
    ...(trustedProxies && { trustedProxies }),
  })
  /** Tries a key that nobody has, or another field; checks the status. */
  async function guess(status: 403 | 429, from: string, question: Question = {}) {
    const answer = await made.ask(path, { from, authorization: unknown(), ...question })
    checkFailure(answer, status, status === 403 ? 'Forbidden' : 'Too Many Requests')
    return answer.headers['retry-after']
  }
  return {
    ...made,
    pass: (ms: number) => (time += ms),
    guess,
    /** Makes as many failed attempts as allowed. */
    exhaust: async (from: string, headers: Readonly<Record<string, string>> = {}) => {
      for (let count = 0; count < badKeyRate.quota; count += 1) await guess(403, from, { headers })
    },
  }
}

test('an address with too many failures gets 429 with Retry-After until its block ends (C15)', async (t) => {
  const { guess, exhaust, pass } = await makeThrottled(t)
  const from = '192.0.2.1'
  await exhaust(from)
  pass(10_500)
  for (const authorization of [unknown(), 'Bearer x', 'Basic x', `${unknown()}x`]) {
    assert.equal(await guess(429, from, { authorization }), '50')
  }
  pass(49_499)
  assert.equal(await guess(429, from), '1')
  pass(1)
  await guess(403, from)
})

test('for a blocked address few keys are looked up, and none twice (C15)', async (t) => {
  const { guess, exhaust, callsOf, pass } = await makeThrottled(t)
  const from = '192.0.2.1'
  await exhaust(from)
  const before = callsOf('findKey')
  for (let count = 0; count < 20; count += 1) await guess(429, from)
  assert.equal(callsOf('findKey'), before + reservedLookUps)
  pass(1_000)
  const authorization = unknown()
  for (let count = 0; count < 20; count += 1) await guess(429, from, { authorization })
  assert.equal(callsOf('findKey'), before + reservedLookUps + 1)
  // A malformed key does not use up look-ups for well-formed ones.
  for (let n = 0; n < 20; n += 1) await guess(429, from, { authorization: `Bearer ${n}` })
  assert.equal(callsOf('findKey'), before + reservedLookUps + 1)
})

test('valid keys still work from other addresses, and from a blocked one if already known (C15)', async (t) => {
  const { ask, guess, exhaust, store, pass } = await makeThrottled(t)
  const from = '192.0.2.1'
  checkPage(await ask(path, { from }), expected)
  await exhaust(from)
  await guess(429, from)
  checkPage(await ask(path, { from }), expected)
  checkPage(await ask(path, { from: '192.0.2.2' }), expected)
  // A new key looks like a guess, unless it has been used from elsewhere.
  for (let count = 1; count < reservedLookUps; count += 1) await guess(429, from)
  const elsewhere = await store.issueKey({ name: 'elsewhere' })
  checkFailure(await ask(path, { from, key: elsewhere }), 429, /./)
  checkPage(await ask(path, { from: '192.0.2.2', key: elsewhere }), expected)
  checkPage(await ask(path, { from, key: elsewhere }), expected)
  // A new key gets its turn even while others at the address keep trying.
  pass(1_000)
  const here = await store.issueKey({ name: 'here' })
  await guess(429, from)
  checkPage(await ask(path, { from, key: here }), expected)
  for (let count = 0; count < 20; count += 1) await guess(429, from)
  checkPage(await ask(path, { from, key: here }), expected)
})

test('requests without a key are not counted as attempts (C15)', async (t) => {
  const { ask, exhaust } = await makeThrottled(t)
  const from = '192.0.2.1'
  await exhaust(from)
  for (let count = 0; count < 20; count += 1) {
    checkFailure(await ask(path, { from, authorization: null }), 403, 'Forbidden')
    assert.equal((await ask('/healthz', { from, authorization: unknown() })).status, 200)
  }
})

test('a key that is no longer valid counts as a failed attempt (C15)', async (t) => {
  const { ask, store } = await makeThrottled(t)
  const key = await store.issueKey({ name: 'old', expiresAt: Date.now() })
  const statuses: number[] = []
  for (let count = 0; count < 12; count += 1) {
    statuses.push((await ask(path, { from: '192.0.2.1', key })).status)
  }
  assert.deepEqual(statuses, [...new Array<number>(10).fill(403), 429, 429])
})

test('the addresses of one IPv6 network count as one, and IPv4 in IPv6 as itself (C15)', async (t) => {
  const { guess, exhaust } = await makeThrottled(t)
  for (const [from, same, other] of [
    ['192.0.2.1', ['::ffff:192.0.2.1'], '192.0.2.2'],
    ['2001:db8:0:1::1', ['2001:db8:0:1::2', '2001:0DB8::1:ffff:0:0:1'], '2001:db8:0:2::1'],
    ['2001:db8:1:2::', ['2001:db8:1:2:1:2:3:4'], '2001:db8:1::'],
    ['::1', ['::2', '0:0:0:0:1::'], '1::'],
    ['fe80::1%eth0', ['fe80::2%eth1'], 'fe81::1'],
    ['x'.repeat(9_999), ['y'], '192.0.2.3'],
  ] as const) {
    await exhaust(from)
    for (const one of same) await guess(429, one)
    await guess(403, other)
  }
})

test('X-Forwarded-For is ignored unless it comes from a trusted proxy (D17)', async (t) => {
  const spoofed = (n: number) => ({
    'x-forwarded-for': `198.51.100.${n}`,
    forwarded: `for=10.0.0.${n}`,
  })
  const plain = await makeThrottled(t)
  await plain.exhaust('192.0.2.1', spoofed(1))
  await plain.guess(429, '192.0.2.1', { headers: spoofed(2) })

  const { guess, exhaust } = await makeThrottled(t, ['10.0.0.0/8', '192.0.2.77'])
  await exhaust('10.1.2.3', spoofed(1))
  for (const from of ['10.1.2.3', '10.9.9.9', '192.0.2.77', '198.51.100.1']) {
    await guess(429, from, { headers: spoofed(1) })
  }
  await guess(403, '10.1.2.3', { headers: spoofed(2) })
  // The client's own entries are to the left of those that the proxy added.
  const headers = { 'x-forwarded-for': '1.1.1.1, 198.51.100.1, 10.0.0.5' }
  await guess(429, '10.1.2.3', { headers })
  await guess(403, '203.0.113.1', { headers })
})

test('any number of addresses is counted in bounded memory (E8)', (t) => {
  let time = 0
  const throttle = createThrottle({ quota: 1, seconds: 60 }, () => time)
  const before = bytesInUse()
  for (let n = 0; n < 400_000; n += 1) {
    const address = `${n >>> 24}.${(n >>> 16) & 255}.${(n >>> 8) & 255}.${n & 255}`
    // Keys and reserved look-ups have bounds of their own.
    const isKeyKept = n >= 250_000
    void throttle.fail(address, isKeyKept ? `a hash of 32 bytes, such as ${n}` : undefined)
    if (isKeyKept) void throttle.waitOf(address, 'new')
  }
  const mib = (bytesInUse() - before) / 1_048_576
  t.diagnostic(`${mib.toFixed(1)} MiB`)
  assert.ok(mib < 50, `${mib} MiB`)
  time += 1
  void throttle.fail('192.0.2.1')
  for (let n = 0; n < reservedLookUps; n += 1) void throttle.waitOf('192.0.2.1', `${n}`)
  assert.equal(throttle.waitOf('192.0.2.1', 'x'), 60, 'the newest ones count')
})

test('windows that have ended are evicted first (E8)', () => {
  const few = createWindows<number>(1_000)
  for (let n = 0; n < 500; n += 1) few.count(n, 10, 0)
  const long = few.count(1_000, 60_000, 0)
  for (let n = 2_000; n < 12_000; n += 1) few.count(n, 10, n)
  assert.ok(few.size < 1_000, `${few.size} windows`)
  assert.equal(few.find(1_000, 50_000), long, 'a window is kept until it ends')
})

test('--bad-key-rate and --trust-proxy accept the documented values', async (t) => {
  const read = (name: string, value: string) => settingsOf(resolveSettings({ [name]: value }, {}))
  for (const value of ['none', '1/1s', '100/60s', '1000/1d']) read('bad-key-rate', value)
  for (const value of ['', '0/60s', '100', '100/0s', '1.5/1s', '1/60', '1/99d', '1/1w', 'x']) {
    assert.throws(() => read('bad-key-rate', value), /must be none, or a count and a time such as/)
  }
  for (const value of ['none', '127.0.0.1', '10.0.0.0/8, ::1', '2001:db8::/32', '0.0.0.0/0']) {
    read('trust-proxy', value)
  }
  for (const value of ['', 'proxy', '10.0.0.0/33', '10.0.0/8', '::1/129', '10.0.0.0/8/8', '*']) {
    assert.throws(() => read('trust-proxy', value), /must be none, or addresses and networks/)
  }
  assert.throws(() => read('trust-proxy', 'fe80::1%br-0'), /must be none, or addresses/)
  // They are on in the real executable.
  const { store, key } = await makeRightsStore(t)
  const options = ['--bad-key-rate', '2/60s', '--trust-proxy', '::/0, 0.0.0.0/0']
  const { port } = await runServer(t, store.db, options)
  const wrong = makeKey(randomBytes(32))
  for (const [end, used, status] of [
    [1, wrong, 403],
    [1, wrong, 403],
    [1, wrong, 429],
    [2, key, 200],
  ] as const) {
    const fields = [`X-Forwarded-For: 192.0.2.${end}`]
    assert.equal((await askPort(port, path, { key: used, fields })).status, status)
  }
})

test('a flood of invalid keys blocks no valid key of its address in any worker (C15)', async (t) => {
  const { store, key } = await makeRightsStore(t)
  const fresh = await store.issueKey({ name: 'fresh' })
  const { port } = await runServer(t, store.db, ['--workers', '2', '--bad-key-rate', '20/60s'])
  // Each on its own connection, which the primary assigns to the workers in turn.
  const ask = async (used: string) => (await askPort(port, path, { key: used })).status
  const flood = async (count: number) => {
    const wrong = Array.from({ length: count }, () => makeKey(randomBytes(32)))
    const statuses = await Promise.all(wrong.map(ask))
    assert.ok(statuses.every((status) => status === 403 || status === 429))
    return statuses.filter((status) => status === 429).length
  }
  // Only one of the two workers knows it.
  assert.equal(await ask(key), 200)
  assert.ok((await flood(60)) > 0)
  const floods = Array.from({ length: 4 }, () => flood(30))
  for (let count = 0; count < 40; count += 1) assert.equal(await ask(key), 200)
  await Promise.all(floods)
  // A key that was never seen is eventually recognised too.
  await until(async () => (await ask(fresh)) === 200, 'it is recognised')
  await flood(30)
  for (let count = 0; count < 10; count += 1) assert.equal(await ask(fresh), 200)
})
