// Commands on history: imports, company, verify, backup and prune.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { hash } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { makeChangedRegistry, typeRegistry } from '../support/changed-registry.ts'
import { importRows, makeFolder, makePlace, query, writeRows } from '../support/import-rows.ts'
import { mustRun, runCommand } from '../support/run-command.ts'
import { checkExit } from '../support/run-dossier.ts'
import type { FoundCompany } from '../../src/store/reading.ts'
import { storeAt, storeKind } from '../support/store-at.ts'
import { type StoreFault, storeFaults } from '../support/store-faults.ts'
import { changeStore } from '../support/store-state.ts'

// Backup and upgrade of a file; test/postgres/ tests those of PostgreSQL.
const isFile = storeKind === 'sqlite'

type Json = Readonly<Record<string, unknown>>

test('imports lists the imports, newest first', async (t) => {
  const folder = makeFolder(t)
  const db = await typeRegistry(folder)
  const { out } = await mustRun(folder, `imports --db ${db}`)
  const sha256 = hash('sha256', readFileSync(join(folder, 'b.csv')))
  const [, , , block = ''] = [...out.split('\n\n')].reverse()
  assert.match(block, /^version 4 .* UTC {2}rights from default, in \d+\.\d s\n/)
  assert.match(out, /^version 2 {2}[\d-]{10} [\d:]+ UTC {2}companies .* of 2025-02-28, snapshot, /m)
  assert.match(
    out,
    /^ {2}1 read: 0 inserted, 1 updated, 0 unchanged, 0 refused, 1 removed; 3 events recorded$/m,
  )
  assert.ok(out.includes(`  b.csv  59 bytes  ${sha256}\n`), out)

  const json = await runCommand(folder, `imports --limit 2 --json --db ${db}`)
  const list = JSON.parse(json.out) as Json[]
  const versions = list.map(({ version }) => version)
  assert.deepEqual(versions, [4, 3])
  assert.match(String(list[0]?.['committed_at']), /^\d{4}-[\d-]+T[\d:]+\.\d{3}Z$/)
  assert.deepEqual(Object.keys(list[0] ?? {}), [
    ...['version', 'committed_at', 'started_at', 'resource', 'source', 'as_of', 'snapshot'],
    ...['reverts', 'reverted_by', 'read', 'inserted', 'updated', 'unchanged', 'refused'],
    ...['removed', 'companies_created', 'events', 'files'],
  ])
  await importRows(join(folder, 'registry.db'), 'jobs', [{ id: 77, company_id: 77 }])
  assert.match((await mustRun(folder, `imports --db ${db}`)).out, /; 1 company created$/m)
  const one = { jurisdiction: 'GB', identifier: '1', name: 'Acme Ltd', town: 'York' }
  writeRows(join(folder, 'one.ndjson'), [one])
  const later = ['--source', 'register', '--as-of', '2025-03-01', '--accept', '--db', db]
  await mustRun(folder, ['import', 'companies', 'one.ndjson', ...later])
  assert.match((await mustRun(folder, `imports --db ${db}`)).out, /; 1 event recorded$/m)
})

