// A private Redis: the machine's redis-server on a free port, without persistence.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { freePort } from './free-port.ts'
import type { Scope } from './temp-store.ts'
import { until } from './until.ts'

/** Why tests with Redis are skipped; false if they are not. */
export const noRedis = isInstalled() ? false : 'redis-server is not installed on this machine'

function isInstalled(): boolean {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Starts a Redis; it is ended when the scope ends. */
export async function runRedis(scope: Scope) {
  const port = await freePort()
  let child = await start(port)
  async function kill(): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  scope.after(kill)
  return {
    url: `redis://127.0.0.1:${port}`,
    /** Suspends it, so that it accepts connections and does not answer. */
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    kill,
    /** Restarts it empty on the same port. */
    async restart(): Promise<void> {
      await kill()
      child = await start(port)
    },
  }
}

async function start(port: number): Promise<ChildProcess> {
  const options = ['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  const child = spawn('redis-server', ['--port', String(port), ...options], { stdio: 'ignore' })
  await until(() => isListening(port), 'redis-server listens')
  return child
}

function isListening(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => done(true)).once('error', () => done(false))
    socket.once('connect', () => socket.destroy())
  })
}
