// Reliability rows E6 to E15 and I5 to I14: a server under load, and its operation.
//
// Rows without a test, since the design or the contract differs:
// F5 no checksum of the whole file: it changes in place. `verify` compares each record's digest.
// F7 no generations of files: one file in WAL mode, updated in transactions (G21 shows readers).
// F8 overwriting in place looks like a checkpoint; a replaced file is detected.
// F9 the log beside the file belongs to it (WAL), so a start does not refuse it but recovers it.
// F10 a server has to write to the folder (WAL); commands that only read do not: read-only.test.ts.
// F12 EIO or F13 truncation under a mapped page is a signal: the process dies and is replaced (by
//     workers or systemd). Mapped pages allow 6,000 random pages a second instead of 3,700.
// G5 G7 no rename publishes anything: a commit does. G4 shows its failures.
// G6 no power is cut here; G4 shows a commit whose sync failed, followed by a machine crash.
// G23 no generation is put back: a revert makes a new version (test/store/revert.test.ts).
// I7 a full disk and a stalled reader: log.test.ts.
// E15 is tested in a short form; `npm run soak` sends the million requests.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chownSync, readdirSync, readFileSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, test } from 'node:test'
import { makeApp } from '../support/make-app.ts'
import { processorMs } from '../support/processor-time.ts'
import { makeRights, makeRightsStore } from '../support/rights-store.ts'
import { residentMib, startDossier } from '../support/run-dossier.ts'
import { answersIn, askPort, exchange, requestTo, runServer } from '../support/run-server.ts'
import { aboveStores } from '../support/store-at.ts'

const above = { skip: aboveStores }
const { store, key, path } = await makeRightsStore({ after }, 1_000)
const largest = `${path}?limit=500`

const ask = (port: number, target = largest) => askPort(port, target, { key })

/** Sends this many requests, some at a time; returns the statuses. */
async function askOften(port: number, count: number): Promise<Set<number>> {
  const statuses = new Set<number>()
  let left = count
  const one = async () => {
    while (left-- > 0) statuses.add((await ask(port)).status)
  }
  await Promise.all(Array.from({ length: 20 }, one))
  return statuses
}

test('liveness is answered while 100 clients request the largest page, with little processor time, too (E6, E12, E14)', async (t) => {
  const { port, pid } = await runServer(t, store.db, ['--cache-mib', '0'])
  setPriority(pid, constants.priority.PRIORITY_LOW)
  const request = requestTo(largest, { key })
  const pages = Promise.all(Array.from({ length: 100 }, () => exchange(port, request)))
  assert.equal((await ask(port, '/healthz')).status, 200)
  // A connection on which nothing has moved for fifteen seconds is closed.
  for (const received of await pages) assert.match(received, /^(?:HTTP\/1\.1 (?:200|503) |$)/)
})

test('the last page of a long listing costs what the first one does (E7)', async (t) => {
  const long = await makeApp(t, { records: makeRights(20_000).records, cacheBytesMax: 0 })
  const costOf = (page: number) =>
    processorMs(async () => {
      for (let turn = 0; turn < 20; turn += 1) {
        assert.equal((await long.ask(`${largest}&page=${page}`)).status, 200)
      }
    })
  await costOf(2)
  const [first, last] = [await costOf(1), await costOf(40)]
  assert.ok(last < 3 * first + 20, `${last} ms after ${first} ms`)
})

test('with little memory the server serves or exits with an error (E13)', above, async (t) => {
  const env = { NODE_OPTIONS: '--max-old-space-size=48' }
  const server = await runServer(t, store.db, ['--cache-mib', '8'], { env })
  const statuses = await askOften(server.port, 300).catch(() => 'ended' as const)
  if (statuses !== 'ended') {
    assert.deepEqual([...statuses], [200])
    server.stop()
  }
  const { code } = await server.ended()
  assert.equal(code === 0, statuses !== 'ended')
})

const onLinux = { skip: process.platform === 'linux' ? false : 'needs /proc' }

test('memory and open files stay constant over many requests (E15)', onLinux, async (t) => {
  // So few that the first requests open all connections to the store.
  const { port, pid } = await runServer(t, store.db, ['--cache-mib', '4', '--pool', '3'])
  const files = () => readdirSync(`/proc/${pid}/fd`).length
  await askOften(port, 400)
  await sleep(300)
  const [memory, open] = [residentMib(pid), files()]
  assert.deepEqual([...(await askOften(port, 800))], [200])
  await sleep(300)
  assert.ok(residentMib(pid) < memory + 57, `${memory} MiB before, ${residentMib(pid)} after`)
  assert.ok(files() <= open, `${open} before, ${files()} after`)
})

