// A list of what is withheld is that of one registry: every other one refuses it, until it adopts
// it (contract 13).

import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { isServerStore } from '../../src/config/setting-kinds.ts'
import { describeStore, openStoreReader } from '../../src/store/open-store.ts'
import { withSession } from '../../src/store/postgres/connect.ts'
import { shellWord } from '../../src/text/shell-word.ts'
import { importRows, makeFolder, queryStore, writeRows } from '../support/import-rows.ts'
import { mustRun, runCommand } from '../support/run-command.ts'
import { storeAt } from '../support/store-at.ts'
import { keepStore, storeBytes } from '../support/store-state.ts'
import { gb, identifier, jane, person } from '../support/withheld.ts'
import { withhold } from '../support/write-store.ts'

const why = ['--reason', 'imported anew', '--by', 'legal']

const companies = ['1', '2', '3'].map((number) => ({
  jurisdiction: 'GB',
  identifier: number,
  name: `Company ${number}`,
  secretary: number === '1' ? jane : 'Ann',
}))
const employees = [
  { ...gb('1'), key: 'jane', identifier, name: jane, position: 'Chair' },
  { ...gb('1'), key: 'john', identifier: '2', name: 'John Roe' },
  { ...gb('2'), key: 'mary', identifier: '3', name: 'Mary Major' },
  { ...gb('3'), key: 'zoe', identifier: '4', name: 'Zoe Last' },
]
const people = [jane, identifier, 'Mary Major', 'Zoe Last']

/** Has the store assign its ids in the order of the rows, so that another order gives others. */
async function load(path: string, isReversed: boolean, db = storeAt(path)): Promise<void> {
  const ordered = <T>(rows: readonly T[]) => (isReversed ? rows.toReversed() : rows)
  await importRows(path, 'companies', ordered(companies), { at: db })
  for (const row of ordered(employees)) await importRows(path, 'employees', [row], { at: db })
}

/** The id that a store has assigned to the record of a key. */
async function idOf(path: string, key: string): Promise<number> {
  const rows = await queryStore(path, 'select key, id from record_keys')
  return Number(rows.find((row) => String(row['key']).includes(key))?.['id'])
}

/** The id of the company with a number. */
const companyOf = async (path: string, number: string) => {
  const rows = await queryStore(path, `select id from companies where identifier = '${number}'`)
  return Number(rows[0]?.['id'])
}

/**
 * A registry with a list of three orders in force and a lifted one, in a file; and another one with
 * the same companies and people under other ids, as if it were made from the sources anew.
 */
async function makeRegistries(t: TestContext) {
  const folder = makeFolder(t)
  const [old, anew] = [join(folder, 'old.db'), join(folder, 'new.db')]
  const file = join(folder, 'list.ndjson')
  await load(old, false)
  const at = { db: storeAt(old), withheld: file }
  await withhold(at, 'mask', person)
  await withhold(at, 'erase', { resource: 'employees', id: await idOf(old, 'mary') })
  await withhold(at, 'erase', { company: ['GB', '3'] })
  await withhold(at, 'erase', { resource: 'employees', id: await idOf(old, 'john') })
  const lifted = ['withhold', 'lift', '4', ...why, '--db', at.db, '--withheld', file]
  await mustRun(folder, lifted)
  /** Where a command finds a registry, and the list. */
  const where = (path = anew) => ['--db', storeAt(path), '--withheld', file]
  return {
    folder,
    old,
    anew,
    file,
    where,
    /** Adopts the list, in the registry that is made anew unless another is named. */
    adopt: (options: readonly string[] = [...why, '--yes'], path = anew) =>
      runCommand(folder, ['withhold', 'adopt', ...options, ...where(path)]),
  }
}

const namesIn = async (path: string) => {
  const rows = await queryStore(path, 'select name from employees_view')
  return rows.map(({ name }) => String(name)).sort()
}

const companiesIn = async (path: string) => {
  const rows = await queryStore(path, 'select identifier from companies order by identifier')
  return rows.map(({ identifier: number }) => number)
}

