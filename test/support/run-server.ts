// The real executable on a real port, and raw connections to it.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkFailure } from './make-app.ts'
import { isServerStore } from '../../src/config/setting-kinds.ts'
import { startDossier } from './run-dossier.ts'
import { storeAt } from './store-at.ts'
import type { Scope } from './temp-store.ts'
import { patienceMs, until } from './until.ts'

const listening = /"url":"http:\/\/[\d.]+:(\d+)"/

export type LogLine = Readonly<Record<string, unknown>>

export type Server = Awaited<ReturnType<typeof runServer>>

/** The environment of a server. */
interface Surroundings {
  /** The limit of open files and sockets. */
  readonly openFilesMax?: number
  readonly env?: Readonly<Record<string, string>>
  /** The target of standard error, if it is not read with standard output. */
  readonly stderrTo?: string
}

/**
 * Starts `dossier serve` on a free port, and waits until it listens.
 *
 * @param surroundings are its environment.
 */
export async function runServer(
  scope: Scope,
  db: string,
  options: readonly string[] = [],
  { openFilesMax, env = {}, stderrTo }: Surroundings = {},
) {
  const port0 = options.includes('--port') ? [] : ['--port', '0']
  const at = storeAt(db)
  // Tests of the limits on requests set their own; a slow machine must not fail others.
  const isPatient = isServerStore(at) && !options.includes('--pool')
  const patience = isPatient ? ['--wait-ms', '20000', '--statement-ms', '20000'] : []
  const args = ['serve', '--db', at, ...port0, ...patience, '--log-format', 'json', ...options]
  const limit = openFilesMax === undefined ? '' : `ulimit -n ${openFilesMax};`
  const errors = stderrTo === undefined ? '' : `2> '${stderrTo}'`
  // Not bash: with a socket as its standard input, it reads the user's ~/.bashrc first.
  const via = ['sh', '-c', `${limit} exec "$0" "$@" ${errors}`]
  const { child, said, ended, ...started } = startDossier(scope, '.', args, { via, env })
  const printed = () => said.out + said.err
  await started.until(listening)
  let stoppedAt = performance.now()
  function stop(signal: NodeJS.Signals = 'SIGTERM'): void {
    stoppedAt = performance.now()
    child.kill(signal)
  }
  async function untilEnded(expected?: number) {
    const { code } = await ended
    if (expected !== undefined) assert.equal(code, expected, printed())
    const lines = printed()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as LogLine)
    return { code, lines, ms: performance.now() - stoppedAt }
  }
  return {
    port: Number(listening.exec(printed())?.[1]),
    pid: child.pid ?? 0,
    /** Stops reading its output, like a log reader that has exited. */
    stopReading(): void {
      child.stdout.destroy()
      child.stderr.destroy()
    },
    /** All output so far. */
    printed,
    /** Sends a signal, SIGTERM unless given. */
    stop,
    /** Waits for the end, and checks the exit code if one is expected; `ms` is since the signal. */
    ended: untilEnded,
    /** Stops it, and checks that it ends with 0. */
    end(signal?: NodeJS.Signals) {
      stop(signal)
      return untilEnded(0)
    },
    /** Where its metrics are; it says so at its start. */
    metricsUrl: () => /"metrics_url":"([^"]+)"/.exec(printed())?.[1] ?? assert.fail(printed()),
  }
}

/** An answer as received. */
export interface WireAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Connects to a port of this machine; the connection can be written piece by piece. */
export async function openWire(port: number) {
  const socket = connect(port, '127.0.0.1')
  let received = ''
  let isClosed = false
  socket.on('data', (bytes) => (received += bytes.toString('latin1')))
  // The other side may close while we still write; what it sent before is kept.
  socket.on('error', () => undefined)
  socket.on('close', () => (isClosed = true))
  await once(socket, 'connect')

  async function wait(isDone: () => boolean, what: string): Promise<string> {
    const start = performance.now()
    while (!isDone()) {
      if (performance.now() - start > patienceMs) {
        socket.destroy()
        assert.fail(`waited in vain until ${what}; came: ${received.slice(0, 500)}`)
      }
      await sleep(5)
    }
    return received
  }
  return {
    socket,
    send: (text: string | Buffer) => void socket.write(text),
    /** All bytes received, once the other side has closed. */
    closed: () => wait(() => isClosed, 'it closes'),
    /** Waits until the received text matches. */
    until: (pattern: RegExp) => wait(() => pattern.test(received) || isClosed, String(pattern)),
  }
}

