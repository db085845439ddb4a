// `dossier export`: a complete copy, whole or not at all; loaded again, it gives the same records.

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { zstdDecompressSync } from 'node:zlib'
import { resources } from '../../src/resources/index.ts'
import type { Manifest } from '../../src/store/exports/manifest.ts'
import { openStoreReader } from '../../src/store/open-store.ts'
import { readServed } from '../support/follower.ts'
import { importInto, importRows, makePlace } from '../support/import-rows.ts'
import { makeRecords } from '../support/make-record.ts'
import { openReader } from '../support/open-reader.ts'
import { mustRun, runCommand } from '../support/run-command.ts'
import { checkExit } from '../support/run-dossier.ts'
import { patientBounds, storeAt } from '../support/store-at.ts'
import { keepStore } from '../support/store-state.ts'
import { writeCopy } from '../support/write-copy.ts'

const companies = [1, 2, 3]

/** A store with records of every resource, hostile texts among them. */
async function fill(db: string): Promise<void> {
  for (const resource of resources) {
    const rows = makeRecords(resource, 30).map((record, n) => ({
      ...record,
      company_id: companies[n % companies.length],
    }))
    await importRows(db, resource.name, rows)
  }
  const named = [{ id: 3, jurisdiction: 'GB', identifier: '3', name: 'Ü "quoted",\nline' }]
  await importRows(db, 'companies', named)
}

const read = (path: string) => readFileSync(path)
const manifestIn = (folder: string) =>
  JSON.parse(read(join(folder, 'manifest.json')).toString()) as Manifest

test('a copy has every record and company, and says so in its manifest (12.6)', async (t) => {
  const { folder, db } = makePlace(t)
  await fill(db)
  const formats = 'ndjson.zst,parquet,csv.zst'
  const args = ['export', join(folder, 'copies'), '--format', formats, '--db', storeAt(db)]
  const { out } = await mustRun(folder, args)
  assert.match(out, /^Version 6 in .*copies\/6: records, bytes\n/)
  const own = join(folder, 'copies', '6')
  const manifest = manifestIn(own)
  assert.match(manifest.cursor, /^6\.[0-9a-f]{16}\.[0-9a-z]{8}$/)
  assert.deepEqual(
    manifest.resources.map(({ resource, records, companies: of }) => [resource, records, of]),
    [['companies', 3, 3], ...resources.map(({ name }) => [name, 30, 3])],
  )
  const names = manifest.resources.flatMap(({ files }) => files.map(({ name }) => name))
  assert.deepEqual(readdirSync(own).sort(), [...names, 'manifest.json', 'withheld'].sort())
  // Not every user of the machine may read what only keys with a scope may.
  for (const name of readdirSync(own)) assert.equal(statSync(join(own, name)).mode & 0o777, 0o600)
  const copy = new Map<string, string>()
  for (const { resource, sha256, files } of manifest.resources) {
    for (const { name, bytes, sha256: ofFile } of files) {
      const content = read(join(own, name))
      assert.equal(content.length, bytes)
      assert.equal(hash('sha256', content), ofFile, name)
    }
    const text = zstdDecompressSync(read(join(own, `${resource}-1.ndjson.zst`))).toString()
    assert.equal(hash('sha256', text), sha256)
    for (const line of text.trimEnd().split('\n')) {
      const { company_id: company, ...record } = JSON.parse(line) as Record<string, unknown>
      const of = String(company ?? record['id'])
      copy.set(`${resource} ${of} ${String(record['id'])}`, JSON.stringify(record))
    }
  }
  const reader = await openReader(t, db)
  assert.deepEqual(copy, await readServed(reader, companies, 6))
})

