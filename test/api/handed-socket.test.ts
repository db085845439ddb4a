// A restart on a socket that systemd holds (reliability row I4): new connections wait meanwhile.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test, type TestContext } from 'node:test'
import { startLoad } from '../support/load-client.ts'
import { startDossier } from '../support/run-dossier.ts'
import { makeRightsStore } from '../support/rights-store.ts'
import { until } from '../support/until.ts'

const { store, key, path, whole: body } = await makeRightsStore({ after })
const holder = join(import.meta.dirname, '../support/socket-holder.ts')

/** Starts the holder of a socket, with this many servers on it, one after the other. */
function hold(t: TestContext, servers: number, ...options: string[]) {
  t.after(() => {
    if (holding.child.exitCode === null) stopServer('SIGKILL')
  })
  const args = ['serve', '--db', store.db, '--log-format', 'json', ...options]
  const via = [process.execPath, holder, String(servers)]
  const holding = startDossier(t, '.', args, { via })
  function stopServer(signal: NodeJS.Signals): void {
    const pid = String(holding.child.pid)
    process.kill(Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1')), signal)
  }
  return { ...holding, stopServer }
}

// The processes are found in /proc.
const onLinux = { skip: process.platform !== 'linux' }

test('restarts on a socket that is passed in: no request fails (I4)', onLinux, async (t) => {
  const servers = 2
  const { said, stopServer, ended } = hold(t, servers)
  const isListening = (count: number) => said.out.match(/"msg":"listening"/g)?.length === count
  await until(() => isListening(1), 'it listens')
  const port = Number(/holding (\d+)/.exec(said.out)?.[1])
  assert.ok(said.out.includes(`"url":"http://127.0.0.1:${port}"`), said.out)
  // The servers need the processor to start more than the clients do.
  const task = { port, path, key, body, pauseMs: 10 }
  const loads = [
    startLoad({ ...task, clients: 8 }),
    startLoad({ ...task, clients: 4, isUnkept: true }),
  ]
  for (let count = 1; count <= servers; count += 1) {
    await until(() => isListening(count), 'it listens')
    for (const load of loads) {
      const before = load.answered()
      await until(() => load.answered() >= before + 50, 'it answers')
    }
    if (count < servers) stopServer('SIGTERM')
  }
  const failures = (await Promise.all(loads.map((load) => load.stop()))).flat()
  assert.deepEqual(failures, [])
  stopServer('SIGTERM')
  const { out, err } = await ended
  assert.doesNotMatch(out + err, /Error/)
  assert.equal(out.match(/ended with 0/g)?.length, servers)
})

test('a socket that is passed in serves one process; several are refused', async (t) => {
  const { out, err } = await hold(t, 1, '--workers', '2').ended
  assert.match(err, /^dossier: --workers is 2; with a socket of systemd, it must be 1$/m)
  assert.match(out, /ended with 2/)
})
