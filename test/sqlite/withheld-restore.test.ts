// A backup does not bring back what was withheld since, and no store is opened without its list.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { resources } from '../../src/resources/index.ts'
import { openStoreReader, openStoreWriter, type StorePlace } from '../../src/store/open-store.ts'
import { importRows, makeFolder, query } from '../support/import-rows.ts'
import { mustRun, runCommand } from '../support/run-command.ts'
import { checkExit, dossier, runDossier, startDossier } from '../support/run-dossier.ts'
import { identifier, person } from '../support/withheld.ts'
import { changeStore } from '../support/store-state.ts'
import { lift, withhold } from '../support/write-store.ts'

const rows = [
  { id: 1, company_id: 7, identifier, name: 'Jane Doe' },
  { id: 2, company_id: 7, identifier: '2', name: 'John Roe' },
]

/** A store of which a backup was made before its person was withheld. */
async function makeStores(t: TestContext) {
  const folder = makeFolder(t)
  const [db, copy] = [join(folder, 'registry.db'), join(folder, 'copy.db')]
  await importRows(db, 'employees', rows)
  await mustRun(folder, `backup ${copy} --db ${db}`)
  await withhold(db, 'erase', person)
  return { folder, db, copy, list: join(folder, 'registry-withheld.ndjson') }
}

const has = (path: string) => readFileSync(path).includes(identifier)
const records = (db: string) => query(db, 'select id from employees_view').length

test('a restore takes what is withheld out of the copy before a server can see it', async (t) => {
  const { folder, db, copy } = await makeStores(t)
  const before = readFileSync(copy)
  await mustRun(folder, `restore ${copy} --db ${db} --yes`)
  assert.equal(records(db), 1)
  assert.equal(has(db), false)
  assert.deepEqual(readFileSync(copy), before, 'the copy itself is not touched')
  const left = readdirSync(folder).filter((name) => name.includes('withholding'))
  assert.deepEqual(left, [])
  await (await openStoreReader(db)).close()
})

