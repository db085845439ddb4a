// `dossier restore`: a backup takes a store's place while servers go on.

import assert from 'node:assert/strict'
import {
  cpSync,
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { storedChecks } from '../../src/import/rows/check-stored.ts'
import { resources } from '../../src/resources/index.ts'
import { openStoreWriter, restoreStore } from '../../src/store/open-store.ts'
import type { RestoreWatch } from '../../src/store/inspecting.ts'
import { importRows, makeFolder, makePlace, query, queryValue } from '../support/import-rows.ts'
import { mustRun, runCommand } from '../support/run-command.ts'
import { checkExit, startDossier } from '../support/run-dossier.ts'
import { changeStore, storeDigest } from '../support/store-state.ts'
import { askPort, runServer } from '../support/run-server.ts'

const rows = (count: number, name: string) =>
  Array.from({ length: count }, (_, n) => ({ id: n + 1, company_id: 7, name }))

/** A store at version 2, and its backup at version 1. */
async function makeStores(t: TestContext, name = '') {
  const { folder, db } = makePlace(t, 'registry.db')
  const copy = join(folder, 'copy.db')
  await importRows(db, 'rights', rows(300, `first${name}`))
  await mustRun(folder, `backup ${copy} --db ${db}`)
  await importRows(db, 'rights', rows(400, `second${name}`))
  return { folder, db, copy }
}

const records = (db: string) => query(db, 'select record from rights_records order by id')
/** The stores that were replaced; reading one leaves files of SQLite next to it. */
const kept = (folder: string) =>
  readdirSync(folder).filter((name) => /-replaced-.*(?:\.db|\.part)$/.test(name))

test('servers serve the restored state without a restart, and never an old page for a new one', async (t) => {
  const { folder, db, copy } = await makeStores(t)
  const made = await runCommand(folder, `keys create --name a --db ${db}`)
  await mustRun(folder, `backup with-key.db --db ${db}`)
  const server = await runServer(t, db)
  const ask = (tag = '') =>
    askPort(server.port, '/api/v1/companies/7/rights?limit=1', {
      key: made.out.trim(),
      fields: [`If-None-Match: ${tag}`],
    })
  const tagOf = async () => {
    const { status, headers, body } = await ask()
    assert.equal(status, 200, body)
    return { tag: headers['etag'] ?? '', version: headers['data-version'] }
  }
  await tagOf()
  await importRows(db, 'rights', rows(10, 'third'))
  const third = await tagOf()
  assert.equal(third.version, '3')
  const run = await mustRun(folder, `restore with-key.db --db ${db} --yes`)
  assert.match(run.out, /^\S+ restored from with-key\.db: version 2, committed 20\S+\.$/m)
  assert.doesNotMatch(run.out, /Restart/)
  const second = await tagOf()
  assert.deepEqual([second.version, second.tag === third.tag], ['2', false])
  // The version numbers go another way from here.
  await importRows(db, 'rights', rows(10, 'another third'))
  const again = await ask(third.tag)
  assert.equal(again.status, 200)
  assert.equal(again.headers['data-version'], '3')
  // The key is not in the older copy.
  const old = await mustRun(folder, `restore ${copy} --db ${db} --yes`)
  await sleep(1_000)
  assert.equal((await ask()).status, 403)
  assert.match(old.out, /The keys are those of the copy/)
})

test('the replaced store is kept next to it, and can be restored itself', async (t) => {
  const { folder, db, copy } = await makeStores(t)
  const bytes = readFileSync(copy)
  const before = records(db)
  const run = await mustRun(folder, `restore ${copy} --db ${db} --yes`)
  const beside = readdirSync(folder).filter((name) => name.startsWith('copy.db'))
  assert.deepEqual(beside, ['copy.db'])
  assert.deepEqual(readFileSync(copy), bytes)
  assert.deepEqual(records(db), records(copy))
  const [name = ''] = kept(folder)
  assert.match(name, /^registry-replaced-\d{4}-\d\d-\d\d-\d{6}\.db$/)
  assert.match(
    run.out,
    new RegExp(`^The replaced store is .*${name}; delete it when all is well`, 'm'),
  )
  assert.deepEqual(records(join(folder, name)), before)
  await mustRun(folder, ['verify', '--db', name])
  await mustRun(folder, `verify --db ${db}`)
  assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600)

  await mustRun(folder, ['restore', name, '--db', db, '--yes'])
  assert.deepEqual(records(db), before)
  assert.equal(kept(folder).length, 2)
})

