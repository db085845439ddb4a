// dossier import … --show N: the columns, and the first rows as they would be imported.

import assert from 'node:assert/strict'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { writeParquet } from '../support/import-folder.ts'
import { makeFolder } from '../support/import-rows.ts'
import { checkExit } from '../support/run-dossier.ts'
import { mustRun, runCommand } from '../support/run-command.ts'

const csv = `Ref;Reg No;Vacancy;Min
V-1;09876543;Warehouse supervisor;32000
V-2;09876543;Forklift driver;24.500
V-3;1
V-4;01234567;Cook;30000
`
const mapping = `select "Ref" as key, 'GB' as company_jurisdiction,
  "Reg No" as company_identifier, "Vacancy" as title, "Min" as salary_from from source`

test('it shows the view, then rows that would be imported or refused, and does nothing', async (t) => {
  const folder = makeFolder(t, { 'v.csv': csv, 'my.sql': mapping })
  const args = ['import', 'jobs', 'v.csv', '--map', './my.sql', '--show', '5']
  const { code, out, err } = await runCommand(folder, args)
  assert.deepEqual([code, err], [0, ''])
  assert.match(out, /^The view source has the columns\n {2}Ref +"V-1" {2}"V-2" {2}"V-4"\n/)
  assert.match(out, /^ {2}source_row +1 {2}2 {2}4$/m)
  assert.match(out, /^v\.csv: row 1\n {2}key +"V-1"\n/m)
  assert.match(out, /^ {2}salary_from +32000$/m)
  assert.match(out, /^v\.csv: row 2: salary_from: "24\.500": must be an integer.* \(refused\)$/m)
  assert.match(out, /row 3 \(line 4\): "V-3;1": has 2 cells, but there are 4 columns \(refused\)$/m)
  assert.match(out, /\nNothing was imported\.\n$/)
  assert.deepEqual(readdirSync(folder).sort(), ['my.sql', 'v.csv'], 'not even a store')
})

test('a column that the mapping returns without a value is shown, and warned of', async (t) => {
  const folder = makeFolder(t)
  const rows = Array.from({ length: 6 }, (_, n) => ({ id: `${n}`, address: { city: 'York' } }))
  writeFileSync(join(folder, 'a.json'), JSON.stringify(rows))
  const select = `select 'GB' as jurisdiction, id as identifier, address->>'$.cty' as city`
  writeFileSync(join(folder, 'my.sql'), `${select} from source`)
  const line = 'import companies a.json --map ./my.sql'
  const { out } = await mustRun(folder, `${line} --show 1`)
  assert.match(out, /^ {2}identifier +"0"\n {2}city +null$/m)
  const says = /^dossier: (?:warning: )?city, which the mapping returns, has no value in any row; /m
  assert.match((await mustRun(folder, line)).err, says)
  checkExit(await runCommand(folder, `${line} --strict`), 1, says)
})

test('it shows the view even if the mapping fails', async (t) => {
  const folder = makeFolder(t, { 'v.csv': csv, 'my.sql': 'select "Reference" as key from source' })
  const args = ['import', 'jobs', 'v.csv', '--map', './my.sql', '--show', '1']
  const { code, out, err } = await runCommand(folder, args)
  assert.equal(code, 1)
  assert.match(out, /^The view source has the columns\n {2}Ref +"V-1"\n/)
  assert.match(err, /^dossier: .*Reference/)
})

test('it shows Parquet with columns and numbers that DuckDB means otherwise', async (t) => {
  const folder = makeFolder(t)
  const select = `select 'GB' as jurisdiction, '7' as identifier, 'a' as t, 'b' as json,
    'NaN'::double as share, 12345678901234567890::ubigint::varchar as number`
  await writeParquet(join(folder, 'a.parquet'), select)
  writeFileSync(join(folder, 'my.sql'), 'select * exclude (source_file, source_row) from source')
  for (const map of ['', ' --map ./my.sql']) {
    const { out } = await mustRun(folder, `import companies a.parquet --show 1${map}`)
    const [columns = '', rows = ''] = out.split('\n\n')
    const says = /^ {2}t +"a"\n {2}json +"b"\n {2}share +"NaN"\n {2}number +"123456789012345678/m
    assert.match(columns, says)
    assert.match(rows, /^a\.parquet: row 1\n {2}jurisdiction +"GB"\n[^]*^ {2}t +"a"$/m)
  }
})

test('a line break in the name of a column is LF, so that a mapping can spell it', async (t) => {
  const folder = makeFolder(t)
  const header = '"Register\r\nnumber";"Name\rof company"\r\n'
  writeFileSync(join(folder, 'a.csv'), `${header}1;A\r\n${header}2;B\r\n`)
  const select = `'GB' as jurisdiction, "Register\nnumber" as identifier, "Name\nof company" as name`
  writeFileSync(join(folder, 'my.sql'), `select ${select} from source`)
  const { out } = await mustRun(folder, 'import companies a.csv --show 5 --map ./my.sql')
  assert.match(out, /^ {2}Register\\nnumber +"1" {2}"2"\n {2}Name\\nof company +"A" {2}"B"\n/m)
})

test('it shows the columns of tables without rows', async (t) => {
  const folder = makeFolder(t, { 'a.csv': 'Ref;Vacancy\n', 'b.csv': 'Ref;Min\n' })
  const { out } = await mustRun(folder, 'import jobs a.csv b.csv --show 1')
  assert.equal(
    out,
    'The files have the columns\n  Ref\n  Vacancy\n  Min\n\nThere are no rows.\n' +
      'Nothing was imported.\n',
  )
})

test('it advises a mapping only if no row is right, and one could read them', async (t) => {
  const folder = makeFolder(t)
  writeFileSync(join(folder, 'cells.csv'), 'company_id,title\n1\n2\n')
  writeFileSync(join(folder, 'some.csv'), 'company_id,title,salary_from\n1,Cook,1.5\n1,Cook,1\n')
  for (const name of ['cells.csv', 'some.csv']) {
    const { out } = await mustRun(folder, `import jobs ${name} --show 5`)
    assert.match(out, /\(refused\)$/m)
    assert.equal(out.includes('--map'), false, out)
  }
})

test('it shows columns and rows without a mapping, and as JSON', async (t) => {
  const folder = makeFolder(t, { 'v.csv': csv })
  const { out } = await mustRun(folder, 'import jobs v.csv --show 1')
  assert.match(out, /^The files have the columns\n {2}Ref +"V-1"\n/)
  assert.match(out, /^v\.csv: row 1: .*is not a known column.* \(refused\)$/m)
  const advice = 'Columns that have other names or forms need a mapping: --map FILE.sql\n'
  assert.ok(out.endsWith(`\n\n${advice}Nothing was imported.\n`), out)
  const row = { jurisdiction: 'GB', identifier: '1' }
  writeFileSync(join(folder, 'a.json'), JSON.stringify({ data: { rows: [row] } }))
  const args = ['import', 'companies', 'a.json', '--records', 'data.rows', '--show', '9', '--json']
  const shown = await runCommand(folder, args)
  assert.deepEqual(JSON.parse(shown.out), {
    columns: [
      { name: 'jurisdiction', values: ['GB'] },
      { name: 'identifier', values: ['1'] },
    ],
    rows: [{ file: 'a.json', unit: 'row', number: 1, row }],
  })
})
