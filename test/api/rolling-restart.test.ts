// A new server takes over the port of the old one, under load (reliability row I4).
//
// DOSSIER_TEST_RESTARTS=20 for the long form.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../support/free-port.ts'
import { startLoad } from '../support/load-client.ts'
import { runCommand } from '../support/run-command.ts'
import { checkExit, runDossier } from '../support/run-dossier.ts'
import { runServer } from '../support/run-server.ts'
import { makeRightsStore } from '../support/rights-store.ts'

const restarts = Number(process.env['DOSSIER_TEST_RESTARTS'] ?? 1)
const { store, key, path, whole: body } = await makeRightsStore({ after })

// With this, the kernel passes connections pending on a closing listener to another one.
const migrate = '/proc/sys/net/ipv4/tcp_migrate_req'
const isMigrating = existsSync(migrate) && readFileSync(migrate, 'utf8').trim() === '1'
// SO_REUSEPORT deals connections out on Linux only.
const onLinux = { skip: process.platform !== 'linux' }

for (const workers of ['1', '2']) {
  test(`rolling restarts of --workers ${workers}: no request fails (I4)`, onLinux, async (t) => {
    const options = ['--reuse-port', 'yes', '--workers', workers, '--port']
    const port = String(await freePort())
    let server = await runServer(t, store.db, [...options, port])
    // The servers need the processor to start more than the clients do.
    const task = { port: server.port, path, key, body, pauseMs: 30 }
    const loads = [
      startLoad({ ...task, clients: 8 }),
      startLoad({ ...task, clients: isMigrating ? 4 : 0, isUnkept: true }),
    ]
    for (let restart = 0; restart < restarts; restart += 1) {
      const next = await runServer(t, store.db, [...options, port])
      await server.end()
      server = next
      await sleep(100)
    }
    const failures = (await Promise.all(loads.map((load) => load.stop()))).flat()
    const answered = loads.reduce((sum, load) => sum + load.answered(), 0)
    t.diagnostic(`${answered} requests, ${failures.length} failures`)
    assert.deepEqual(failures, [])
    assert.ok(answered > 100 * restarts)
    await server.end()
  })
}

test('a second server on a port is an error unless both use --reuse-port (I6)', async (t) => {
  const server = await runServer(t, store.db)
  for (const sharing of ['yes', 'no']) {
    const args = ['serve', '--db', store.db, '--reuse-port', sharing, '--port', String(server.port)]
    checkExit(await runDossier(store.folder, args), 1, /is in use/)
  }
  const args = ['serve', '--db', store.db, '--reuse-port', 'yes', '--workers', '2', '--port', '0']
  checkExit(await runCommand(store.folder, args), 2, /--port is 0/)
})