test('a list of another registry is refused by every command, and nothing is created or changed', async (t) => {
  const { folder, anew, file, where } = await makeRegistries(t)
  const rows = writeRows(join(folder, 'rows.ndjson'), employees.slice(0, 1))
  const refused =
    /^dossier: (\S+) is the list of what another registry .*: dossier withhold adopt (.*) --reason/
  const checkRefused = async (command: string) => {
    const run = await runCommand(folder, [...command.split(' '), ...where()])
    assert.equal(run.code, 1, command)
    const [, name, options] = refused.exec(run.err) ?? assert.fail(`${command}: ${run.err}`)
    const named = `--db ${shellWord(describeStore(storeAt(anew)))} --withheld ${file}`
    assert.deepEqual([name, options], [file, named], command)
    assert.equal(run.err.split('\n').length, 2)
  }
  for (const command of [`import employees ${rows}`, 'migrate']) await checkRefused(command)
  const verified = await runCommand(folder, ['verify', '--db', storeAt(anew)])
  assert.match(verified.err, /does not exist|holds no registry/)
  await load(anew, true)
  const [before, list] = [await storeBytes(anew), readFileSync(file, 'utf8')]
  for (const command of [
    ...['serve --port 0', `import employees ${rows}`, `import employees ${rows} --dry-run`],
    ...['verify', 'compact', 'migrate', 'imports', 'find GB 1', 'export copies', 'keys list'],
    ...['prune --keep 1d --yes', 'revert 1', 'withhold list', 'sources'],
    ...['withhold erase employees 7 --reason r --by b --yes', 'backup copy.db'],
  ]) {
    await checkRefused(command)
  }
  await assert.rejects(openStoreReader({ db: storeAt(anew), withheld: file }), /another registry/)
  assert.deepEqual(await storeBytes(anew), before)
  assert.equal(readFileSync(file, 'utf8'), list)
  assert.equal(existsSync(join(folder, 'copies')), false)
})

test('an adopted list withholds the same people, now and later, although they have other ids', async (t) => {
  const { folder, old, anew, file, where, adopt } = await makeRegistries(t)
  const missing = await adopt(['--dry-run'])
  assert.match(missing.err, /does not exist; without --dry-run, this creates it/)
  await load(anew, true)
  // One whom the former registry did not have.
  const more = { ...gb('2'), key: 'second', identifier, name: jane, position: 'Chair' }
  await importRows(anew, 'employees', [more])
  const third = await companyOf(anew, '3')
  assert.notEqual(await idOf(anew, 'zoe'), await idOf(old, 'zoe'), 'other ids')
  const [before, list] = [await storeBytes(anew), readFileSync(file, 'utf8')]
  const dry = await adopt(['--dry-run', '--json'])
  const asked = await adopt(why)
  assert.match(asked.err, /employees {2}4 now[^]*nothing was changed; to adopt the list, add --yes/)
  assert.deepEqual(await storeBytes(anew), before)
  assert.equal(readFileSync(file, 'utf8'), list)
  const done = await adopt([...why, '--yes', '--json'])
  const [planned, real] = [dry, done].map(({ out }) => JSON.parse(out) as Record<string, unknown>)
  assert.deepEqual(real?.['touched'], planned?.['touched'])
  const [place = {}] = (real as { touched: object[] }).touched
  const members = ['resource', 'company_id', 'id', 'erased', 'present', 'states']
  assert.deepEqual(Object.keys(place), members)
  assert.deepEqual([real?.['number'], real?.['names']], [6, planned?.['names']])
  assert.deepEqual(await namesIn(anew), ['John Roe', '[withheld]', '[withheld]'])
  const bytes = await storeBytes(anew)
  for (const text of people) assert.equal(bytes.includes(text), false, text)
  assert.deepEqual(await companiesIn(anew), ['1', '2'])
  const listed = await runCommand(folder, ['withhold', 'list', ...where()])
  assert.match(listed.out, /6 .* adopted by registry [0-9a-f]{12} +by legal +imported anew/)
  // The former registry does not have it any more.
  const former = { db: storeAt(old), withheld: file }
  await assert.rejects(openStoreReader(former), /what another registry withholds/)
  const refused = (await adopt()).err
  assert.match(refused, /is not the list of another registry; there is nothing to adopt/)

  // The former registry has erased a company with this id; the other one is erased here.
  const other = { company_id: await companyOf(anew, '1'), key: 'other', name: 'Other Person' }
  const late = { company_id: third, key: 'late', name: 'Late Comer' }
  const ids = () => queryStore(anew, 'select id from employees_view order by id')
  const known = await ids()
  const path = writeRows(join(folder, 'again.ndjson'), [...employees, more, other, late])
  const imported = await runCommand(folder, ['import', 'employees', path, '--json', ...where()])
  const counts = JSON.parse(imported.out) as Record<string, number>
  const { inserted, unchanged, withheld, erased } = counts
  assert.deepEqual([inserted, unchanged, withheld, erased], [1, 3, 5, 3])
  assert.deepEqual((await ids()).slice(0, -1), known)
  assert.equal((await storeBytes(anew)).includes(jane), false)
  await mustRun(folder, ['verify', ...where()])
})