test('a missing store is restored; the log of another one is not taken for its own', async (t) => {
  const { folder, db, copy } = await makeStores(t)
  const moved = join(folder, 'moved.db')
  renameSync(db, moved)
  // A first import that was killed leaves a journal, which would undo what was restored.
  for (const log of ['registry.db-journal', 'registry.db-wal']) {
    writeFileSync(join(folder, log), 'changes')
    const says = `${log} is left over from another store and may have its changes; move it `
    for (const command of [`restore ${copy} --db ${db} --yes`, `backup ${db} --db ${copy}`]) {
      checkExit(await runCommand(folder, command), 1, new RegExp(says))
    }
    assert.ok(!existsSync(db))
    renameSync(join(folder, log), `${moved}-log`)
  }
  await mustRun(folder, `restore ${copy} --db ${db} --yes`)
  assert.deepEqual(records(db), records(copy))
  assert.deepEqual(kept(folder), [])
})

test('a store without a log, as a killed first import leaves it, is replaced', async (t) => {
  const { folder, db, copy } = await makeStores(t)
  changeStore(db, 'pragma journal_mode = delete')
  await mustRun(folder, `restore ${copy} --db ${db} --yes`)
  assert.deepEqual(records(db), records(copy))
  assert.equal(queryValue(db, 'pragma journal_mode'), 'wal')
})

test('a store that is too damaged to be opened has to be moved away first', async (t) => {
  const { folder, db, copy } = await makeStores(t)
  truncateSync(db, 100_000)
  const damaged = readFileSync(db)
  const command = `restore ${copy} --db ${db} --yes`
  checkExit(await runCommand(folder, command), 1, /too damaged to be overwritten; .* move it away /)
  assert.deepEqual(readFileSync(db), damaged)
  renameSync(db, join(folder, 'damaged.db'))
  await mustRun(folder, command)
  assert.deepEqual(records(db), records(copy))
})

test('what cannot be restored is refused in one line, and the store is kept', async (t) => {
  const { folder, db, copy } = await makeStores(t)
  const before = records(db)
  linkSync(db, join(folder, 'link.db'))
  writeFileSync(join(folder, 'x.csv'), 'id,company_id\n1,7\n'.repeat(9))
  /** A copy that something was done to. */
  const spoilt = (name: string, spoil: (path: string) => void) => {
    cpSync(copy, join(folder, name))
    spoil(join(folder, name))
    return name
  }
  const changed = (name: string, sql: string) => spoilt(name, (path) => changeStore(path, sql))
  // With it, a revoked key would still be valid.
  const undo = 'begin update keys set revoked_at = null where id = new.id; end'
  for (const [file, says] of [
    [db, /is the store itself; name a backup/],
    ['link.db', /link\.db is the store itself/],
    ['none.db', /none\.db is not a file; name one that backup has made/],
    ['x.csv', /x\.csv is not a Dossier store/],
    [
      spoilt('cut.db', (path) => truncateSync(path, 200_000)),
      /cut\.db is damaged or not a store; restore another backup/,
    ],
    [
      changed('wrong.db', 'update heads set total = total + 1'),
      /wrong\.db is damaged \([^\n]+\); restore another backup: dossier verify/,
    ],
    [
      changed('new.db', 'pragma user_version = 99'),
      /new\.db was written by another version of Dossier \(format 99, this one reads \d+\)/,
    ],
    [
      changed('undoing.db', `create trigger undo after update on keys ${undo}`),
      /undoing\.db has a trigger, "undo", which no version of Dossier makes: .* drop the trigger$/m,
    ],
  ] as const) {
    const run = await runCommand(folder, `restore ${file} --db ${db} --yes`)
    checkExit(run, 1, says)
    assert.match(run.err, /^dossier: [^\n]+\n$/, file)
    assert.deepEqual(records(db), before, file)
    assert.deepEqual(kept(folder), [], file)
    assert.equal(existsSync(join(folder, `${file}-shm`)), false, `nothing is next to ${file}`)
  }
})

