// Commands that wait for a table which another session has locked, such as a `vacuum full`.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { importRows, makePlace } from '../support/import-rows.ts'
import { startDossier } from '../support/run-dossier.ts'
import { sessionFor } from '../support/sessions.ts'
import { onCitus, storeAt } from '../support/store-at.ts'
import { patienceMs } from '../support/until.ts'

const here = { skip: onCitus }

// Over a pool, in a session that reads, and in one that writes.
const commands = ['listing 7 rights', 'verify', 'prune --keep 0d --yes']

for (const table of ['heads', 'store']) {
  test(`commands say that ${table} is locked; a signal ends the wait`, here, async (t) => {
    const { folder, db } = makePlace(t)
    for (const name of ['one', 'two']) {
      await importRows(db, 'rights', [{ id: 1, company_id: 7, name }])
    }
    const holder = await sessionFor(t, storeAt(db))
    await holder.query('begin')
    await holder.query(`lock table ${table} in access exclusive mode`)
    const told = new RegExp(`^another session .* locked the table ${table}; waiting for it$`, 'm')
    const runs = commands.map(async (command) => {
      const { child, until, ended } = startDossier(t, folder, command)
      await until(told)
      child.kill('SIGTERM')
      const run = await Promise.race([ended, sleep(patienceMs, undefined, { ref: false })])
      assert.ok(run, `it ends while the table is locked: ${command}`)
      assert.deepEqual([run.code, run.out], [143, ''], command)
      assert.match(run.err, /^dossier: interrupted; nothing was changed$/m)
    })
    await Promise.all(runs)
  })
}

test('commands continue when a table is unlocked', here, async (t) => {
  const { folder, db } = makePlace(t)
  await importRows(db, 'rights', [{ id: 1, company_id: 7, name: 'one' }])
  const holder = await sessionFor(t, storeAt(db))
  await holder.query('begin')
  await holder.query('lock table heads in access exclusive mode')
  const running = commands.map((command) => startDossier(t, folder, command))
  for (const { until } of running) await until(/waiting for it/)
  await holder.query('commit')
  for (const { code, err } of await Promise.all(running.map(({ ended }) => ended))) {
    assert.equal(code, 0, err)
  }
})
