// The command line as operators use it, mistakes included.

import assert from 'node:assert/strict'
import fs, {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { openRejects } from '../../src/cli/import/rejects-file.ts'
import { writeParquet } from '../support/import-folder.ts'
import { makeFolder, queryValue } from '../support/import-rows.ts'
import { mustRun, runCommand } from '../support/run-command.ts'
import { checkExit, runDossier, withSmallDisk } from '../support/run-dossier.ts'

const row = (id: number) => `{"id":${id},"company_id":7,"name":"n${id}"}\n`

test('help lists every command, and each has its own help', async (t) => {
  const folder = makeFolder(t)
  const { out } = await mustRun(folder, ['--help'])
  const commands = [...out.matchAll(/^ {2}(\S+) {2,}\S/gm)].map(([, name = '']) => name)
  assert.equal(commands.length, 21)
  for (const command of commands) {
    const help = await runCommand(folder, [command, '--help'])
    assert.match(help.out, new RegExp(`^Usage: dossier ${command}`))
    assert.match(help.out, new RegExp(`^  dossier ${command}`, 'm'), `${command} has an example`)
    assert.ok(
      help.out.split('\n').every((line) => line.length <= 100),
      help.out,
    )
  }
  const { version } = JSON.parse(
    readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'),
  ) as { version: string }
  assert.equal((await runCommand(folder, ['--version'])).out, `${version}\n`)
})

test('an empty argument, as of an unset variable, is a missing one', async (t) => {
  const folder = makeFolder(t)
  const takesOne = /^dossier: backup takes one argument: the file to create$/m
  checkExit(await runDossier(folder, ['backup', '']), 2, takesOne)
  checkExit(await runDossier(folder, ['export', '']), 2, /^dossier: name one folder: export DIR$/m)
})

test('help shows the defaults of each command', async (t) => {
  const { out } = await runCommand(makeFolder(t), 'demo --help')
  const text = out.replace(/\s+/g, ' ')
  assert.match(text, /DOSSIER_DB; default demo\/registry\.db\)/)
  assert.match(text, /DOSSIER_LOG_LEVEL; default warn\)/)
  assert.match(text, /DOSSIER_PORT; default 8080\)/)
})

test('a refused row ends an import with exit code 1, its location and the reason (G9)', async (t) => {
  const folder = makeFolder(t)
  writeFileSync(join(folder, 'x.ndjson'), `${row(1)}{"id":2,"company_id":7,"salary_from":15.45}\n`)
  const { code, out, err } = await runCommand(folder, 'import jobs x.ndjson')
  assert.equal(code, 1)
  assert.match(err, /^x\.ndjson: line 1: name: is not a known column/m)
  assert.match(err, /^x\.ndjson: line 2: salary_from: 15\.45: must be an integer/m)
  assert.match(out, /Nothing was loaded: 2 rows were refused. Fix them, or .*with a mapping/)
  const counted = [...out.matchAll(/^ {2}(\w.*?) {2,}\d+$/gm)].map(([, name]) => name)
  assert.deepEqual(counted, ['read', 'refused'], 'and no count reads as if something had been')
  writeFileSync(join(folder, 'arrays.json'), '[["id","name"],["1","x"]]')
  const unread = await runCommand(folder, 'import jobs arrays.json')
  const says = /^arrays\.json: row 1: \["id","name"\]: must be a JSON object; make CSV of/
  assert.match(unread.err, says)
  assert.match(unread.out, /Fix them\.$/m, 'as no mapping receives them')
})

test('--rejects loads the good rows and writes the others with their reasons', async (t) => {
  const folder = makeFolder(t, { 'x.csv': 'id,company_id\n1,7\nzwei,7\n' })
  const args = ['import', 'rights', 'x.csv', '--rejects']
  assert.equal((await runCommand(folder, [...args, 'x.csv'])).code, 2)
  assert.equal((await runCommand(folder, [...args, 'no/such/folder'])).code, 1)
  assert.ok(!existsSync(join(folder, 'dossier.db')))
  await mustRun(folder, [...args, 'bad.ndjson'])
  const bad = JSON.parse(readFileSync(join(folder, 'bad.ndjson'), 'utf8')) as object
  const place = { file: 'x.csv', unit: 'row', number: 2 }
  const fault = { field: 'id', value: '"zwei"', reason: 'must be an integer in plain digits' }
  assert.deepEqual(bad, { ...place, ...fault, row: { id: 'zwei', company_id: '7' } })
})

test('two imports that write refused rows to one file lose none', (t) => {
  const path = join(makeFolder(t), 'bad.ndjson')
  using one = openRejects(path, [])
  using other = openRejects(path, [])
  const fault = { field: 'id', value: '"x"', reason: 'must be an integer in plain digits' }
  for (const [number, rejects] of [one, other, one, other].entries()) {
    rejects.write({ file: 'x.ndjson', unit: 'line', number, ...fault, row: {} })
  }
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
  const numbers = lines.map((line) => (JSON.parse(line) as { number: number }).number)
  assert.deepEqual(numbers, [0, 1, 2, 3])
})