test('a database of another program is never replaced', async (t) => {
  const { folder, copy } = await makeStores(t)
  changeStore(join(folder, 'other.db'), 'create table t (x)')
  const says = /^dossier: other\.db is not a Dossier store; check --db, or move it away\n$/
  const run = await runCommand(folder, `restore ${copy} --db other.db --yes`)
  assert.match(run.err, says)
  assert.equal(queryValue(join(folder, 'other.db'), 'select count(*) from t'), 0)
})

const watchOf = (more: Partial<RestoreWatch>): RestoreWatch => ({
  onWait: () => undefined,
  startedAt: Date.now(),
  lostMax: Infinity,
  checks: storedChecks(resources),
  onCheck: () => undefined,
  copying: () => ({ onProgress: () => undefined, signal: new AbortController().signal }),
  ...more,
})

test('what another command commits just before the store is overwritten is kept', async (t) => {
  const { folder, db, copy } = await makeStores(t)
  using writer = new DatabaseSync(db)
  let isLate = false
  const watch = watchOf({
    copying(step) {
      if (step === 'restoring' && !isLate) {
        isLate = true
        writer.exec(`insert into sources (id, name) values (99, 'late')`)
      }
      return { onProgress: () => undefined, signal: new AbortController().signal }
    },
  })
  const replaced = await restoreStore(db, copy, resources, watch)
  assert.ok(isLate)
  assert.equal(queryValue(db, 'select count(*) from sources where id = 99'), 0)
  assert.equal(queryValue(replaced ?? '', 'select count(*) from sources where id = 99'), 1)
  assert.equal(kept(folder).length, 1)
})

test('a store that was put in the place of a missing one meanwhile is not replaced', async (t) => {
  const { folder, db, copy } = await makeStores(t)
  const good = join(folder, 'good.db')
  renameSync(db, good)
  const before = records(good)
  const copying = () => {
    const onProgress = (bytes: number) => bytes > 0 && existsSync(good) && renameSync(good, db)
    return { onProgress, signal: new AbortController().signal }
  }
  const late = restoreStore(db, copy, resources, watchOf({ copying }))
  const says = /another command has created .*registry\.db meanwhile; run the command/
  await assert.rejects(late, says)
  assert.deepEqual(records(db), before)
  assert.deepEqual(kept(folder), [])
})

test('the next copy or compaction removes what killed commands have left next to a store', async (t) => {
  const { folder, db, copy } = await makeStores(t)
  const { pid: killed } = spawnSync(process.execPath, ['--version'])
  const of = (pid: number) =>
    ['registry.db', 'registry-2026-11-30.db'].flatMap((name) => [
      `${name}.${pid}.0123abcd.withholding`,
      `${name}.${pid}.0123abcd.withholding-wal`,
      `${name}.${pid}.0123abcd.withholding.${pid}.4567abcd.part-journal`,
    ])
  const others = [...of(process.ppid), 'registry.db.part', `notes.${killed}.part`]
  for (const command of [['backup', 'another.db'], ['restore', copy, '--yes'], ['compact']]) {
    for (const name of [...of(killed), ...others]) writeFileSync(join(folder, name), '770412345678')
    await mustRun(folder, [...command, '--db', db])
    const left = readdirSync(folder)
    const told = left.filter((name) => of(killed).includes(name))
    assert.deepEqual(told, [], command.join(' '))
    const found = left.filter((name) => others.includes(name))
    assert.deepEqual(found, others.toSorted(), command.join(' '))
  }
})

test('an interrupted restore leaves the store, and nothing next to it', async (t) => {
  // More than one step of a copy.
  const { folder, db, copy } = await makeStores(t, 'x'.repeat(50_000))
  const before = records(db)
  for (const step of ['keeping the replaced store', 'restoring']) {
    const stop = new AbortController()
    const copying = (now: string) => ({
      onProgress: (bytes: number) => bytes > 0 && now === step && stop.abort('SIGINT'),
      signal: stop.signal,
    })
    const running = restoreStore(db, copy, resources, watchOf({ copying }))
    await assert.rejects(running, (reason) => reason === 'SIGINT')
    assert.deepEqual(records(db), before)
    assert.deepEqual(kept(folder), [])
  }
  await importRows(db, 'rights', rows(1, 'third'))
})

