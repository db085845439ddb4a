// The first import of a file writes it once, without a log; nobody else can open it meanwhile.

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { importInto, importRows, makePlace, queryValue } from '../support/import-rows.ts'
import { mustRun, runCommand } from '../support/run-command.ts'
import { checkExit, runDossier, startDossier } from '../support/run-dossier.ts'
import { until } from '../support/until.ts'

const rows = 1_200
const countJobs = 'select count(*) from jobs_view'

/** Rows that take more memory than a connection keeps. */
function writeJobs(folder: string, count = rows): string {
  const file = join(folder, 'jobs.ndjson')
  const job = { company_id: 7, description: 'x'.repeat(20_000) }
  const lines = Array.from({ length: count }, (_, n) => JSON.stringify({ id: n + 1, ...job }))
  writeFileSync(file, lines.join('\n'))
  return file
}

const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0
const modeOf = (db: string) => queryValue(db, 'pragma journal_mode')

test('a first import writes to the file directly, and leaves it with an empty log', async (t) => {
  const { folder, db } = makePlace(t, 'registry.db')
  let log = 0
  let refusals = 0
  await importInto(db, 'jobs', [writeJobs(folder)], {
    onProgress() {
      log = Math.max(log, sizeOf(`${db}-wal`))
      if (!existsSync(`${db}-journal`)) return
      // A server that began now would stall as soon as the file is written.
      using other = new DatabaseSync(db, { readOnly: true, timeout: 0 })
      assert.throws(() => other.prepare(countJobs).get(), /locked/)
      refusals += 1
    },
  })
  assert.ok(refusals > 0)
  // Its tables were created in the log.
  assert.ok(log < 1_000_000, `${log} bytes of ${sizeOf(db)}`)
  assert.equal(queryValue(db, countJobs), rows)
  assert.equal(modeOf(db), 'wal')
  assert.ok(!existsSync(`${db}-journal`))
})

test('a first import of a file that others have open keeps them reading', async (t) => {
  const { folder, db } = makePlace(t, 'registry.db')
  await importRows(db, 'jobs', [{ id: 1, company_id: 7 }], { isDryRun: true })
  using other = new DatabaseSync(db, { readOnly: true, timeout: 0 })
  const count = other.prepare('select count(*) as n from jobs_view')
  assert.equal(count.get()?.['n'], 0)
  let reads = 0
  await importInto(db, 'jobs', [writeJobs(folder)], {
    onProgress: () => {
      assert.equal(count.get()?.['n'], 0)
      reads += 1
    },
  })
  assert.ok(reads > 0)
  assert.equal(count.get()?.['n'], rows)
})

test('a killed first import leaves a file that any import repairs', async (t) => {
  const { folder, db } = makePlace(t, 'registry.db')
  const file = writeJobs(folder, 1_800)
  const { child, ended } = startDossier(t, folder, `import jobs ${file} --db ${db}`)
  await until(() => sizeOf(db) > 4_000_000, 'it writes to the file')
  child.kill('SIGKILL')
  await ended
  const read = await runCommand(folder, `imports --db ${db}`)
  // What was added only after the end of the file does not have to be taken back.
  if (read.code === 0) assert.match(read.out, /^Nothing has been imported yet/)
  else assert.match(read.err, /is incomplete.* any import repairs it\n$/)
  await mustRun(folder, ['import', 'jobs', writeJobs(folder, 2), '--db', db])
  await mustRun(folder, `verify --db ${db}`)
  assert.equal(queryValue(db, countJobs), 2)
  assert.equal(modeOf(db), 'wal')
})

test('a first import that fails or is interrupted leaves an empty store', async (t) => {
  const { folder, db } = makePlace(t, 'registry.db')
  writeFileSync(join(folder, 'cut.json'), '[{"company_id":7}')
  const { code } = await runCommand(folder, ['import', 'jobs', 'cut.json', '--db', db])
  assert.equal(code, 1)
  assert.equal(queryValue(db, countJobs), 0)
  const { child, ended } = startDossier(t, folder, `import jobs - --db ${db}`)
  child.stdin.write('{"company_id":7}\n')
  await until(() => hasOpen(child.pid, db), 'it has the store open')
  child.kill('SIGINT')
  assert.equal((await ended).code, 130)
  await mustRun(folder, ['import', 'jobs', writeJobs(folder, 2), '--db', db])
  assert.equal(queryValue(db, countJobs), 2)
  assert.equal(modeOf(db), 'wal')
})

test('commands wait for a first import, or say that one is under way', async (t) => {
  const { folder, db } = makePlace(t, 'registry.db')
  await importRows(db, 'jobs', [{ id: 1, company_id: 7 }], { isDryRun: true })
  const first = new DatabaseSync(db)
  first.exec('pragma journal_mode = delete; begin exclusive')
  const waiting = [
    startDossier(t, folder, ['import', 'jobs', writeJobs(folder, 2), '--db', db]),
    startDossier(t, folder, `keys create --name a --db ${db}`),
  ]
  const read = await runDossier(folder, `imports --db ${db}`)
  checkExit(read, 1, /another process is writing to it; try again when it has finished\n$/)
  const line = 'another command is writing to the store; waiting for it to finish'
  await Promise.all(waiting.map(({ until: said }) => said(new RegExp(line))))
  first.exec('rollback')
  first.close()
  for (const { code, err } of await Promise.all(waiting.map(({ ended }) => ended))) {
    assert.equal(code, 0, err)
  }
  assert.equal(queryValue(db, countJobs), 2)
  assert.equal(modeOf(db), 'wal')
})

/** Whether a process has a file open, as Linux shows it. */
function hasOpen(pid: number | undefined, path: string): boolean {
  const files = `/proc/${pid}/fd`
  try {
    return readdirSync(files).some((file) => readlinkSync(join(files, file)) === path)
  } catch {
    // The process has just closed a file.
    return false
  }
}

const skip = process.platform !== 'linux'

test('a command whose file a failed first import removes says so', { skip }, async (t) => {
  const { folder, db } = makePlace(t, 'registry.db')
  await importRows(db, 'jobs', [{ id: 1, company_id: 7 }], { isDryRun: true })
  const first = new DatabaseSync(db)
  first.exec('pragma journal_mode = delete; begin exclusive')
  const { child, ended } = startDossier(t, folder, `keys create --name a --db ${db}`)
  await until(() => hasOpen(child.pid, db), 'it waits for the file')
  rmSync(db)
  first.exec('rollback')
  first.close()
  const message = /registry\.db: was removed or replaced meanwhile; run the command again$/m
  checkExit(await ended, 1, message)
  assert.equal(existsSync(db), false)
})