test('a restore tells the list what orders find in the copy alone, once', async (t) => {
  const { folder, db, copy, list } = await makeStores(t)
  await mustRun(folder, `restore ${copy} --db ${db} --yes`)
  const moved = [{ id: 1, company_id: 8, identifier, name: 'Jane Doe' }]
  await importRows(copy, 'employees', moved)
  for (let n = 0; n < 2; n += 1) await mustRun(folder, `restore ${copy} --db ${db} --yes`)
  const told = readFileSync(list, 'utf8').match(/"finds":.*/g)
  const message = /^[^\n]*"companies":\[\{"id":8,[^\n]*"found in a restored store"[^\n]*$/
  assert.match(String(told), message)
  const says = [{ id: 8, jurisdiction: 'GB', identifier: '8', owner: 'Jane Doe' }]
  await importRows(db, 'companies', says)
  assert.equal(readFileSync(db).includes('Jane Doe'), false)
})

test('a backup names the list, without which it cannot be used', async (t) => {
  const { folder, db, list } = await makeStores(t)
  const { out } = await mustRun(folder, `backup later.db --db ${db}`)
  assert.match(out, new RegExp(`\nAlso back up the list of what is withheld: ${list}\n$`))
  const run = await runCommand(folder, 'restore later.db --db elsewhere.db')
  checkExit(run, 1, /the list of what the store withholds, is missing/)
})

test('two simultaneous restores do not disturb each other', async (t) => {
  const { folder, db, copy } = await makeStores(t)
  const restore = () => runDossier(folder, `restore ${copy} --db ${db} --yes`)
  const runs = await Promise.all([restore(), restore()])
  for (const { code, err } of runs) assert.equal(code, 0, err)
  assert.deepEqual([has(db), records(db)], [false, 1])
  const beside = readdirSync(folder)
  assert.equal(beside.filter((name) => /-replaced-.*\.db$/.test(name)).length, 2)
  assert.equal(beside.filter((name) => name.includes('withholding')).length, 0)
})

test('what is withheld while a restore waits does not come back with it', async (t) => {
  const { folder, db, copy } = await makeStores(t)
  const writing = new DatabaseSync(db)
  writing.exec('begin immediate')
  const restore = startDossier(t, folder, `restore ${copy} --db ${db} --yes`)
  await restore.until(/waiting/i)
  writing.close()
  await withhold(db, 'erase', { resource: 'employees', id: 2 })
  const { code, err } = await restore.ended
  assert.equal(records(db), 0)
  // Or it was first, and the order was for the restored store.
  if (code !== 0) assert.match(err, /registry-withheld\.ndjson has changed .* run the command/)
})

test('a store without its list, or with an earlier one, is neither served nor written', async (t) => {
  const { folder, db, list } = await makeStores(t)
  const first = readFileSync(list)
  await lift(db, 1)
  const both = readFileSync(list)
  const opens = [() => openStoreReader(db), () => openStoreWriter(db, resources)] as const
  rmSync(list)
  for (const open of opens)
    await assert.rejects(open, /registry-withheld\.ndjson, the list [^;]* is missing/)
  writeFileSync(list, first)
  for (const open of opens) await assert.rejects(open, /is not the list .* or is an earlier state/)
  writeFileSync(list, both.toString().replace('a test', 'another'))
  for (const open of opens) await assert.rejects(open, /is not the list/)
  writeFileSync(list, `${both.toString()}{"number":\n`)
  for (const open of opens) await assert.rejects(open, /line 4 of the list .* is damaged/)
  rmSync(list)
  mkdirSync(list)
  for (const open of opens) await assert.rejects(open, /cannot be used \(EISDIR: /)
  rmSync(list, { recursive: true })
  // A copy elsewhere may be verified, which shows nothing of it, and leaves nothing next to it.
  await mustRun(folder, `verify --db ${db}`)
  const told = readdirSync(folder).filter((name) => /-(wal|shm)$/.test(name))
  assert.deepEqual(told, [])
  for (const command of ['company 7', 'imports', 'backup x.db', 'export x']) {
    const shown = await runCommand(folder, [...command.split(' '), '--db', db])
    checkExit(shown, 1, /registry-withheld\.ndjson, the list [^;]* is missing/)
  }
  const elsewhere = join(folder, 'list.ndjson')
  writeFileSync(elsewhere, both)
  const named = await runCommand(folder, ['withhold', 'list', '--db', db, '--withheld', elsewhere])
  assert.match(named.out, /erase employees by identifier[^]*lifts 1/)
})

test('a store that withholds is not replaced while its list is missing or outdated (13)', async (t) => {
  const { folder, db, copy, list } = await makeStores(t)
  const first = readFileSync(list)
  await withhold(db, 'erase', { resource: 'employees', id: 2 })
  const restore = () => runCommand(folder, `restore ${copy} --db ${db} --yes`)
  writeFileSync(list, first)
  checkExit(await restore(), 1, /is not the list .* or is an earlier state of it/)
  rmSync(list)
  checkExit(await restore(), 1, /registry-withheld\.ndjson, the list [^;]* is missing/)
  assert.equal(records(db), 0)
  // A damaged store cannot tell what it withholds, and does not stand in the way of a copy.
  changeStore(db, 'drop table store')
  await mustRun(folder, `restore ${copy} --db ${db} --yes`)
})

test('a line that a kill has cut off is not part of the list', async (t) => {
  const { db, list } = await makeStores(t)
  appendFileSync(list, '{"number":2,"kind":"era')
  await (await openStoreReader(db)).close()
  await withhold(db, 'erase', { resource: 'employees', id: 2 })
  const lines = readFileSync(list, 'utf8').split('\n')
  assert.equal(lines.length, 4)
  assert.match(lines[2] ?? '', /^\{"number":2,"registry":"\w{12}","kind":"erase","subject":\{/)
  await (await openStoreReader(db)).close()
})

test('the list has the permissions of the store', async (t) => {
  const { db, list } = await makeStores(t)
  assert.equal(statSync(list).mode & 0o777, statSync(db).mode & 0o777)
})

test('the command that brings a store up to its list names both, for a shell', async (t) => {
  const { folder, list, copy } = await makeStores(t)
  const moved = join(folder, 'a copy.db')
  renameSync(copy, moved)
  const options = ['--db', moved, '--withheld', list]
  const { err } = await runCommand(folder, ['imports', ...options])
  const [, words = assert.fail(err)] = /with: dossier (migrate .*)\n$/.exec(err) ?? []
  const { stdout } = spawnSync('sh', ['-c', `'${dossier}' ${words}`], { encoding: 'utf8' })
  assert.match(stdout, /applied an entry of /)
  await mustRun(folder, ['imports', ...options])
})

test('a copy of another registry is not restored next to a list that is not its own', async (t) => {
  const { folder, db, list } = await makeStores(t)
  const [other, copy] = [join(folder, 'other.db'), join(folder, 'other-copy.db')]
  await importRows(other, 'employees', rows)
  await mustRun(folder, `backup ${copy} --db ${other}`)
  const before = readFileSync(db)
  const restore = ['restore', copy, '--db', db, '--replace-foreign']
  const refused = await runCommand(folder, restore)
  assert.match(refused.err, /is the list of what another registry withholds/)
  const adopt = `withhold adopt --db ${copy} --withheld ${list}`
  assert.ok(refused.err.includes(`dossier ${adopt} --reason TEXT --by NAME`), refused.err)
  assert.deepEqual(readFileSync(db), before)
  const why = ['--yes', '--reason', 'x', '--by', 'y']
  await mustRun(folder, [...adopt.split(' '), ...why])
  await mustRun(folder, restore)
  assert.deepEqual([has(db), records(db)], [false, 1])
})

test('the command line says what an order lacks', async (t) => {
  const { folder } = await makeStores(t)
  const why = ['--reason', 'x', '--by', 'y']
  for (const [args, message] of [
    [[], /needs an action; choose from mask, erase, list, lift, adopt/],
    [['earse'], /did you mean erase\?/],
    [['erase'], /needs a RESOURCE; choose from rights/],
    [['erase', 'employes', '1'], /: employes is not a resource; did you mean employees\?/],
    [['mask', 'jobs', '1', ...why], /jobs have no personal fields to mask/],
    [['mask', 'company', '7', ...why], /a company cannot be masked/],
    [['mask', 'employees', '7', ...why, '--text', 'x'], /--text applies to companies only/],
    [['erase', 'employees', 'x', ...why], /"x" is not an ID/],
    [
      ['erase', 'employees', '012', ...why],
      /"012" is not an ID; it takes a number, or FIELD=VALUE/,
    ],
    [['erase', 'company', 'x', ...why], /name one company by its id, or by its register number/],
    [
      ['erase', 'employees', 'position=x', ...why],
      /position is not a personal field of employees; choose from /,
    ],
    [['erase', 'employees', 'name=', ...why], /name= needs a value/],
    [['erase', 'employees', '1', '2', ...why], /takes one ID, or FIELD=VALUE/],
    [['erase', 'employees', '1', '--by', 'y'], /--reason is required/],
    [['erase', 'employees', '1', '--reason', 'y'], /--by is required/],
    [['erase', 'employees', '1', ...why, '--day', 'today'], /--day is "today"/],
    [['erase', 'employees', '1', ...why, '--day', '2026-02-30'], /--day is "2026-02-30"/],
    [['erase', 'company', ...why], /name one company by its id/],
    [['lift', 'x', ...why], /takes one NUMBER/],
  ] as const) {
    checkExit(await runCommand(folder, ['withhold', ...args, '--db', 'registry.db']), 2, message)
  }
})

test('a list that cannot be looked up is not taken for none', async (t) => {
  const { folder, copy, list } = await makeStores(t)
  const says = /is behind .*, the list of what is withheld/
  await assert.rejects(openStoreReader({ db: copy, withheld: list }), says)
  // A link to itself cannot be entered, as a folder of another user.
  symlinkSync('lost', join(folder, 'lost'))
  const withheld = join(folder, 'lost', 'list.ndjson')
  for (const open of [openStoreReader, (at: StorePlace) => openStoreWriter(at, resources)]) {
    await assert.rejects(open({ db: copy, withheld }), /cannot be used \(ELOOP: /)
  }
})