test('a command that begins to write just before the store is overwritten is waited for', async (t) => {
  const { db, copy } = await makeStores(t)
  using writer = new DatabaseSync(db)
  const steps: string[] = []
  const onWait = () => {
    steps.push('waiting')
    writer.exec('commit')
  }
  const copying = (step: string) => {
    if (!steps.includes(step)) {
      steps.push(step)
      if (step === 'restoring') writer.exec('begin immediate')
    }
    return { onProgress: () => undefined, signal: new AbortController().signal }
  }
  await restoreStore(db, copy, resources, watchOf({ copying, onWait }))
  assert.deepEqual(steps, ['keeping the replaced store', 'restoring', 'waiting'])
  assert.deepEqual(records(db), records(copy))
})

test('a restore waits for the command that is writing', async (t) => {
  const { db, copy } = await makeStores(t)
  using writer = new DatabaseSync(db)
  writer.exec(`begin immediate; insert into sources (id, name) values (99, 'before')`)
  let waits = 0
  const onWait = () => {
    waits += 1
    setTimeout(() => writer.exec('commit'), 300)
  }
  const replaced = await restoreStore(db, copy, resources, watchOf({ onWait }))
  assert.equal(waits, 1)
  assert.equal(queryValue(replaced ?? '', 'select count(*) from sources where id = 99'), 1)
})

test('a version that comes while a restore waits is not lost without consent', async (t) => {
  const { folder, db, copy } = await makeStores(t)
  await mustRun(folder, `restore ${copy} --db ${db} --yes`)
  const before = kept(folder)
  using writer = new DatabaseSync(db)
  writer.exec(`begin immediate`)
  const restore = startDossier(t, folder, `restore ${copy} --db ${db}`)
  await restore.until(/waiting/i)
  writer.exec(`create temp table late as select * from imports;
    update late set version = 2, lineage = 'late';
    insert into imports select * from late; commit`)
  const says = /registry\.db has got another version meanwhile, which would be lost; run the/
  checkExit(await restore.ended, 1, says)
  assert.equal(queryValue(db, 'select max(version) from imports'), 2)
  assert.deepEqual(kept(folder), before)
})

test('a command does not write to a file that another one has replaced', async (t) => {
  const { folder, db, copy } = await makeStores(t)
  const writer = await openStoreWriter(db, resources)
  t.after(() => writer.close())
  cpSync(copy, join(folder, 'next.db'))
  renameSync(join(folder, 'next.db'), db)
  const says = /registry\.db was replaced meanwhile; run the command again/
  await assert.rejects(writer.prune(Date.now(), { onWait: () => undefined }), says)
})

test('a copy that lacks imports needs consent; one of another registry is named as such', async (t) => {
  const folder = makeFolder(t)
  const [db, other, copy] = ['a.db', 'b.db', 'copy.db'].map((name) => join(folder, name))
  assert.ok(db && other && copy)
  const run = (...args: string[]) => runCommand(folder, args)
  await importRows(db, 'rights', [{ id: 1, company_id: 7 }], { kind: 'sqlite' })
  await importRows(other, 'rights', [{ id: 1, company_id: 7 }], { kind: 'sqlite' })
  await run('backup', copy, '--db', db)
  assert.equal((await run('restore', copy, '--db', db)).code, 0, 'nothing would be lost')
  await importRows(db, 'rights', [{ id: 2, company_id: 7 }], { kind: 'sqlite' })
  const older = await run('restore', copy, '--db', db)
  checkExit(older, 1, /lacks 1 version of .*which would be lost\.\n.* add --yes\n$/)
  assert.ok(!readdirSync(folder).some((name) => name.endsWith('-shm')))
  const before = await storeDigest(db)
  for (const option of ['--db', '--yes']) {
    const foreign = await run('restore', other, '--db', db, ...(option === '--yes' ? [option] : []))
    checkExit(foreign, 1, /of another registry, and lacks .*\n.* add --replace-foreign\n$/)
  }
  assert.equal(await storeDigest(db), before, 'nothing has changed')
  const replaced = await run('restore', other, '--db', db, '--replace-foreign')
  assert.equal(replaced.code, 0)
  // A running server counts uses under the registry's id, which it has read at its start.
  assert.match(replaced.out, /^Restart the servers of this store: they still count uses of keys /m)
})