for (const format of ['ndjson.zst', 'parquet', 'csv.zst'] as const) {
  test(`${format} is loaded back by an import, byte for byte`, async (t) => {
    const { folder, db } = makePlace(t)
    await fill(db)
    const own = join(folder, 'copies')
    const args = ['export', own, '--format', format, '--json', '--db', storeAt(db)]
    const { out } = await mustRun(folder, args)
    const manifest = JSON.parse(out) as Manifest
    const again = join(folder, 'again.db')
    for (const { resource, files } of manifest.resources) {
      if (resource === 'companies') continue
      const paths = files.map(({ name }) => {
        const path = join(own, String(manifest.version), name)
        if (!name.endsWith('.zst')) return path
        const plain = join(folder, name.replace('.zst', ''))
        writeFileSync(plain, zstdDecompressSync(read(path)))
        return plain
      })
      const report = await importInto(again, resource, paths)
      assert.deepEqual([report.counts.inserted, report.counts.refused], [30, 0])
    }
    const [one, other] = await Promise.all(
      [db, again].map((path) => openStoreReader(storeAt(path), patientBounds)),
    )
    assert.ok(one && other)
    t.after(() => Promise.all([one.close(), other.close()]))
    const records = async (reader: typeof one) => {
      const served = await readServed(reader, companies, (await reader.readRegistry()).version)
      return new Map([...served].filter(([key]) => !key.startsWith('companies')))
    }
    assert.deepEqual(await records(other), await records(one))
  })
}

test('files have a bounded number of records', async (t) => {
  const { folder, db } = makePlace(t)
  await fill(db)
  const options = { formats: ['csv.zst'], version: 2, recordsMax: 20 } as const
  const manifest = await writeCopy(db, join(folder, 'copies'), options)
  const rights = manifest.resources.find(({ resource }) => resource === resources[0]?.name)
  assert.deepEqual(
    rights?.files.map(({ name, records }) => [name, records]),
    [20, 10].map((records, n) => [`${resources[0]?.name}-${n + 1}.csv.zst`, records]),
  )
  const last = join(folder, 'copies', '2', rights.files.at(-1)?.name ?? '')
  assert.equal(zstdDecompressSync(read(last)).toString().trimEnd().split('\r\n').length, 11)
})

test('long listings and many short ones are copied as they were at a version', async (t) => {
  const { folder, db } = makePlace(t)
  const [rights] = resources
  assert.ok(rights)
  const long = 7_000
  const ids = [1, ...Array.from({ length: 110 }, (_, n) => n + 2)]
  const rows = makeRecords(rights, long + 600).map((record, n) => ({
    company_id: n < long ? 1 : ids[1 + (n % 110)],
    ...record,
  }))
  await importRows(db, rights.name, rows)
  const changed = rows.filter((_, n) => n % 50 === 0)
  const later = changed.map((row) => ({ ...row, name: 'Another name', company_id: 900 }))
  await importRows(db, rights.name, [...changed, ...later])
  const copies = join(folder, 'copies')
  const recordsMax = 1_999
  const manifest = await writeCopy(db, copies, { version: 1, recordsMax }, [rights])
  const own = manifest.resources.find(({ resource }) => resource === rights.name)
  assert.deepEqual([own?.records, own?.companies], [rows.length, ids.length])
  const lines = (own?.files ?? []).flatMap(({ name, records }) => {
    const text = zstdDecompressSync(read(join(copies, '1', name))).toString()
    const some = text.trimEnd().split('\n')
    assert.equal(some.length, records)
    assert.ok(records <= recordsMax)
    return some
  })
  assert.ok(
    lines.sort().join('\n') ===
      rows
        .map((row) => JSON.stringify(row))
        .sort()
        .join('\n'),
  )
})

test('an export that cannot be made says why, and leaves nothing', async (t) => {
  const { folder, db } = makePlace(t)
  await fill(db)
  const run = (...args: string[]) => runCommand(folder, ['export', ...args, '--db', storeAt(db)])
  const copies = join(folder, 'copies')
  const other = join(folder, 'other')
  mkdirSync(other)
  writeFileSync(join(other, 'notes.txt'), '')
  const full = join(folder, 'file')
  writeFileSync(full, '')
  for (const [args, code, message] of [
    [[], 2, /name one folder: export DIR/],
    [[copies, '--format', 'xml'], 2, /--format is xml; choose from ndjson.zst, parquet, csv.zst/],
    [[copies, '--version', 'x'], 2, /--version is "x"; it takes a version number/],
    [[copies, '--version', '99'], 1, /version 99 cannot be exported; name one from 1 to 6/],
    [[other], 1, /other has other files \(notes.txt\); name a folder of its own/],
    [[full], 1, /file is a file; name a folder$/m],
    [
      [join(full, 'in')],
      1,
      /in cannot be written \(ENOTDIR: [^\n]*\); free some space or name another/,
    ],
  ] as const) {
    checkExit(await run(...args), code, message)
  }
  assert.deepEqual(readdirSync(copies), [])
  // What a killed export has left is removed by the next one.
  for (const pid of [999_999_999, process.pid]) {
    mkdirSync(join(copies, `.3.${pid}.some-id.partial`))
  }
  assert.equal((await run(copies)).code, 0)
  assert.deepEqual(readdirSync(copies), ['6'])
  assert.match((await run(copies)).err, /already has a copy of version 6/)
})

