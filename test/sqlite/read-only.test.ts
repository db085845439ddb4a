// Inspection of a store that cannot be written: a backup on a read-only disk, or of another user.

import assert from 'node:assert/strict'
import { chmodSync, cpSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test, type TestContext } from 'node:test'
import { hourOf } from '../../src/store/keys.ts'
import { openUsageWriter } from '../../src/store/open-store.ts'
import { importRows, makeFolder, queryValue } from '../support/import-rows.ts'
import { mustRun } from '../support/run-command.ts'
import { asNobody, checkExit, runAllDossier, runDossier } from '../support/run-dossier.ts'

const nobody = asNobody() ?? []

const skip = nobody.length === 0 && 'needs root and setpriv, to become another user'
// So many that a filter is applied in a thread.
const rows = Array.from({ length: 10_001 }, (_, n) => ({ id: n + 1, company_id: 7 }))
const made = join(makeFolder({ after }), 'x.db')
if (!skip)
  await importRows(made, 'rights', [...rows, { id: 20_000, company_id: 7, status: 'lapsed' }])

function testShut(what: string, work: (t: TestContext) => Promise<void>): void {
  test(what, { skip }, work)
}

/** A store in a folder that cannot be written. */
function makeShut(t: TestContext): string {
  const folder = makeFolder(t)
  mkdirSync(join(folder, 'shut'))
  cpSync(made, join(folder, 'shut/x.db'))
  chmodSync(join(folder, 'shut/x.db'), 0o444)
  chmodSync(join(folder, 'shut'), 0o555)
  chmodSync(folder, 0o777)
  return folder
}

testShut('a store that cannot be written is verified, backed up and shown (F10)', async (t) => {
  const folder = makeShut(t)
  const shut = '--db shut/x.db'
  const commands = [
    ...[`verify ${shut}`, `backup copy.db ${shut}`, `imports ${shut}`, `company 7 ${shut}`],
    ...['verify --db copy.db', 'restore shut/x.db --db new.db'],
    `listing 7 rights status=lapsed ${shut}`,
  ]
  const runs = await runAllDossier(folder, commands, { via: nobody })
  for (const [n, { code, err }] of runs.entries()) assert.equal(code, 0, `${commands[n]}: ${err}`)
  assert.match(runs.at(-1)?.out ?? '', /^\{"id":20000,[^\n]+\n$/)
})

testShut(
  'keys, their use and what is withheld are listed where nothing can be written',
  async (t) => {
    const folder = makeShut(t)
    const [db, usage] = [join(folder, 'shut/x.db'), join(folder, 'shut/x-usage.db')]
    chmodSync(db, 0o644)
    await mustRun(folder, `keys create --name acme --db ${db}`)
    const now = Date.now()
    const counter = openUsageWriter(usage, String(queryValue(db, 'select id from store')), db)
    const keyId = Number(queryValue(db, 'select id from keys'))
    await counter.add([{ keyId, hour: hourOf(now), requests: 3, lastUsedAt: now }], now, 0)
    counter.close()
    for (const file of [db, usage]) chmodSync(file, 0o444)
    const own = join(folder, 'own')
    mkdirSync(own, { mode: 0o700 })
    const [keys, withhold, lost] = await runAllDossier(
      folder,
      ['keys list', 'withhold list', `keys list --usage-db ${own}/uses.db`].map(
        (command) => `${command} --db ${db}`,
      ),
      { via: nobody },
    )
    for (const [run, says] of [
      [keys, /^acme .* in use .* 3 +3$/m],
      [withhold, /^Nothing is withheld\.$/m],
    ] as const) {
      assert.equal(run?.code, 0, String(run?.err))
      assert.match(run.out, says)
      assert.equal(run.err, '')
    }
    const message = /^dossier: .*uses\.db: cannot be opened; this user needs to read/
    assert.match(String(lost?.err), message)
    assert.doesNotMatch(String(lost?.out), /LAST USE/)
  },
)

testShut('a dry run of what cannot be written says what to do', async (t) => {
  const folder = makeShut(t)
  const how = { via: nobody, input: '{"id":30000,"company_id":7}\n' }
  const commands = [
    ...['import rights -', 'prune --keep 0d', 'revert 1', 'withhold erase rights 20000'],
  ].map((command) => `${command} --dry-run --db shut/x.db`)
  for (const run of await runAllDossier(folder, commands, how)) {
    checkExit(run, 1, /^dossier: shut\/x\.db: cannot be opened; [^\n]+ read and write[^\n]+\n$/)
  }
})

testShut('a store that cannot be looked up is not taken for none', async (t) => {
  const folder = makeFolder(t)
  chmodSync(folder, 0o755)
  const db = join(folder, 'own/x.db')
  mkdirSync(dirname(db), { mode: 0o700 })
  cpSync(made, db)
  const says = /^dossier: .*own\/x\.db: cannot be opened; this user needs to read/
  const withheld = ['--withheld', join(folder, 'list.ndjson')]
  const trial = ['import', 'rights', '-', '--dry-run', '--db', db, ...withheld]
  const input = '{"company_id":7}\n'
  const commands = [trial, ['keys', 'create', '--name', 'acme', '--db', db]]
  for (const run of await runAllDossier(folder, commands, { via: nobody, input })) {
    checkExit(run, 1, says)
  }
})

testShut('a log with changes next to a store that cannot be written is reported', async (t) => {
  const folder = makeShut(t)
  const db = join(folder, 'shut/x.db')
  chmodSync(db, 0o644)
  const writer = new DatabaseSync(db)
  writer.exec(`insert into sources (id, name) values (99, 'late')`)
  // As copied by somebody who took the log along.
  mkdirSync(join(folder, 'copied'))
  for (const file of ['x.db', 'x.db-wal']) {
    cpSync(join(folder, 'shut', file), join(folder, 'copied', file))
    chmodSync(join(folder, 'copied', file), 0o444)
  }
  writer.close()
  chmodSync(join(folder, 'copied'), 0o555)
  const run = await runDossier(folder, 'verify --db copied/x.db', { via: nobody })
  const says = /^dossier: copied\/x\.db-wal has changes that are not in the file yet, [^\n]+\n$/
  checkExit(run, 1, says)
})
