// A restart on a socket that systemd holds (reliability row I4): new connections wait meanwhile.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startLoad } from '../support/load-client.ts'
import { dossier } from '../support/run-dossier.ts'
import { makeRightsStore } from '../support/rights-store.ts'

const { store, key, path, whole: body } = await makeRightsStore({ after })
const holder = join(import.meta.dirname, '../support/socket-holder.ts')

// The processes are found in /proc.
const onLinux = { skip: process.platform !== 'linux' }

test('restarts on a socket that is passed in: no request fails (I4)', onLinux, async (t) => {
  const servers = 4
  const serve = ['serve', '--db', store.db, '--log-format', 'json']
  const child = spawn(process.execPath, [holder, String(servers), dossier, ...serve], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text))
  const serverPid = () =>
    Number(readFileSync(`/proc/${child.pid ?? 0}/task/${child.pid ?? 0}/children`, 'latin1'))
  t.after(() => {
    if (child.exitCode !== null) return
    process.kill(serverPid(), 'SIGKILL')
    child.kill('SIGKILL')
  })
  const untilPrinted = async (pattern: RegExp, times: number) => {
    for (let waited = 0; (printed.match(pattern)?.length ?? 0) < times; waited += 10) {
      assert.ok(waited < 20_000 && child.exitCode === null, printed)
      await sleep(10)
    }
  }
  await untilPrinted(/"msg":"listening"/g, 1)
  const port = Number(/holding (\d+)/.exec(printed)?.[1])
  assert.ok(printed.includes(`"url":"http://127.0.0.1:${port}"`), printed)
  // The servers need the processor to start more than the clients do.
  const task = { port, path, key, body, pauseMs: 10 }
  const loads = [
    startLoad({ ...task, clients: 8 }),
    startLoad({ ...task, clients: 4, isUnkept: true }),
  ]
  for (let count = 1; count <= servers; count += 1) {
    await untilPrinted(/"msg":"listening"/g, count)
    const before = loads.map((load) => load.answered())
    for (let waited = 0; loads.some((load, at) => load.answered() < (before[at] ?? 0) + 50);) {
      assert.ok((waited += 10) < 20_000, 'it answers')
      await sleep(10)
    }
    if (count < servers) process.kill(serverPid(), 'SIGTERM')
  }
  const failures = (await Promise.all(loads.map((load) => load.stop()))).flat()
  assert.deepEqual(failures, [])
  assert.doesNotMatch(printed, /Error/)
  process.kill(serverPid(), 'SIGTERM')
  await once(child, 'exit')
  assert.equal(printed.match(/ended with 0/g)?.length, servers)
})

test('a socket that is passed in serves one process; several are refused', async () => {
  const serve = ['serve', '--db', store.db, '--workers', '2']
  const child = spawn(process.execPath, [holder, '1', dossier, ...serve])
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (printed += text))
  await once(child, 'exit')
  assert.match(printed, /^dossier: --workers is 2; with a socket of systemd, it must be 1$/m)
  assert.match(printed, /ended with 2/)
})
