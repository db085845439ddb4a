// The log of a server has a bounded cost, whatever its reader and its requests do.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { closeSync, constants, existsSync, openSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { after, test, type TestContext } from 'node:test'
import { pieceOfPipe, pipePieceBytes } from '../../src/server/line-writer.ts'
import { lineBytesMax, shortLine } from '../../src/server/log.ts'
import { keylessLinesMax } from '../../src/http/request-log.ts'
import { freePort } from '../support/free-port.ts'
import { readMetrics, sumOf } from '../support/read-metrics.ts'
import { peakMemoryMb, redirected, startDossier } from '../support/run-dossier.ts'
import {
  askPort,
  exchange,
  type LogLine,
  openWire,
  requestTo,
  runServer,
  statusesIn,
  untilReady,
} from '../support/run-server.ts'
import { storeAt } from '../support/store-at.ts'
import { makeRightsStore } from '../support/rights-store.ts'
import { until } from '../support/until.ts'

const { store, key } = await makeRightsStore({ after })

/** An unknown path with a line of two kilobytes. */
const longPath = `/api/v1/${'"'.repeat(2_000)}`
const dropped = /^dossier_log_lines_dropped_total/

/** Starts a server with a shell redirection of its standard output. */
async function startWith(
  t: TestContext,
  redirection: string,
  options: readonly string[] = [],
  format = 'json',
) {
  const port = await freePort()
  const db = ['serve', '--db', storeAt(store.db), '--port', String(port)]
  const args = [...db, '--log-format', format, '--usage-db', 'none', ...options]
  return { port, ...startDossier(t, store.folder, args, { via: redirected(redirection) }) }
}

/** Requests this many missing pages, eight on a connection; all must be answered. */
async function askMany(port: number, count: number): Promise<void> {
  let left = count
  const runClient = async () => {
    while (left > 0) {
      const some = Math.min(8, left)
      left -= some
      const asked = requestTo(longPath, { key, isLast: false }).repeat(some - 1)
      const received = await exchange(port, asked + requestTo(longPath, { key }))
      assert.deepEqual(statusesIn(received), new Array<number>(some).fill(404))
    }
  }
  await Promise.all(Array.from({ length: 16 }, runClient))
}

/** A pipe, and the text read from it. */
function makePipe(t: TestContext, name: string) {
  const path = join(store.folder, name)
  assert.equal(spawnSync('mkfifo', [path]).status, 0)
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  t.after(() => closeSync(reader))
  const bytes = Buffer.alloc(65_536)
  let text = ''
  return {
    path,
    read() {
      for (;;) {
        try {
          const count = readSync(reader, bytes)
          if (count === 0) return text
          text += bytes.toString('latin1', 0, count)
        } catch {
          return text
        }
      }
    },
  }
}

function linesIn(text: string): LogLine[] {
  const lines = text.split('\n')
  assert.equal(lines.pop(), '', 'the last line is whole')
  for (const line of lines) assert.ok(line.length < lineBytesMax, `${line.length} bytes`)
  return lines.map((line) => JSON.parse(line) as LogLine)
}

test('with an unread log, requests and SIGTERM are handled and dropped lines counted', async (t) => {
  const pipe = makePipe(t, 'stalled')
  const options = ['--workers', '2', '--metrics-port', '0']
  const { port, child, ended } = await startWith(t, `> '${pipe.path}'`, options)
  await untilReady(port)
  const url = () => /"metrics_url":"([^"]+)"/.exec(pipe.read())?.[1] ?? ''
  await until(() => url() !== '', 'it says where its metrics are')

  // One and a half times what the pipe and the backlogs of two workers hold.
  const count = 1_500
  await askMany(port, count)
  await until(async () => sumOf(await readMetrics(url()), dropped) > 100, 'lines are missing')

  // The pipe flows again: buffered lines arrive, then the count of dropped ones.
  let lines: LogLine[] = []
  const written = () => lines.filter(({ status }) => status === 404).length
  const missing = () => lines.reduce((sum, line) => sum + Number(line['dropped'] ?? 0), 0)
  await until(() => {
    const text = pipe.read()
    lines = linesIn(text.slice(0, text.lastIndexOf('\n') + 1))
    return written() + missing() === count
  }, 'each request has its line, or is counted')
  assert.equal(sumOf(await readMetrics(url()), dropped), missing())
  assert.ok(lines.filter((line) => 'dropped' in line).length <= 2, 'one line for each gap')

  // The pipe stalls again, and the server is stopped.
  await askMany(port, 200)
  assert.equal((await askPort(port, '/healthz')).status, 200)
  child.kill('SIGTERM')
  assert.equal((await ended).code, 0)
})

test('with a full disk, the server serves, stays small and stops at SIGTERM', async (t) => {
  if (!existsSync('/dev/full')) return t.skip('there is no /dev/full')
  const { port, child, ended } = await startWith(t, '> /dev/full')
  await untilReady(port)
  await askMany(port, 600)
  const before = peakMemoryMb(child.pid)
  await askMany(port, 900)
  const grownMb = peakMemoryMb(child.pid) - before
  assert.ok(grownMb < 30, `${grownMb} MB`)
  child.kill('SIGTERM')
  assert.equal((await ended).code, 0)
})