test('company shows attributes, totals and the latest events', async (t) => {
  const folder = makeFolder(t)
  const db = await makeChangedRegistry(folder)
  const { out } = await mustRun(folder, `company GB 1 --db ${db}`)
  assert.equal(
    out,
    `GB 1  Acme Ltd  (company 1000000000001)

Attributes from register, since 2025-02-28 (version 2), last seen 2025-02-28
  name  Acme Ltd
  town  Ips wich

Listings
  rights         1
  employees      0
  jobs           0
  pos_terminals  0
  events         2

Latest events (2 of 2)
  2025-02-28  town  Ipswich → Ips wich
  2025-02-28  name  Acme → Acme Ltd
`,
  )
  const gone = await runCommand(folder, `company 1000000000002 --db ${db}`)
  const absent = 'absent since 2025-02-28 (version 2), last seen 2025-01-31'
  assert.ok(gone.out.includes(`\nAttributes from register, ${absent}\n`), gone.out)
  assert.match(gone.out, /^ {2}2025-02-28 {2}register_entry {2}present → absent$/m)

  const json = await runCommand(folder, `company GB 1 --json --db ${db}`)
  const told = JSON.parse(json.out) as Json
  assert.deepEqual(Object.keys(told), [
    ...['id', 'jurisdiction', 'identifier', 'name', 'sources', 'listings', 'latest'],
  ])
  const attributes = { name: 'Acme Ltd', town: 'Ips\nwich' }
  const day = { as_of: '2025-02-28T00:00:00Z', last_seen: '2025-02-28T00:00:00Z' }
  const source = { source: 'register', present: true, version: 2, ...day, attributes }
  assert.deepEqual(told['sources'], [source])
  const { events } = told['listings'] as Record<string, object>
  const values = ['name', 'town'].map((value) => ({ value, count: 1 }))
  assert.deepEqual(events, { total: 2, version: 2, counts: { attr: values } })
})

test('find finds companies by words of their names, and by their number', async (t) => {
  const path = join(makeFolder(t), 'registry.db')
  const db = storeAt(path)
  await importRows(path, 'companies', [
    { jurisdiction: 'GB', identifier: '09876543', name: 'Northwind Trading Ltd' },
    { jurisdiction: 'DE', identifier: '09876543', name: 'Südwind' },
    { jurisdiction: 'FR', identifier: '7', name: 'Northwind\nTransport 09876543' },
    ...Array.from({ length: 60 }, (_, n) => ({
      jurisdiction: 'XX',
      identifier: `x${n}`,
      name: `Wide ${n}`,
    })),
  ])
  const find = (...args: string[]) => runCommand('.', ['find', ...args, '--db', db])
  assert.equal(
    (await find('northwind', 'tra')).out,
    `ID             JURISDICTION  NUMBER    NAME
1000000000001  GB            09876543  Northwind Trading Ltd
1000000000003  FR            7         Northwind Transport 09876543
`,
  )
  const found = async (...args: string[]) =>
    (JSON.parse((await find(...args, '--json')).out) as FoundCompany[]).map(({ name }) => name)
  const inFrance = 'Northwind\nTransport 09876543'
  assert.deepEqual(await found('09876543'), ['Südwind', 'Northwind Trading Ltd', inFrance])
  assert.deepEqual(await found('09876543', '--jurisdiction', 'GB'), ['Northwind Trading Ltd'])
  for (const number of [['GB:09876543'], ['GB', '09876543']]) {
    assert.deepEqual(await found(...number), ['Northwind Trading Ltd'])
  }
  assert.equal((await found('wide')).length, 60)
  assert.match((await find('wide')).out, /\nand 10 more: add a word, or print all with --json\n$/)
  const none = await find('nobody', '--jurisdiction', 'GB')
  assert.equal(none.code, 1)
  assert.match(none.err, /^dossier: no company of GB has the name or number "nobody"; try fewer /)
  assert.match(none.err, /letters or, if names are in another column: .* --name-attribute\n$/)
  assert.match((await find('9876543')).err, /"9876543"; write a number as its register does, with /)
})

