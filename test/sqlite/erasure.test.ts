// What is deleted from a store cannot be found in its files any more, and what was written in vain
// to a full disk takes no room. A file system in memory stands in for that: mounting it needs root.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, test, type TestContext } from 'node:test'
import { zstdDecompressSync } from 'node:zlib'
import { importRows, makeFolder, makePlace, queryValue } from '../support/import-rows.ts'
import { mustRun, runCommand } from '../support/run-command.ts'
import { checkExit } from '../support/run-dossier.ts'
import { askPort, runServer } from '../support/run-server.ts'
import { changeStore, keepOpen } from '../support/store-state.ts'

const name = 'Zsófia Nemespataki'

/** How often the store's files contain a text. */
function occurrences(db: string, text: string): number {
  const files = [db, `${db}-wal`].filter((path) => existsSync(path))
  const counts = files.map((path) => bytesOf(path).toString('latin1').split(latin(text)))
  return counts.reduce((sum, parts) => sum + parts.length - 1, 0)
}

/** What a file has, decompressed. */
function bytesOf(path: string): Buffer {
  const bytes = readFileSync(path)
  return path.endsWith('.zst') ? zstdDecompressSync(bytes) : bytes
}

/** All files below a folder. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

/** Has the commands of a test write temporary files into a folder. */
function setTemporary(t: TestContext, folder: string): void {
  const before = process.env['TMPDIR']
  process.env['TMPDIR'] = folder
  t.after(() => {
    if (before === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = before
  })
}

const latin = (text: string) => Buffer.from(text).toString('latin1')

/** Enough persons for pages and pieces to split, every third of them with the name. */
function persons(round: number): object[] {
  return Array.from({ length: 3_000 }, (_, n) => ({
    id: ((n * 7_919) % 3_000) + 1,
    company_id: (n % 40) + 1,
    name: n % 3 === 0 ? name : `Person ${n}`,
    position: `Position ${round} ${'x'.repeat((n * (round + 3)) % 700)}`,
  }))
}

/** Imports the persons three times, always with other lengths, so that pages split and merge. */
async function loadPersons(db: string): Promise<void> {
  for (const round of [1, 2, 3]) await importRows(db, 'employees', persons(round))
  const companies = [{ jurisdiction: 'HU', identifier: '1', owner: name }]
  await importRows(db, 'companies', companies, { isSnapshot: true })
}

/** Removes everybody of that name, and keeps the others. */
async function removePersons(db: string): Promise<void> {
  const others = persons(3).filter((_, n) => n % 3 !== 0)
  await importRows(db, 'employees', others, { isSnapshot: true })
  const companies = [{ jurisdiction: 'HU', identifier: '1', owner: 'somebody' }]
  await importRows(db, 'companies', companies, { isSnapshot: true })
}

test('after pruning, no removed person is left in the file or its log', async (t) => {
  const { folder, db } = makePlace(t, 'registry.db')
  await loadPersons(db)
  keepOpen(t, db)
  await removePersons(db)
  assert.ok(occurrences(db, name) > 0, 'the past still has them')
  await mustRun(folder, `prune --yes --keep 0d --db ${db}`)
  assert.equal(occurrences(db, name), 0)
})

test('what a source said about a company that it lacks is removed as the guide describes', async (t) => {
  const { folder, db } = makePlace(t, 'registry.db')
  const one = { jurisdiction: 'HU', identifier: '1' }
  const others = Array.from({ length: 500 }, (_, n) => ({ ...one, identifier: `x${n}`, name: 'X' }))
  await importRows(db, 'companies', [{ ...one, name }, ...others], { source: 'hu' })
  await importRows(db, 'companies', others, { source: 'hu', isSnapshot: true })
  const prune = () => runCommand(folder, `prune --yes --keep 0d --db ${db}`)
  assert.equal((await prune()).code, 0)
  assert.ok(occurrences(db, name) > 0, 'it is shown as what the source last said')
  await importRows(db, 'companies', [{ ...one, name: null }], { source: 'hu' })
  assert.equal((await prune()).code, 0)
  assert.equal(occurrences(db, name), 0)
})

test('a withheld person is in no file after compact: store, log, list, usage, exports, temporary', async (t) => {
  const { folder, db } = makePlace(t, 'registry.db')
  const temporary = join(folder, 'temporary')
  const exportsFolder = join(folder, 'exports')
  mkdirSync(temporary)
  setTemporary(t, temporary)
  await loadPersons(db)
  await mustRun(folder, `export ${exportsFolder} --db ${db}`)
  const isIn = () => filesIn(folder).filter((file) => occurrences(file, name) > 0)
  assert.ok(isIn().includes(db) && isIn().some((file) => file.startsWith(exportsFolder)))
  const made = await mustRun(folder, `keys create --name a --db ${db}`)
  const server = await runServer(t, db, ['--usage-seconds', '1'])
  const path = '/api/v1/companies/1/employees?version=2'
  const page = async () => (await askPort(server.port, path, { key: made.out.trim() })).body
  assert.ok((await page()).includes(latin(name)))
  const where = ['--db', db, '--exports', exportsFolder]
  const asked = ['--reason', 'a test', '--by', 'a tester', '--yes']
  const erased = await mustRun(folder, [
    'withhold',
    'erase',
    'employees',
    `name=${name}`,
    ...[...asked, ...where],
  ])
  assert.doesNotMatch(erased.err, /copies/)
  const owner = ['withhold', 'mask', 'company', 'HU', '1', '--text', name]
  const masked = await mustRun(folder, [...owner, ...asked, '--db', db])
  const says = /Complete copies, .* still contain it: run dossier compact --exports DIR/
  assert.match(masked.err, says)
  assert.ok(!(await page()).includes(latin(name)), 'no cache has it')
  // What comes again is read, and passes through temporary files.
  await importRows(db, 'employees', persons(3))
  await mustRun(folder, ['compact', ...where])
  // The file of rows is what the operator imports.
  const own = () => isIn().filter((file) => !file.endsWith('.ndjson') || file.includes('withheld'))
  assert.ok(existsSync(`${db}-wal`), 'the server keeps the log')
  assert.deepEqual(own(), [])
  server.stop()
  await server.ended()
  const files = filesIn(folder)
  for (const what of ['withheld', 'usage']) assert.ok(files.some((file) => file.includes(what)))
  assert.deepEqual(own(), [])
})

test('compact removes what was deleted without being overwritten, and frees its space', async (t) => {
  const { folder, db } = makePlace(t, 'registry.db')
  await loadPersons(db)
  // As an earlier version deleted, or sqlite3.
  changeStore(
    db,
    `pragma secure_delete = off;
     delete from segments; delete from heads; delete from record_ids; delete from record_keys`,
  )
  assert.ok(occurrences(db, name) > 0)
  const server = keepOpen(t, db)
  const before = readFileSync(db).length
  const run = await mustRun(folder, `compact --db ${db} --json`)
  const {
    bytes_before: first,
    bytes_after: after,
    notes,
  } = JSON.parse(run.out) as Record<string, unknown>
  assert.deepEqual([first, after, notes], [before, readFileSync(db).length, []])
  assert.ok(Number(after) < before / 3)
  assert.equal(occurrences(db, name), 0)
  assert.equal(server.prepare('select count(*) as n from imports').get()?.['n'], 4)
})

test('compact reports that a reader of an earlier state keeps the space in use', async (t) => {
  const { folder, db } = makePlace(t, 'registry.db')
  await importRows(db, 'employees', persons(1))
  const reader = keepOpen(t, db)
  reader.exec('begin')
  reader.prepare('select count(*) from employees_view').get()
  const run = await mustRun(folder, `compact --db ${db}`)
  const says = /compacted: [\d,]+ bytes before, [\d,]+ after\.\nA reader still uses an earlier/
  assert.match(run.out, says)
  assert.equal(reader.prepare('select count(*) as n from employees_view').get()?.['n'], 3_000)
})

const mebibyte = 1_048_576

function mount(...args: string[]): boolean {
  return spawnSync('mount', ['-t', 'tmpfs', ...args]).status === 0
}

const endings: (() => void)[] = []
after(() => {
  for (const end of endings.toReversed()) end()
})

test('compact on a full disk removes what it wrote, while a store is read', async (t) => {
  // Its removal comes after the end of what is mounted there.
  const folder = makeFolder({ after: (work) => void endings.push(work) })
  if (!mount('-o', 'size=64m', 'tmpfs', folder)) return t.skip('a tmpfs cannot be mounted here')
  endings.push(() => void spawnSync('umount', ['-l', folder]))
  const db = join(folder, 'registry.db')
  const description = 'x'.repeat(2_000)
  const rows = Array.from({ length: 2_000 }, (_, n) => ({ id: n + 1, company_id: 7, description }))
  await importRows(db, 'jobs', rows)
  keepOpen(t, db)
  const { size } = statSync(db)
  const room = size + mebibyte
  assert.ok(mount('-o', `remount,size=${Math.ceil(room / 1_024)}k`, 'tmpfs', folder))
  checkExit(await runCommand(makeFolder(t), `compact --db ${db}`), 1, /full/)
  assert.equal(statSync(`${db}-wal`).size, 0)
  assert.equal(queryValue(db, 'select count(*) from jobs_view'), 2_000)
})