test('people in texts are withheld without the record that named them', async (t) => {
  const { anew, adopt } = await makeRegistries(t)
  await importRows(anew, 'companies', companies.toReversed())
  assert.ok((await storeBytes(anew)).includes(jane))
  assert.equal((await adopt()).code, 0)
  assert.equal((await storeBytes(anew)).includes(jane), false)
})

test('a backup from before an adoption is brought up to the list, and the former registry adopts it back (9)', async (t) => {
  const { folder, old, anew, file, where, adopt } = await makeRegistries(t)
  await load(anew, true)
  const restore = await keepStore(anew)
  const adopted = await adopt()
  assert.match(adopted.out, /Adopted the list as entry 6, in version 8\. Run dossier compact/)
  await restore()
  await assert.rejects(openStoreReader({ db: storeAt(anew), withheld: file }), /by 6 entries/)
  const migrated = await runCommand(folder, ['migrate', ...where()])
  assert.match(migrated.out, /applied 6 entries of /)
  assert.deepEqual(await namesIn(anew), ['John Roe', '[withheld]'])
  await withhold({ db: storeAt(anew), withheld: file }, 'erase', { company: ['GB', '2'] })
  const back = await adopt(undefined, old)
  assert.match(back.out, /Adopted the list as entry 8, in version/, back.err)
  assert.deepEqual(await companiesIn(old), ['1'])
  await (await openStoreReader({ db: storeAt(old), withheld: file })).close()
})

test('a registry that does not exist yet adopts a list before its first import', async (t) => {
  const { folder, anew, where, adopt } = await makeRegistries(t)
  assert.match((await adopt(why)).err, /nothing was changed; to adopt the list, add --yes/)
  const verified = await runCommand(folder, ['verify', ...where()])
  assert.match(verified.err, /does not exist|holds no registry/)
  const says = /^Adopted the list as entry 6; the store contains nothing that it withholds\.$/m
  assert.match((await adopt()).out, says)
  const path = writeRows(join(folder, 'rows.ndjson'), employees.toReversed())
  const imported = await runCommand(folder, ['import', 'employees', path, ...where()])
  assert.match(imported.out, /withheld +3/)
  assert.deepEqual(await namesIn(anew), ['John Roe', '[withheld]'])
})

test('a registry whose list is empty or missing adopts nothing', async (t) => {
  const folder = makeFolder(t)
  const path = join(folder, 'registry.db')
  const file = join(folder, 'list.ndjson')
  await load(path, false)
  const at = { db: storeAt(path), withheld: file }
  const adopt = ['withhold', 'adopt', ...why, '--yes', '--db', at.db, '--withheld', file]
  const nothing = /is not the list of another registry; there is nothing to adopt/
  assert.match((await runCommand(folder, adopt)).err, nothing)
  // As a kill leaves it that stops the first order.
  writeFileSync(file, '{"format":3,"salt":"00"}\n{"number":1,"reg')
  await (await openStoreReader(at)).close()
  assert.match((await runCommand(folder, adopt)).err, nothing)
  await withhold(at, 'mask', person)
  assert.equal(readFileSync(file, 'utf8').split('\n').length, 3)
})

test('a registry that withholds by its own list adopts no other', async (t) => {
  const { anew, file, adopt } = await makeRegistries(t)
  await load(anew, true)
  await withhold(anew, 'mask', person)
  const list = readFileSync(file, 'utf8')
  assert.match((await adopt()).err, /is not the list of what the store withholds/)
  assert.equal(readFileSync(file, 'utf8'), list)
})

test('a list in a schema of its own is refused and adopted like a file', async (t) => {
  const path = join(makeFolder(t), 'registry.db')
  const db = storeAt(path)
  if (!isServerStore(db)) {
    t.skip('SQLite has a file')
    return
  }
  await load(path, false)
  await withhold(path, 'mask', person)
  const drop = `do $$ begin execute 'drop schema ' || current_schema() || ' cascade'; end $$`
  await withSession(db, (client) => client.query(drop))
  const rows = writeRows(`${path}.again.ndjson`, employees)
  const refused = await runCommand('.', `import employees ${rows} --db ${db}`)
  assert.match(refused.err, /: the schema dossier_test_\w+_withheld is the list of what another /)
  const schemas = await withSession(db, (client) => client.query('select current_schema() as name'))
  assert.deepEqual(schemas.rows, [{ name: null }], 'nothing is created')
  const adopted = await runCommand('.', ['withhold', 'adopt', ...why, '--yes', '--db', db])
  assert.match(adopted.out, /Adopted the list as entry 2/)
  const imported = await runCommand('.', `import employees ${rows} --db ${db}`)
  assert.match(imported.out, /withheld +1/)
  assert.equal((await storeBytes(path)).includes(jane), false)
})