test('a company that is too large for Parquet is copied in the other formats', async (t) => {
  const { folder, db } = makePlace(t)
  const texts = Array.from({ length: 120 }, (_, n) => [`text ${n}`, 'x'.repeat(65_536)] as const)
  const company = { jurisdiction: 'GB', identifier: '1', ...Object.fromEntries(texts) }
  for (const source of ['one', 'two', 'three']) {
    await importRows(db, 'companies', [company], { source })
  }
  const copies = join(folder, 'copies')
  const run = (formats: string) =>
    runCommand(folder, ['export', copies, '--format', formats, '--db', storeAt(db)])
  const says = /^dossier: companies-1.parquet [^\n]*too large[^\n]*\n$/m
  checkExit(await run('ndjson.zst,parquet'), 1, says)
  assert.deepEqual(readdirSync(copies), [])
  assert.equal((await run('ndjson.zst,csv.zst')).code, 0)
})

test('an export of a version of which there is a copy is done', async (t) => {
  const { folder, db } = makePlace(t)
  await importRows(db, 'rights', [{ id: 1, company_id: 7 }])
  const run = (...options: string[]) =>
    runCommand(folder, ['export', 'copies', ...options, '--db', storeAt(db)])
  const first = await run()
  checkExit(first, 0, /^$/)
  const manifest = read(join(folder, 'copies', '1', 'manifest.json')).toString()
  const again = await run()
  checkExit(again, 0, /^copies already has a copy of version 1; nothing to do\n$/)
  assert.equal(again.out, first.out)
  const json = await run('--json')
  checkExit(json, 0, /; nothing to do$/m)
  assert.deepEqual(JSON.parse(json.out), JSON.parse(manifest))
  assert.equal(read(join(folder, 'copies', '1', 'manifest.json')).toString(), manifest)
  const refusal = /version 1; to write it again, remove copies\/1 first$/m
  checkExit(await run('--format', 'csv.zst'), 1, refusal)
  checkExit(await run('--format', 'ndjson.zst,csv.zst'), 1, refusal)
  await importRows(db, 'rights', [{ id: 2, company_id: 7 }])
  const earlier = await run('--version', '1')
  checkExit(earlier, 0, /version 1; nothing to do\n$/)
  assert.equal(earlier.out, first.out)
  checkExit(await run(), 0, /^$/)
  assert.deepEqual(readdirSync(join(folder, 'copies')).sort(), ['1', '2'])
})

test('copies of two registries are not mixed', async (t) => {
  const { folder, db } = makePlace(t)
  const other = join(folder, 'other.db')
  await importRows(db, 'rights', [{ id: 1, company_id: 7 }])
  const run = (of: string) => runCommand(folder, `export copies --db ${of}`)
  assert.equal((await run(storeAt(db))).code, 0)
  const refusal = /^dossier: copies\/1 is a copy of another registry; name another folder\n$/
  for (const id of [1, 2]) {
    await importRows(other, 'rights', [{ id, company_id: 7 }])
    checkExit(await run(storeAt(other)), 1, refusal)
  }
  assert.deepEqual(readdirSync(join(folder, 'copies')), ['1'])
})

test('a copy of a history that a restored backup has abandoned has to be removed first', async (t) => {
  const { folder, db } = makePlace(t)
  const copies = join(folder, 'copies')
  const run = () => runCommand(folder, ['export', copies, '--db', storeAt(db)])
  const load = (id: number) => importRows(db, 'rights', [{ id, company_id: 7 }])
  await load(1)
  const restore = await keepStore(db)
  await load(2)
  assert.equal((await run()).code, 0)
  const { cursor } = manifestIn(join(copies, '2'))
  await restore()
  await load(3)
  checkExit(await run(), 1, /version 2; to write it again, remove \S+2 first$/m)
  rmSync(join(copies, '2'), { recursive: true })
  assert.equal((await run()).code, 0)
  assert.notEqual(manifestIn(join(copies, '2')).cursor, cursor)
  assert.deepEqual(readdirSync(copies), ['2'])
  assert.match((await run()).err, /already has a copy of version 2/)
})
