// The server that is fuzzed: the real executable over a store of its own.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { resources } from '../src/resources/index.ts'
import { makeRecords } from '../test/support/make-record.ts'
import { dossier } from '../test/support/run-dossier.ts'
import { makeTempStore, type Scope, type TempStore } from '../test/support/temp-store.ts'

/** Keys of every kind; those that open nothing as well. */
export interface Keys {
  readonly good: string
  /** For rights alone. */
  readonly narrow: string
  /** Three requests a second. */
  readonly limited: string
  readonly expired: string
  readonly revoked: string
}

/** A server under fuzz. */
export interface FuzzedServer {
  readonly store: TempStore
  readonly port: number
  readonly pid: number
  readonly keys: Keys
  /** What the server has said beside that it has answered a request; nothing, if all is well. */
  readonly complaints: readonly string[]
  /** Whether it still runs. */
  isAlive(): boolean
}

/** The company that has records of each kind, the one that has none, and how many those are. */
export const companies = { full: 1, empty: 2, records: 250 } as const

/** Makes a store and starts a server on it; both are gone when the scope ends. */
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

// Nothing is shed and nobody is throttled: a machine at full load would do so at any moment. The
// cache is small, so that it is full long before the memory is looked at for the first time.
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

/** Reads what a server says: where it listens, and from then on what it complains of. */
async function listen(child: ChildProcess, complaints: string[]): Promise<number> {
  const { stdout, stderr } = child
  assert.ok(stdout && stderr)
  const port = Promise.withResolvers<number>()
  createInterface({ input: stdout }).on('line', (line) => {
    const given = /"url":"http:\/\/[\d.]+:(\d+)"/.exec(line)?.[1]
    if (given !== undefined) port.resolve(Number(given))
    // Pino's level of an ordinary line.
    else if (!line.startsWith('{"level":30,')) complaints.push(line)
  })
  createInterface({ input: stderr }).on('line', (line) => complaints.push(line))
  child.once('exit', (code, signal) => {
    complaints.push(`the server has ended: ${code ?? signal ?? ''}`)
    port.reject(new Error(complaints.join('\n')))
  })
  return port.promise
}

/** The resident memory of a process, in MB; undefined where the system does not tell. */
export function residentMb(pid: number): number | undefined {
  const kb = readProc(() => readFileSync(`/proc/${pid}/status`, 'latin1'))
  const found = kb && /VmRSS:\s+(\d+)/.exec(kb)?.[1]
  return found === undefined ? undefined : Number(found) / 1_024
}

/**
 * How many descriptors a process holds; undefined where the system does not tell. One of each file
 * with the uses of keys does not count: it is opened when there are some to write, and stays open.
 */
export function descriptors(pid: number): number | undefined {
  return readProc(() => {
    const targets = readdirSync(`/proc/${pid}/fd`).map((fd) => targetOf(`/proc/${pid}/fd/${fd}`))
    const usage = new Set(targets.filter((target) => /-usage\.db(-wal|-shm)?$/.test(target)))
    return targets.length - usage.size
  })
}

/** What a descriptor leads to; it may have been closed since it was listed. */
function targetOf(descriptor: string): string {
  try {
    return readlinkSync(descriptor)
  } catch {
    return ''
  }
}

/** Waits until a process holds no more descriptors than it did; gives how many it holds. */
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
