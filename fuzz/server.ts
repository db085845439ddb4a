// The fuzzed server: the real executable with its own store.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readlinkSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { resources } from '../src/resources/index.ts'
import { makeRecords } from '../test/support/make-record.ts'
import { dossier, residentMib } from '../test/support/run-dossier.ts'
import { makeTempStore, type Scope, type TempStore } from '../test/support/temp-store.ts'

/** Keys of every kind, including invalid ones. */
export interface Keys {
  readonly good: string
  /** For rights only. */
  readonly narrow: string
  /** Three requests a second. */
  readonly limited: string
  readonly expired: string
  readonly revoked: string
}

export interface FuzzedServer {
  readonly store: TempStore
  readonly port: number
  readonly pid: number
  readonly keys: Keys
  /** Log lines of any level but info, and all of standard error; none if all is well. */
  readonly complaints: readonly string[]
  /** Whether the server is running. */
  isAlive(): boolean
}

/** The company with records of each kind, the company without, and the number of records. */
export const companies = { full: 1, empty: 2, records: 250 } as const

/** Makes a store and starts a server on it; both are removed when the scope closes. */
export async function startFuzzed(scope: Scope): Promise<FuzzedServer> {
  const store = await makeTempStore(scope, resources)
  await store.loadCompanies([companies.full, companies.empty])
  await store.load(
    resources.map((resource) => ({
      resource,
      company: companies.full,
      records: makeRecords(resource, companies.records),
    })),
  )
  const keys = await issueKeys(store)
  const complaints: string[] = []
  const child = spawn(dossier, ['serve', '--db', store.db, ...options], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'] },
  })
  scope.after(() => kill(child))
  const port = await listen(child, complaints)
  return {
    store,
    port,
    pid: child.pid ?? 0,
    keys,
    complaints,
    isAlive: () => child.exitCode === null && child.signalCode === null,
  }
}

// No load shedding and no throttling, which a busy machine could trigger at any time. The cache is
// small, so that it is full long before memory is measured for the first time.
const options = [
  ...['--port', '0', '--log-format', 'json', '--cache-mib', '4'],
  ...['--delay-ms-max', '60000', '--bad-key-rate', 'none'],
]

async function issueKeys(store: TempStore): Promise<Keys> {
  const keys = {
    good: await store.issueKey({ name: 'good' }),
    narrow: await store.issueKey({ name: 'narrow', scopes: ['rights'] }),
    limited: await store.issueKey({ name: 'limited', rate: '3/1s' }),
    expired: await store.issueKey({ name: 'expired', expiresAt: Date.now() - 1_000 }),
    revoked: await store.issueKey({ name: 'revoked' }),
  }
  await store.revokeKey('revoked')
  return keys
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

/** Reads the output of a server: resolves to its port, and collects complaints. */
async function listen(child: ChildProcess, complaints: string[]): Promise<number> {
  const { stdout, stderr } = child
  assert.ok(stdout && stderr)
  const port = Promise.withResolvers<number>()
  createInterface({ input: stdout }).on('line', (line) => {
    const given = /"url":"http:\/\/[\d.]+:(\d+)"/.exec(line)?.[1]
    if (given !== undefined) port.resolve(Number(given))
    // Level 30 is pino's `info`.
    else if (!line.startsWith('{"level":30,')) complaints.push(line)
  })
  createInterface({ input: stderr }).on('line', (line) => complaints.push(line))
  child.once('exit', (code, signal) => {
    complaints.push(`the server has ended: ${code ?? signal ?? ''}`)
    port.reject(new Error(complaints.join('\n')))
  })
  return port.promise
}

/** The resident memory of a process in MB; undefined if the system has no /proc. */
export function residentMb(pid: number): number | undefined {
  return readProc(() => residentMib(pid))
}

/**
 * The number of open descriptors of a process; undefined if the system has no /proc. Two of each
 * file with the uses of keys do not count: they open at the first write and the first answer with
 * uses, and stay open.
 */
export function descriptors(pid: number): number | undefined {
  return readProc(() => {
    const targets = readdirSync(`/proc/${pid}/fd`).map((fd) => targetOf(`/proc/${pid}/fd/${fd}`))
    const usage = targets.filter((target) => /-usage\.db(-wal|-shm)?$/.test(target))
    const counts = Object.values(Object.groupBy(usage, (target) => target))
    const lasting = counts.reduce((sum, same = []) => sum + Math.min(same.length, 2), 0)
    return targets.length - lasting
  })
}

/** The target of a descriptor; empty if it has been closed since it was listed. */
function targetOf(descriptor: string): string {
  try {
    return readlinkSync(descriptor)
  } catch {
    return ''
  }
}

/** Waits until a process has no more descriptors than before, for ten seconds; returns how many. */
export async function settledDescriptors(pid: number, before: number | undefined) {
  for (let waited = 0; waited < 10_000; waited += 50) {
    const now = descriptors(pid)
    if (now === undefined || before === undefined || now <= before) return now
    await sleep(50)
  }
  return descriptors(pid)
}

function readProc<T>(read: () => T): T | undefined {
  return process.platform === 'linux' ? read() : undefined
}
