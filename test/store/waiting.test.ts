// A command that waits for another writer says so, and a signal ends it.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { isServerStore } from '../../src/config/setting-kinds.ts'
import { openSession } from '../../src/store/postgres/connect.ts'
import { beginWithKeys } from '../../src/store/postgres/transaction.ts'
import { importRows, makePlace, queryValue, writeRows } from '../support/import-rows.ts'
import { mustRun, runCommand } from '../support/run-command.ts'
import { startDossier } from '../support/run-dossier.ts'
import { storeAt } from '../support/store-at.ts'
import { holdStore } from '../support/store-state.ts'
import { patienceMs } from '../support/until.ts'

/** Locks keys as a command that changes them does; returns a function that unlocks them. */
async function holdKeys(path: string): Promise<() => Promise<void>> {
  const db = storeAt(path)
  if (!isServerStore(db)) return holdStore(path)
  const client = await openSession(db)
  await beginWithKeys(client, { onWait: () => undefined })
  return () => client.end()
}

/** Releases a lock even if the work fails: the next test may get the same store. */
async function whileHeld<T>(held: Promise<() => Promise<void>>, work: () => Promise<T>) {
  const release = await held
  try {
    return await work()
  } finally {
    await release()
  }
}

async function makeStore(t: TestContext) {
  const { folder, db } = makePlace(t)
  await importRows(db, 'rights', [{ id: 1, company_id: 7 }])
  await mustRun(folder, 'keys create --name acme')
  writeRows(join(folder, 'rows.ndjson'), [{ id: 2, company_id: 7 }])
  return {
    folder,
    db,
    list: async () => (await runCommand(folder, 'keys list --json')).out,
  }
}

const waits = /^another command is writing to the store; waiting for it to finish$/m

const commands = [
  { args: ['keys', 'create', '--name', 'other'], hold: holdKeys },
  { args: ['keys', 'rotate', 'acme'], hold: holdKeys },
  { args: ['keys', 'revoke', 'acme'], hold: holdKeys },
  { args: ['prune', '--yes', '--keep', '0d'], hold: holdStore },
  { args: ['import', 'rights', 'rows.ndjson'], hold: holdStore },
]

test('a signal ends the wait of every command that changes a store, and changes nothing', async (t) => {
  const { folder, db, list } = await makeStore(t)
  const before = await list()
  for (const { args, hold } of commands) {
    const run = await whileHeld(hold(db), async () => {
      const { child, until, ended } = startDossier(t, folder, args)
      await until(waits)
      child.kill('SIGINT')
      return Promise.race([ended, sleep(patienceMs, undefined, { ref: false })])
    })
    assert.ok(run, `it ends, though the other continues: ${args.join(' ')}`)
    assert.deepEqual([run.code, run.out], [130, ''], args.join(' '))
    assert.match(run.err, /^dossier: interrupted; nothing was changed$/m)
  }
  assert.equal(await list(), before)
  assert.equal(queryValue(db, 'select count(*) from rights_view'), 1)
})

test('the command continues once the other writer has finished', async (t) => {
  const { folder, db, list } = await makeStore(t)
  for (const { args, hold } of commands.slice(2)) {
    const { ended } = await whileHeld(hold(db), async () => {
      const running = startDossier(t, folder, args)
      await running.until(waits)
      return running
    })
    const { code, err } = await ended
    assert.equal(code, 0, err)
  }
  assert.equal(queryValue(db, 'select count(*) from rights_view'), 2)
  assert.match(await list(), /"revoked_at":"/)
})