/** Sends bytes and returns all bytes received until the other side closed. */
export async function exchange(port: number, bytes: string | Buffer): Promise<string> {
  const wire = await openWire(port)
  wire.send(bytes)
  return wire.closed()
}

interface WrittenRequest {
  readonly method?: string
  readonly key?: string | undefined
  readonly host?: string
  /** Fields besides Host and Authorization. */
  readonly fields?: readonly string[]
  /** A body as JSON, with its type and length. */
  readonly json?: string
  /** Whether the connection is to be closed after it; it is by default. */
  readonly isLast?: boolean
}

/** The bytes of a request. */
export function requestTo(path: string, request: WrittenRequest = {}): string {
  const { method = 'GET', key, host = 'x', fields = [], json, isLast = true } = request
  const head = [`${method} ${path} HTTP/1.1`, `Host: ${host}`, ...fields]
  if (key !== undefined) head.push(`Authorization: Bearer ${key}`)
  if (isLast) head.push('Connection: close')
  if (json !== undefined) {
    head.push('Content-Type: application/json', `Content-Length: ${json.length}`)
  }
  return [...head, '', json ?? ''].join('\r\n')
}

/** Sends a request on a connection of its own. */
export async function askPort(
  port: number,
  path: string,
  request: WrittenRequest = {},
): Promise<WireAnswer> {
  return answerIn(await exchange(port, requestTo(path, request)), request.method)
}

/** Waits until a server answers, however slow the machine is. */
export async function untilReady(port: number): Promise<void> {
  const ask = () => askPort(port, '/readyz').then(({ status }) => status)
  await until(async () => (await ask().catch(() => 0)) === 200, 'it is ready')
}

export function bodiesOf(answers: readonly WireAnswer[]): string[] {
  return answers.map(({ body }) => body)
}

/** The statuses of the answers on a connection, in order. */
export function statusesIn(received: string): number[] {
  return answersIn(received).map(({ status }) => status)
}

/**
 * Parses the answers on a connection, in order. `methods` are those of the requests: an answer to
 * HEAD has no body whatever its header says.
 */
export function answersIn(received: string, methods: readonly string[] = []): WireAnswer[] {
  const answers: WireAnswer[] = []
  for (let rest = received; rest !== '';) {
    const end = rest.indexOf('\r\n\r\n')
    assert.ok(end > 0, `no head: ${rest.slice(0, 200)}`)
    const [start = '', ...lines] = rest.slice(0, end).split('\r\n')
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(start)?.[1])
    assert.ok(status, start)
    const headers = Object.fromEntries(
      lines.map((line) => {
        const colon = line.indexOf(':')
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
      }),
    )
    rest = rest.slice(end + 4)
    if (status === 100) continue
    const isBare = methods[answers.length] === 'HEAD' || status === 304
    const length = isBare ? 0 : bodyLength(headers, rest)
    answers.push({ status, headers, body: rest.slice(0, length) })
    rest = rest.slice(length)
  }
  return answers
}

function bodyLength(headers: Readonly<Record<string, string>>, rest: string): number {
  const given = headers['content-length']
  return given === undefined ? rest.length : Number(given)
}

/** The only answer on a connection. */
export function answerIn(received: string, method = 'GET'): WireAnswer {
  const [answer, ...more] = answersIn(received, [method])
  assert.ok(answer, 'there is an answer')
  assert.deepEqual(more, [], 'and no other')
  return answer
}

/** Checks that an answer of any layer has the contract's form (section 4). */
export function checkRawFailure(answer: WireAnswer, status: number, message?: string): void {
  checkFailure({ ...answer, text: answer.body }, status, message ?? /^/)
}
