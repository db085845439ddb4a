// The measured processes: the server on core 0, the load generator on core 1.

import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { dossier, folder } from './files.ts'

const hasTaskset = spawnSync('taskset', ['-V']).error === undefined
if (!hasTaskset) console.error('taskset is missing: server and load share their cores')

/** Pins a command to cores such as `0` or `0,1`. */
function pinned(cores: string, command: readonly string[]): [string, string[]] {
  const [program = '', ...args] = hasTaskset ? ['taskset', '-c', cores, ...command] : command
  return [program, args]
}

/** A measured server, which is stopped where it goes out of scope. */
export interface Server extends AsyncDisposable {
  readonly port: number
  readonly pid: number
  /** Stops it before. */
  stop(): Promise<void>
}

let lastPort = 18_080

/** A port that no other server of this run has. */
export function nextPort(): number {
  return (lastPort += 1)
}

/** Starts a server on a port of its own and on the given cores, and waits until it answers. */
export async function start(
  commandAt: (port: string) => readonly string[],
  cores = '0',
): Promise<Server> {
  const port = nextPort()
  const command = commandAt(String(port))
  const child = spawn(...pinned(cores, command), { stdio: ['ignore', 'ignore', 'inherit'] })
  await untilAnswering(port)
  const stopped = { stop: () => stop(child), [Symbol.asyncDispose]: () => stop(child) }
  return { port, pid: child.pid ?? 0, ...stopped }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill()
  await ended
}

/** Waits until a port answers HTTP requests, one every 3 ms. */
export async function untilAnswering(port: number, path = '/healthz', key = ''): Promise<void> {
  const headers = { authorization: `Bearer ${key}` }
  for (let tries = 0; tries < 10_000; tries++) {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers }).catch(
      () => undefined,
    )
    await answer?.arrayBuffer()
    if (answer?.ok) return
    await sleep(3)
  }
  throw new Error(`nothing answers on port ${port}`)
}

/** Starts `dossier serve`; it writes its log, to /dev/null. */
export function startDossier(
  db: string,
  cacheMib: number,
  more: readonly string[] = [],
  cores = '0',
): Promise<Server> {
  const options = ['--db', db, '--cache-mib', String(cacheMib), ...more]
  return start((port) => [dossier, 'serve', '--port', port, ...options], cores)
}

/** Starts a server of this folder; its first argument is its port. */
export function startScript(script: string, ...args: readonly string[]): Promise<Server> {
  return start((port) => [process.execPath, join(import.meta.dirname, script), port, ...args])
}

/**
 * Starts a bare server that sends Dossier's response for `path`.
 *
 * @param program the script, and its arguments after the port.
 */
export async function startBare(
  from: Server,
  key: string,
  path: string,
  [script, ...args]: readonly [string, ...string[]] = ['bare-server.ts'],
): Promise<Server> {
  const answer = await fetch(`http://127.0.0.1:${from.port}${path}`, {
    headers: { authorization: `Bearer ${key}`, 'accept-encoding': 'identity' },
  })
  const ofTheConnection = ['connection', 'keep-alive', 'date']
  const headers = Object.fromEntries(
    [...answer.headers].filter(([name]) => !ofTheConnection.includes(name)),
  )
  const body = Buffer.from(await answer.arrayBuffer()).toString('base64')
  const file = join(folder, `answer-${process.pid}.json`)
  writeFileSync(file, JSON.stringify({ headers, body }))
  return startScript(script, ...args, file)
}

/** The measurements of the load generator, and the cost for the server. */
export interface Load {
  readonly perSecond: number
  readonly p50Us: number
  readonly p99Us: number
  /** Processor time of the server's processes for each request, in microseconds. */
  readonly cpuUs: number
}

/** The requests of a load. */
export interface Question {
  readonly key: string
  /** `{}` stands for a random company, one of the first `companies`. */
  readonly path: string
  readonly companies?: number
  readonly connections?: number
  /** The content coding of the requests; identity by default. */
  readonly coding?: string
  /** The core of the generator; 1 by default. */
  readonly core?: number
}