test('a refused row is written with its numbers as they were given, however long', async (t) => {
  const folder = makeFolder(t)
  const rows = [
    '{"id":9007199254740993,"company_id":7}',
    '{"id":12345678901234567890,"company_id":7}',
    '{"id":"x","company_id":12345678901234567168,"key":0.1234567890123456789}',
    '{"id":3,"company_id":7,"name":[1e400]}',
  ]
  const all = [...rows, row(4).trimEnd()]
  writeFileSync(join(folder, 'x.ndjson'), `${all.join('\n')}\n`)
  writeFileSync(join(folder, 'x.json'), `[\n${all.join(',\n')}\n]\n`)
  for (const [name, ...options] of [['x.ndjson'], ['x.json'], ['x.ndjson', '--trim']] as const) {
    rmSync(join(folder, 'bad.ndjson'), { force: true })
    const args = ['import', 'rights', name, '--rejects', 'bad.ndjson', '--dry-run', ...options]
    const { err } = await mustRun(folder, args)
    assert.match(err, /id: 9007199254740993: is beyond 2\^53-1 .*also 12345678901234567890/)
    const written = readFileSync(join(folder, 'bad.ndjson'), 'utf8').trimEnd().split('\n')
    for (const [n, row] of rows.entries()) assert.ok(written[n]?.endsWith(`"row":${row}}`))
  }
})

test('a bundled mapping is found by name', async (t) => {
  const folder = makeFolder(t)
  const header =
    'Center,Status,Case Number,Patent Number,Application SN,Title,Patent Expiration Date'
  writeFileSync(join(folder, 'p.csv'), `${header}\nX Center,Issued,C-1,0,"1",A title,\n`)
  await mustRun(folder, 'import rights p.csv --map nasa-patents')
  const holders = queryValue(join(folder, 'dossier.db'), 'select holders from rights_view')
  assert.equal(holders, '["X Center"]')
})

test('a dry run of a first import creates no store', async (t) => {
  const folder = makeFolder(t, { 'x.ndjson': row(1) })
  const { out } = await mustRun(folder, 'import rights x.ndjson --dry-run')
  assert.match(out, /Dry run: nothing was changed/)
  assert.deepEqual(readdirSync(folder), ['x.ndjson'])
})

test('a missing store is reported in one line and not created (F1)', async (t) => {
  const folder = makeFolder(t)
  for (const command of ['serve', 'revert 1', 'keys create --name a', 'compact']) {
    const run = await runCommand(folder, `${command} --db x.db`)
    checkExit(run, 1, /^dossier: x\.db does not exist; create it with: dossier import\n$/)
    assert.ok(!existsSync(join(folder, 'x.db')))
  }
})

test('a missing folder for temporary files is reported in one line', async (t) => {
  const folder = makeFolder(t, { 'rights.csv': 'id,company_id\n1,7\n' })
  const run = await runDossier(folder, 'import rights rights.csv', {
    env: { TMPDIR: join(folder, 'nowhere') },
  })
  const says = /^dossier: the folder .* files, .*nowhere, does not exist, .*; set TMPDIR to .*\n$/
  checkExit(run, 1, says)
})

test('a temporary file that cannot be closed does not hide that an import was committed', async (t) => {
  if (process.platform !== 'linux') return t.skip('needs /proc')
  const folder = makeFolder(t, { 'rights.ndjson': row(1) })
  const { closeSync } = fs
  let failed = 0
  t.mock.method(fs, 'closeSync', (file: number) => {
    const path = readlinkSync(`/proc/self/fd/${file}`)
    closeSync(file)
    if (!/dossier-import-.*deleted/.test(path)) return
    failed += 1
    throw new Error('EDQUOT: quota exceeded, close')
  })
  syncBuiltinESMExports()
  t.after(() => {
    t.mock.reset()
    syncBuiltinESMExports()
  })
  const run = await mustRun(folder, 'import rights rights.ndjson')
  assert.match(run.out, /^Committed as version 1 /m)
  assert.ok(failed > 0)
})

test('a folder for temporary files without room for another is reported in one line', async (t) => {
  const folder = makeFolder(t)
  const full = join(folder, 'full')
  mkdirSync(full)
  await writeParquet(join(folder, 'rights.parquet'), 'select 1 as id, 7 as company_id')
  for (const files of [4, 5, 6]) {
    const via = withSmallDisk(full, `nr_inodes=${files}`)
    if (via === undefined) return t.skip('needs root, to mount a small disk')
    const run = await runDossier(folder, 'import rights rights.parquet', {
      env: { TMPDIR: full },
      via,
    })
    checkExit(run, 1, /^dossier: the folder for .*, is full; set TMPDIR to another one\n$/)
  }
})