test('company says since when its attributes hold, and when it was last seen', async (t) => {
  const { folder, db: path } = makePlace(t, 'registry.db')
  const db = storeAt(path)
  const load = (day: string, isSnapshot: boolean, name: string, identifier = '1') =>
    importRows(path, 'companies', [{ jurisdiction: 'GB', identifier, name }], {
      source: 'register',
      isSnapshot,
      asOf: `${day}T00:00:00Z`,
    })
  const heading = async () => {
    const { out, err } = await runCommand(folder, `company GB 1 --db ${db}`)
    return /^Attributes from register, (.*)$/m.exec(out)?.[1] ?? err
  }
  await load('2020-01-15', false, 'Acme')
  assert.equal(await heading(), 'since 2020-01-15 (version 1), last seen 2020-01-15')
  await load('2026-06-30', true, 'Acme')
  // Of another company: no snapshot, so it says nothing about this one.
  await load('2026-07-01', false, 'Bolt', '2')
  assert.equal(await heading(), 'since 2020-01-15 (version 1), last seen 2026-06-30')
  await load('2026-07-02', false, 'Acme Ltd')
  assert.equal(await heading(), 'since 2026-07-02 (version 4), last seen 2026-07-02')
  await load('2026-07-03', true, 'Bolt', '2')
  assert.equal(await heading(), 'absent since 2026-07-03 (version 5), last seen 2026-07-02')
  for (const version of ['5', '4']) {
    await mustRun(folder, ['revert', version, '--db', db])
  }
  assert.equal(await heading(), 'since 2020-01-15 (version 7), last seen 2026-06-30')
})