/** Sends requests to a server for some seconds. */
export async function load(server: Server, question: Question, seconds: number): Promise<Load> {
  const { key, path, companies = 1, connections = 32, coding = 'identity', core = 1 } = question
  const script = join(import.meta.dirname, 'load.ts')
  const numbers = [server.port, seconds, connections].map(String)
  const command = [process.execPath, script, ...numbers, key, path, String(companies), coding]
  const before = cpuSeconds(server.pid)
  const { stdout } = await promisify(execFile)(...pinned(String(core), command))
  const result = JSON.parse(stdout) as Omit<Load, 'cpuUs'>
  const requests = result.perSecond * seconds
  return { ...result, cpuUs: ((cpuSeconds(server.pid) - before) * 1e6) / requests }
}

const rounds = 5
const roundSeconds = 2

/**
 * Loads two servers alternately, after warming up both.
 *
 * @returns the ratios of a to b for rate and latency, and of b to a for processor time.
 */
export async function compare(
  a: readonly [Server, Question],
  b: readonly [Server, Question],
): Promise<{ rate: number[]; cpu: number[]; latency: number[] }> {
  const ratios = { rate: [] as number[], cpu: [] as number[], latency: [] as number[] }
  for (const [server, question] of [a, b, a]) await load(server, question, roundSeconds)
  for (let round = 0; round < rounds; round++) {
    const ofA = await load(...a, roundSeconds)
    const ofB = await load(...b, roundSeconds)
    ratios.rate.push(ofA.perSecond / ofB.perSecond)
    ratios.cpu.push(ofB.cpuUs / ofA.cpuUs)
    ratios.latency.push(ofA.p50Us / ofB.p50Us)
  }
  return ratios
}

/**
 * The user and system time of a process and its running children so far; clock ticks are hundredths
 * of a second on Linux.
 */
export function cpuSeconds(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ')
  return children
    .filter((child) => child.trim() !== '')
    .map((child) => cpuSeconds(Number(child)))
    .reduce((sum, seconds) => sum + seconds, secondsOf(pid, 11))
}

/** That of the children of a process that have ended. */
export function endedSeconds(pid: number | 'self'): number {
  return secondsOf(pid, 13)
}

/** The sum of two neighbouring times of /proc/PID/stat: user and system. */
function secondsOf(pid: number | 'self', field: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[field]) + Number(fields[field + 1])) / 100
}

/** The resident memory of a process, in MB: now (VmRSS), or at most so far (VmHWM). */
export function residentMb(pid: number, what: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1')
  return Number(new RegExp(`${what}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1_024
}

/** Inserts the records of a file into typed columns; returns the time of the whole process. */
export function insertBare(file: string, db: string): number {
  const startedAt = performance.now()
  const script = join(import.meta.dirname, 'peer-store.ts')
  spawnSync(process.execPath, [script, file, db], { stdio: 'inherit' })
  return (performance.now() - startedAt) / 1_000
}

/** The cost of a command: the time of the whole process, and its greatest resident memory. */
export interface Cost {
  readonly seconds: number
  /** User and system time, in seconds. */
  readonly cpuSeconds: number
  readonly peakMb: number
}

/** Runs `dossier import`. */
export function importFile(
  target: string,
  file: string,
  db: string,
  options: readonly string[] = [],
): Promise<Cost> {
  return run([dossier, 'import', target, file, '--db', db, ...options])
}

/** Runs a command to its end. */
export async function run([program = '', ...args]: readonly string[]): Promise<Cost> {
  const startedAt = performance.now()
  const before = endedSeconds('self')
  const child = spawn(program, args, { stdio: 'ignore' })
  let peakMb = 0
  const poll = setInterval(() => {
    try {
      peakMb = Math.max(peakMb, residentMb(child.pid ?? 0, 'VmHWM'))
    } catch {
      // The process has just ended.
    }
  }, 20)
  const code = await new Promise((resolve) => child.once('exit', resolve))
  clearInterval(poll)
  if (code !== 0) throw new Error(`${[program, ...args].join(' ')} ended with ${String(code)}`)
  const seconds = (performance.now() - startedAt) / 1_000
  return { seconds, cpuSeconds: endedSeconds('self') - before, peakMb }
}
