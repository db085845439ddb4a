// Names of columns and files: allowed values, without hidden meaning.

import assert from 'node:assert/strict'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { OperatorError } from '../../src/config/operator-error.ts'
import { folderWith, toldAs, writeParquet } from '../support/import-folder.ts'
import { importInto, type ImportOptions, queryValue } from '../support/import-rows.ts'
import { readSaid } from '../support/said.ts'

/** What is said about the only company, as text. */
async function onlyAttributes(db: string): Promise<string | undefined> {
  const [said, ...others] = await readSaid(db)
  assert.equal(others.length, 0)
  return said?.attributes
}

describe('columns', () => {
  test('60,000 columns or keys are one clear error', async (t) => {
    const names = Array.from({ length: 60_000 }, (_, n) => `c${n}`)
    const { load } = folderWith(t, {
      'x.csv': `${names.join(',')}\n${names.join(',')}\n`,
      'x.ndjson': names.map((name) => `{"${name}":1}\n`).join(''),
    })
    const says = /has more than the maximum of 1,000 columns; remove those that are not needed$/
    await assert.rejects(load('companies', ['x.csv']), says)
    const mapping = 'select c1 as identifier from source'
    await assert.rejects(load('companies', ['x.ndjson'], { mapping }), says)
  })

  test('1,000 columns are read', async (t) => {
    const names = Array.from({ length: 998 }, (_, n) => `c${n}`)
    const header = `jurisdiction,identifier,${names.join(',')}\n`
    const { load } = folderWith(t, { 'x.csv': `${header}GB,1,${names.join(',')}\n` })
    assert.equal((await load('companies', ['x.csv'])).counts.inserted, 1)
  })

  test('keys that differ only in case cannot be columns of a mapping', async (t) => {
    const { load } = folderWith(t, { 'x.ndjson': '{"ID":"1","name":"b"}\n{"id":"d"}\n' })
    await assert.rejects(
      load('rights', ['x.ndjson'], { mapping: 'select id, 7 as company_id from source' }),
      toldAs(/x\.ndjson: the columns ID and id differ only in case; rename one/),
    )
  })

  test('a key may have any name', async (t) => {
    const { load, records } = folderWith(t, {
      'x.ndjson': '{"name":"b","na/me~":{"x":1},"o\'k":1.50}\n{"name":"d"}\n',
    })
    await load('rights', ['x.ndjson'], {
      mapping: `select row_number() over () as id, 7 as company_id, name,
        "na/me~" as object_type, "o'k" as status from source`,
    })
    const told = records('rights').map((row) => [row['name'], row['object_type'], row['status']])
    assert.deepEqual(told, [
      ['b', '{"x":1}', '1.5'],
      ['d', null, null],
    ])
  })

  test('source_file and source_row in a file are ordinary attributes', async (t) => {
    const { db, load } = folderWith(t, {
      'x.csv': 'jurisdiction,identifier,source_file,source_row\nGB,1,a.csv,abc\nGB,,b.csv,5\n',
    })
    const { problems } = await load('companies', ['x.csv'], { onRejected: () => undefined })
    const places = problems.map(({ number, field }) => [number, field])
    assert.deepEqual(places, [[2, 'identifier']])
    assert.equal(await onlyAttributes(db), '{"source_file":"a.csv","source_row":"abc"}')
  })

  test('in the view they are renamed, alongside the locations of rows', async (t) => {
    const { db, folder, load } = folderWith(t, {
      'x.csv': 'n,source_file,source_row\n1,a.csv,abc\n',
    })
    await load('companies', ['x.csv'], {
      mapping: `select 'GB' as jurisdiction, n as identifier, source_file_1 as file,
        source_row_1 as row, source_file || '|' || source_row as place from source`,
    })
    const attributes = await onlyAttributes(db)
    assert.equal(attributes, `{"file":"a.csv","place":"${join(folder, 'x.csv')}|1","row":"abc"}`)
  })

  for (const [place, field] of [
    ["'abc' as source_row", 'source_row'],
    ["'other.csv' as source_file", 'source_file'],
  ] as const) {
    test(`a row with ${place} from a mapping is refused`, async (t) => {
      const { load } = folderWith(t, { 'x.csv': 'jurisdiction,identifier\nGB,1\n' })
      const mapping = `select jurisdiction, identifier, ${place} from source`
      const report = await load('companies', ['x.csv'], { mapping })
      const found = report.problems.map((problem) => [problem.number, problem.field])
      assert.deepEqual(found, [[1, field]])
    })
  }
})

describe('names of files', () => {
  /** The attributes of the only company in a file. */
  async function attributesOf(t: TestContext, name: string, options?: ImportOptions) {
    const { db, folder, load } = folderWith(t, {})
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    const path = join(folder, name)
    if (name.endsWith('.parquet')) {
      await writeParquet(`${folder}/plain`, `select 'GB' as jurisdiction, '1' as identifier`)
      renameSync(`${folder}/plain`, path)
    } else writeFileSync(path, 'jurisdiction,identifier\nGB,1\n')
    await load('companies', [name], options)
    return onlyAttributes(db)
  }

  for (const name of ['name=EVIL/r.csv', 'year=2024/r.parquet', 'identifier=2/x=1/r.csv']) {
    test(`the folders of ${name} add no columns`, async (t) => {
      assert.equal(await attributesOf(t, name), '{}')
      const mapping = 'select * exclude (source_file, source_row) from source'
      assert.equal(await attributesOf(t, name, { mapping }), '{}')
    })
  }

  for (const name of ['file:/x.csv', 's3:/b/x.csv', 'http:/127.0.0.1/x.csv']) {
    test(`${name} is a file name, not a URL`, async (t) => {
      const { db, folder, load } = folderWith(t, {})
      const path = join(folder, name)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, 'jurisdiction,identifier\nGB,right\n')
      writeFileSync(join(folder, 'x.csv'), 'jurisdiction,identifier\nGB,wrong\n')
      const old = process.cwd()
      process.chdir(folder)
      t.after(() => process.chdir(old))
      await importInto(db, 'companies', [name])
      await load('companies', [name])
      assert.equal(queryValue(db, 'select max(identifier) from companies'), 'right')
    })
  }

  const csv = (id: number) => `id,company_id\n${id},7\n`
  for (const name of ['a[1].csv', 'a*.csv', 'a?.csv', "it's; drop.csv", 'a b é 😀.csv']) {
    test(`${name} names exactly that file (G22)`, async (t) => {
      const { load, records } = folderWith(t, { [name]: csv(1), 'a1.csv': csv(2) })
      await load('rights', [name])
      const ids = records('rights').map(({ id }) => id)
      assert.deepEqual(ids, [1])
    })
  }

  test('a path that the system rejects is an error that names it', async (t) => {
    const { load } = folderWith(t, {})
    await assert.rejects(load('rights', [`${'x'.repeat(300)}.csv`]), OperatorError)
  })
})