test('unread standard error blocks nothing', async (t) => {
  const pipe = makePipe(t, 'errors')
  // More than a pipe holds, in one write.
  const warn = `for (let i = 0; i < 100; i += 1) process.emitWarning('x'.repeat(3_000))`
  const planted = `process.on('SIGUSR2', () => { ${warn} })`
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(planted)}`
  const server = await runServer(t, store.db, [], { env: { NODE_OPTIONS }, stderrTo: pipe.path })
  process.kill(server.pid, 'SIGUSR2')
  await until(() => server.printed().length > 200_000, 'it has warned often')
  await askMany(server.port, 100)
  const { lines } = await server.end()
  assert.equal(pipe.read(), '', 'warnings are lines of the log')
  assert.ok(lines.some(({ msg, level }) => msg === 'warning' && level === 40))
})

for (const format of ['json', 'text']) {
  test(`a log in a file loses no line at a stop, as ${format}`, async (t) => {
    const file = join(store.folder, `log.${format}`)
    const to = `>> '${file}'`
    const { port, child, ended } = await startWith(t, to, [], format)
    await untilReady(port)
    await askMany(port, 50)
    child.kill('SIGTERM')
    assert.equal((await ended).code, 0)
    const text = readFileSync(file, 'utf8')
    assert.equal(text.match(/\bstatus"?: ?404\b/g)?.length, 50)
    assert.match(text, /\bstopped\b[^\n]*\n$/)
    // So pieces for a pipe find where an entry ends.
    assert.doesNotMatch(text, format === 'json' ? /^[^{]/m : /^[^[ ]/m)
  })
}

test('what is written to a pipe at once is whole entries, in the readable form, too', () => {
  const further = '    status: 404\n'
  const entries = Array.from({ length: 99 }, (_, n) => `[12:00] INFO: ${n}\n${further.repeat(n)}`)
  for (const all of [entries, [`[12:00] INFO: long\n${further.repeat(300)}`, ...entries]]) {
    const found: string[] = []
    for (let rest = Buffer.from(all.join('')); rest.length > 0;) {
      const piece = pieceOfPipe(rest)
      const own = piece.toString().split(/(?<=\n)(?! )/)
      assert.ok(piece.length <= pipePieceBytes || own.length === 1, `${piece.length} bytes`)
      found.push(...own)
      rest = rest.subarray(piece.length)
    }
    assert.deepEqual(found, all)
  }
})

test('requests without a key get 100 lines a second of up to 4 KiB; the rest are counted', async (t) => {
  const server = await runServer(t, store.db, ['--metrics-port', '0', '--exports', 'nowhere'])
  const startedAt = performance.now()
  const asked = requestTo(`/${'"'.repeat(15_000)}`, { isLast: false })
  const count = 640
  await Promise.all(
    Array.from({ length: count / 8 }, async () => {
      const wire = await openWire(server.port)
      for (let turn = 0; turn < 8; turn += 1) wire.send(asked)
      await wire.until(/(HTTP[^]*){8}/)
      wire.socket.destroy()
    }),
  )
  const seconds = (performance.now() - startedAt) / 1_000
  const missing = sumOf(await readMetrics(server.metricsUrl()), dropped)
  await server.end()
  const lines = linesIn(server.printed())
  const written = lines.filter(({ status }) => status === 404 || status === 400).length
  assert.ok(written <= keylessLinesMax * (Math.ceil(seconds) + 1), `${written} in ${seconds} s`)
  assert.equal(written + missing, count)
  // On a busy machine, this process may read too slowly for what it has asked for.
  const told = lines.reduce((sum, { suppressed, dropped: lost }) => {
    return sum + Number(suppressed ?? lost ?? 0)
  }, 0)
  assert.equal(told, missing)
  // A folder of copies that does not exist is warned of at the start.
  const [warning] = lines.filter(({ exports: folder }) => folder === 'nowhere')
  assert.equal(warning?.['level'], 40)
  assert.match(String(warning['msg']), /--exports does not exist: .* dossier export makes it$/)
})

test('a line that is too long is shortened and stays valid JSON', () => {
  const long = (text: string) => ({ type: 'Error', message: text, stack: text })
  for (const text of [
    'x'.repeat(9_000),
    '"'.repeat(9_000),
    '€'.repeat(3_000),
    '😀'.repeat(2_500),
  ]) {
    for (const fields of [
      { level: 50, time: 1, request_id: 'a', err: long(text), msg: text },
      { level: 50, time: 1, msg: 'many', list: new Array<string>(999).fill(text) },
      { level: 50, time: 1, [text]: text },
    ]) {
      const line = shortLine(`${JSON.stringify(fields)}\n`)
      assert.ok(Buffer.byteLength(line) <= lineBytesMax && line.endsWith('\n'))
      const { level, time } = JSON.parse(line) as LogLine
      assert.deepEqual([level, time], [50, 1])
    }
  }
  const short = '{"level":30,"msg":"x"}\n'
  assert.equal(shortLine(short), short)
})