// test/api/company-names.test.ts has all forms that are near.
test('company suggests companies for a mistyped name', async (t) => {
  const path = join(makeFolder(t), 'registry.db')
  const db = storeAt(path)
  await importRows(path, 'companies', [{ jurisdiction: 'GB', identifier: '09876543' }])
  for (const [identifier, near] of [
    ['9876543', /; did you mean GB:09876543\?$/m],
    ['11111111', /is not in the registry$/m],
  ] as const) {
    checkExit(await runCommand('.', ['company', 'gb', identifier, '--db', db]), 1, near)
  }
  const one = await runCommand('.', `company GB:09876543 --db ${db}`)
  const two = await runCommand('.', `company GB 09876543 --db ${db}`)
  assert.deepEqual([one.code, one.out], [0, two.out])
  const unknown = /^dossier: Company 98 .* registry; if that is .*, see: dossier find 98$/m
  checkExit(await runCommand('.', ['company', '98', '--db', db]), 1, unknown)
  const id = /\(company (\d+)\)/.exec(one.out)?.[1]
  for (const word of ['GB:', ':7', 'seven', '0', `0${id}`]) {
    const run = await runCommand('.', ['company', word, '--db', db])
    checkExit(run, 2, /^dossier: name one company by .* register number \(GB:.*: dossier find$/m)
  }
})

test('verify reports a sound store and its counts', async (t) => {
  const folder = makeFolder(t)
  const db = await makeChangedRegistry(folder)
  const { code, out, err } = await runCommand(folder, `verify --db ${db}`)
  assert.deepEqual([code, err], [0, ''])
  assert.match(out, /^ {2}rights {25,}1\n {2}rights, past states {12,}1$/m)
  const json = await mustRun(folder, `verify --json --db ${db}`)
  const { counts, past_states: past } = JSON.parse(json.out) as Record<string, Json>
  assert.deepEqual([counts?.['rights'], past?.['rights']], [1, 1])
  assert.match(out, /^No faults found\.$/m)
})

const lackingIndex: StoreFault = {
  title: 'an index that lacks a row',
  make: (db) =>
    Promise.resolve(
      changeStore(
        db,
        `pragma writable_schema = 1;
         update sqlite_schema set rootpage = (
           select rootpage from sqlite_schema where name = 'record_keys_by_id'
         ) where name = 'company_states_by_name'`,
      ),
    ),
  told: /^file: /m,
}

// test/store/verify.test.ts has every content fault; these show how one is reported.
const faults = [...storeFaults.slice(0, 1), ...(isFile ? [lackingIndex] : [])]

for (const { title, make, told } of faults) {
  test(`verify reports ${title} and exits with 1 (F5)`, async (t) => {
    const folder = makeFolder(t)
    const path = await makeChangedRegistry(folder)
    await make(path)
    const { code, out, err } = await runCommand(folder, `verify --db ${path}`)
    assert.match(err, told)
    assert.equal(code, 1)
    assert.match(out, /^The store is damaged: restore a backup/m)
    const json = await runCommand(folder, `verify --json --db ${path}`)
    const { sound, faults: list } = JSON.parse(json.out) as { sound: boolean; faults: string[] }
    assert.deepEqual([sound, list.length > 0], [false, true])
  })
}

if (isFile)
  test('backup copies a store while another process holds its lock, and the copy verifies', async (t) => {
    const folder = makeFolder(t)
    const db = await makeChangedRegistry(folder)
    const writer = new DatabaseSync(db)
    writer.exec('begin immediate; delete from heads')
    const { out } = await mustRun(folder, `backup copy.db --db ${db}`)
    const { size } = statSync(join(folder, 'copy.db'))
    assert.equal(out, `${db} copied to copy.db (${size.toLocaleString('en')} bytes).\n`)
    writer.exec('rollback')
    writer.close()
    await mustRun(folder, 'verify --db copy.db')
    for (const table of ['heads', 'segments', 'record_ids', 'imports', 'keys']) {
      const sql = `select * from ${table}`
      assert.deepEqual(query(join(folder, 'copy.db'), sql), query(db, sql))
    }
    // A copy is an ordinary store: it accepts imports and is in WAL mode.
    assert.equal(query(join(folder, 'copy.db'), 'pragma journal_mode')[0]?.['journal_mode'], 'wal')
    const more = ['import', 'rights', 'rights.ndjson', '--db', 'copy.db']
    await mustRun(folder, more)
    const told = readdirSync(folder).filter((name) => name.includes('.part'))
    assert.deepEqual(told, [])
  })

if (isFile)
  test('of two backups with the same name, one is complete and the other is refused', async (t) => {
    const folder = makeFolder(t)
    const db = await makeChangedRegistry(folder)
    const backUp = () => runCommand(folder, `backup copy.db --db ${db}`)
    const [one, other] = await Promise.all([backUp(), backUp()])
    assert.deepEqual(new Set([one.code, other.code]), new Set([0, 1]))
    assert.match(one.err + other.err, /copy\.db already exists; name a new file for the copy/)
    await mustRun(folder, 'verify --db copy.db')
    assert.ok(readdirSync(folder).every((name) => !name.includes('.part')))
  })

test('prune removes past states, reports how many, and the store stays sound', async (t) => {
  const folder = makeFolder(t)
  const db = await makeChangedRegistry(folder)
  const dry = await runCommand(folder, `prune --keep 0d --dry-run --db ${db}`)
  assert.match(dry.out, /^Past states to be deleted\n[^]*Dry run: nothing was deleted\.\n$/)
  const asked = await runCommand(folder, `prune --keep 0d --db ${db}`)
  assert.match(asked.err, /^Past states to be deleted\n[^]*nothing was .* to delete these, add --/)
  // With nothing to delete, there is nothing to ask.
  for (const yes of ['', ' --yes']) {
    const kept = await mustRun(folder, `prune${yes} --keep 1d --db ${db}`)
    assert.match(kept.out, /^ {2}rights {22,}0$/m)
    assert.match(kept.out, /^The history is complete from version 1 on\.$/m)
  }
  const all = ['prune', '--yes', '--keep', '0d', '--json', '--db', db]
  const { out } = await mustRun(folder, all)
  const told = { earliest_version: 4, past_states: { attributes: 2, rights: 1, events: 0 } }
  assert.partialDeepStrictEqual(JSON.parse(out), told)
  await mustRun(folder, `verify --db ${db}`)
  assert.equal(query(db, 'select * from events_view').length, 3)
})

test('compact reports sizes, and the store stays sound', async (t) => {
  const folder = makeFolder(t)
  const db = await makeChangedRegistry(folder)
  const { out } = await mustRun(folder, `compact --db ${db}`)
  assert.match(out, /^[^\n]+ compacted: [\d,]+ bytes before, [\d,]+ after\.$/m)
  await mustRun(folder, `verify --db ${db}`)
  assert.equal(query(db, 'select * from events_view').length, 3)
})