test('after SIGKILL under load, the next start serves without recovery (I5)', async (t) => {
  const first = await runServer(t, store.db)
  const { body } = await ask(first.port)
  const load = askOften(first.port, 500).catch(() => undefined)
  await sleep(100)
  first.stop('SIGKILL')
  await load
  const second = await runServer(t, store.db)
  assert.equal((await ask(second.port, '/readyz')).status, 200)
  assert.equal((await ask(second.port)).body, body)
})

test('the server keeps serving when the log reader exits (I7)', above, async (t) => {
  const server = await runServer(t, store.db)
  server.stopReading()
  for (let turn = 0; turn < 3; turn += 1) {
    assert.deepEqual([...(await askOften(server.port, 100))], [200])
    // Long enough for buffered lines to be written.
    await sleep(300)
  }
})

test('each request is one line of JSON, whatever it contains (I8)', above, async (t) => {
  const server = await runServer(t, store.db)
  const odd = [
    'a\r',
    '\x1b[31mred',
    '\x85',
    '\u2028',
    '%0d%0a{"level":60}',
    '"\\',
    'x'.repeat(8_000),
  ]
  const starts = odd.flatMap((text) => [
    requestTo(`/${text}`),
    requestTo('/healthz', { fields: [`User-Agent: ${text}`] }),
  ])
  for (const text of starts) {
    const [answer] = answersIn(await exchange(server.port, Buffer.from(text)))
    assert.ok(answer !== undefined && answer.status < 500, text)
  }
  // Each line is parsed here.
  const { lines } = await server.end()
  assert.ok(lines.length >= starts.length)
  // Neither terminals nor readers with other line ends are misled.
  assert.doesNotMatch(server.printed().replaceAll('\n', ''), /[\p{Cc}\p{Zl}\p{Zp}]/u)
  assert.ok(lines.every(({ level }) => level !== 60))
})

test('an unexpected error is reported once and ends the server with 1 (I10)', above, async (t) => {
  const planted = `process.on('SIGUSR2', () => { throw new Error('planted') })`
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(planted)}`
  const server = await runServer(t, store.db, [], { env: { NODE_OPTIONS } })
  assert.equal((await ask(server.port)).status, 200)
  server.stop('SIGUSR2')
  const { code } = await server.ended().catch(() => ({ code: 1 }))
  assert.equal(code, 1)
  assert.equal(server.printed().match(/Error: planted/g)?.length, 1, server.printed())
  assert.match(server.printed(), /"status":200/, 'what was logged before is there')
})

test('the same bytes in any time zone and language (I14)', async (t) => {
  const answers = []
  for (const [TZ, LANG] of [
    ['UTC', 'C'],
    ['Asia/Kathmandu', 'tr_TR.UTF-8'],
  ] as const) {
    const { port } = await runServer(t, store.db, [], { env: { TZ, LANG, LC_ALL: LANG } })
    const { headers, body } = await ask(port)
    const { date, 'x-request-id': id, ...lasting } = headers
    assert.ok(date?.endsWith(' GMT') && id)
    answers.push({ lasting, body })
  }
  assert.deepEqual(answers[1], answers[0])
})

// Runs a command as user nobody on a file system that is writable only at its first argument.
const asNobody = ['unshare', '-m', 'sh', '-c']
const lockDown =
  'mount --bind "$0" "$0" && mount -o remount,bind,ro / && ' +
  'exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"'
const mayLockDown = spawnSync('unshare', ['-m', 'setpriv', '--reuid=65534', 'true']).status === 0
const asRoot = { skip: aboveStores || (!mayLockDown && 'only root can make such a place') }

test('the same bytes as user nobody on a read-only file system (I14)', asRoot, async (t) => {
  const { store: own, ...asked } = await makeRightsStore(t, 1_000)
  const usual = await runServer(t, own.db)
  const expected = await askPort(usual.port, largest, asked)
  for (const file of ['.', ...readdirSync(own.folder)])
    chownSync(join(own.folder, file), 65534, 65534)
  const via = [...asNobody, lockDown, own.folder]
  const args = ['serve', '--db', own.db, '--port', '0', '--log-format', 'json']
  const { child, said, until } = startDossier(t, own.folder, args, { via })
  await until(/"url":"http/)
  const port = Number(/"url":"http:\/\/[\d.]+:(\d+)"/.exec(said.out)?.[1])
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
  assert.match(status, /^Uid:\t65534\t65534/m)
  const answer = await askPort(port, largest, asked)
  assert.equal(answer.status, 200)
  assert.equal(answer.body, expected.body)
  assert.equal(answer.headers['etag'], expected.headers['etag'])
})
