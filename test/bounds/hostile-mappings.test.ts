// K2: a mapping is one SELECT over its files; anything else is refused or stopped.

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { toldAs } from '../support/import-folder.ts'
import { importInto, makeFolder } from '../support/import-rows.ts'
import { mustRun, runCommand } from '../support/run-command.ts'
import {
  asNobody,
  checkExit,
  runDossier,
  startDossier,
  withSmallDisk,
} from '../support/run-dossier.ts'
import { until } from '../support/until.ts'

const csv = 'jurisdiction,identifier,name\nGB,1,One\n'
const select = 'select jurisdiction, identifier, name from source'

/** A folder with a source, another file, and a file in place of a store. */
function makeGround(t: Parameters<typeof makeFolder>[0]) {
  const folder = makeFolder(t, { 'x.csv': csv, 'registry.db': 'the registry' })
  mkdirSync(join(folder, 'codes'))
  writeFileSync(join(folder, 'codes/names.csv'), 'code,word\nOne,Uno\n')
  writeFileSync(join(folder, 'secret.csv'), 'word\nsecret\n')
  return folder
}

/** The content of every file of a folder, by name. */
function digestOf(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
  const files = names.filter((name) => statSync(join(folder, name)).isFile())
  return Object.fromEntries(
    files.map((name) => [name, hash('sha256', readFileSync(join(folder, name)))]),
  )
}

/** A dry run of a mapping of the source. */
function tryOut(folder: string, mapping: string) {
  const options = { mapping, isDryRun: true }
  return importInto(join(folder, 'test.db'), 'companies', [join(folder, 'x.csv')], options)
}

const oneSelect = /^a mapping must be exactly one SELECT/
const noFile = /reads (files|\S+ instead of the view source).*--map-read DIR/

/** Mappings that attempt more than reshaping rows; `F` stands for the folder. */
const hostile: Readonly<Record<string, RegExp>> = {
  [`${select}; copy (select 1) to 'F/registry.db'`]: oneSelect,
  "copy (select 1) to 'F/registry.db'": oneSelect,
  "attach 'F/new.db' as other": oneSelect,
  [`attach 'F/new.db' as other; ${select}`]: oneSelect,
  'install httpfs': oneSelect,
  "load 'F/secret.csv'": oneSelect,
  'set enable_external_access = true': oneSelect,
  'reset lock_configuration': oneSelect,
  "export database 'F/out'": oneSelect,
  "pragma enable_profiling = 'json'": oneSelect,
  'call enable_logging()': oneSelect,
  'create table x as select 1': oneSelect,
  'drop view source': oneSelect,
  'describe source': oneSelect,
  'show tables': oneSelect,
  'explain select 1': oneSelect,
  [`${select}; ${select}`]: oneSelect,
  'with a as (insert into source values (1) returning *) select * from a': /not valid SQL/,
  "select * from 'F/secret.csv'": noFile,
  "select * from read_csv('F/secret.csv')": noFile,
  "select name, (select content from read_text('/etc/passwd')) as x from source": noFile,
  "select * from glob('/etc/*')": noFile,
  'select * from duckdb_settings()': /calls duckdb_settings\(\), which is not allowed/,
  'select * from information_schema.tables': /instead of the view source/,
  "select * from query('select 1')": /calls query\(\)/,
  'select * from arrow_scan(1, 2, 3)': /calls arrow_scan\(\)/,
  "select * from enable_logging('QueryLog', storage = 'file')": /calls enable_logging\(\)/,
  "select jurisdiction, identifier, getenv('HOME') as name from source":
    /Function with name getenv does not exist/,
  'select $1 as jurisdiction, identifier from source': /^the mapping fails: /,
}

describe('a hostile mapping is refused and changes no file (K2)', () => {
  const folder = makeGround({ after })
  const before = digestOf(folder)
  for (const [mapping, says] of Object.entries(hostile)) {
    test(mapping, async () => {
      await assert.rejects(tryOut(folder, mapping.replaceAll('F/', `${folder}/`)), toldAs(says))
      const now = Object.entries(digestOf(folder)).filter(([name]) => !name.startsWith('test.db'))
      assert.deepEqual(Object.fromEntries(now), before)
    })
  }
})

describe('a mapping that takes too many resources is stopped (K2)', () => {
  /** Resources that each uses up, and the message. */
  const greedy: Readonly<Record<string, RegExp>> = {
    [`${select}, range(100000000) order by random(), repeat(name, 2000)`]:
      /: the mapping needs more temporary space than an import may use/,
    "select 'GB' as jurisdiction, repeat('x', 12000) as name, i as identifier from source, range(9000000000) t(i)":
      /: the mapping returns more than 256 MiB of rows/,
  }
  for (const [mapping, says] of Object.entries(greedy)) {
    test(mapping, async (t) => assert.rejects(tryOut(makeGround(t), mapping), says))
  }

  test('a full folder for temporary files is not the fault of the mapping', async (t) => {
    const folder = makeGround(t)
    const temporary = join(folder, 'temporary')
    mkdirSync(temporary)
    const via = withSmallDisk(temporary, 'size=1m')
    if (via === undefined) return t.skip('needs root, to mount a small disk')
    writeFileSync(join(folder, 'm.sql'), Object.keys(greedy)[0] ?? '')
    const args = ['import', 'companies', 'x.csv', '--map', './m.sql']
    const failed = await runDossier(folder, args, { via, env: { TMPDIR: temporary } })
    checkExit(failed, 1, /^dossier: the folder for .*, is full; set TMPDIR to another one\n$/m)
  })

  test('memory that DuckDB does not count is limited by the process', async (t) => {
    if (process.platform !== 'linux') return
    const folder = makeGround(t)
    const mapping =
      "select 'GB' as jurisdiction, length(repeat(substr(name, 4), 1000000000))::text as identifier " +
      'from source'
    writeFileSync(join(folder, 'm.sql'), mapping)
    await mustRun(folder, 'import companies x.csv --map m.sql --source gb')
    writeFileSync(join(folder, 'long.csv'), csv.replace('One', 'Oneself'))
    for (const args of [
      ['import', 'companies', 'long.csv', '--map', 'm.sql'],
      ['update', 'gb', 'long.csv'],
    ]) {
      const failed = await runDossier(folder, args)
      checkExit(failed, 1, /^dossier: the mapping needs more memory than its limit of \d+ MB/m)
    }
  })

  for (const [what, sql] of Object.entries({
    'computes forever':
      "select 'GB' as jurisdiction, count(*) as identifier from source, range(9000000000000)",
    'ignores an interruption':
      "select 'GB' as jurisdiction, levenshtein(repeat(name, 400000), repeat('x', 900000)) as identifier from source",
  })) {
    test(`SIGINT ends a mapping that ${what}`, async (t) => {
      if (process.platform !== 'linux') return
      const folder = makeGround(t)
      writeFileSync(join(folder, 'm.sql'), sql)
      const args = ['import', 'companies', 'x.csv', '--map', 'm.sql']
      const running = startDossier(t, folder, args)
      const { child, ended } = running
      const begun = running.until(/interrupted; nothing was changed/)
      // Start-up takes less time than this; afterwards it is computing the mapping.
      await until(() => processorSeconds(child.pid) >= 1)
      child.kill('SIGINT')
      await begun
      const { code } = await ended
      assert.equal(code, 130)
    })
  }

  test('an interruption is reported even if the temporary files cannot be removed', async (t) => {
    const via = asNobody()
    if (via === undefined) return t.skip('needs root and setpriv, to become another user')
    const folder = makeGround(t)
    const sql =
      "select 'GB' as jurisdiction, count(*) as identifier from source, range(9000000000000)"
    writeFileSync(join(folder, 'm.sql'), sql)
    const temporary = join(folder, 'temporary')
    mkdirSync(temporary)
    for (const path of [folder, temporary]) chmodSync(path, 0o777)
    const args = ['import', 'companies', 'x.csv', '--map', './m.sql']
    const { child, ended } = startDossier(t, folder, args, { via, env: { TMPDIR: temporary } })
    const hasFolder = () => readdirSync(temporary).length > 0
    await until(() => processorSeconds(child.pid) >= 1 && hasFolder())
    chmodSync(temporary, 0o555)
    child.kill('SIGINT')
    checkExit(await ended, 130, /^dossier: interrupted; nothing was changed\n$/)
  })
})

/** The processor time of a process in seconds; the system counts hundredths. */
function processorSeconds(pid: number | undefined): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(stat[11]) + Number(stat[12])) / 100
}

describe('--map-read', () => {
  const mapping = (path: string) =>
    'select jurisdiction, identifier, word as name from source ' +
    `join read_csv('${path}', all_varchar = true) on code = name`

  test('lets a mapping read the files of a folder', async (t) => {
    const folder = makeGround(t)
    const report = await importInto(join(folder, 'test.db'), 'companies', [join(folder, 'x.csv')], {
      mapping: mapping(join(folder, 'codes/names.csv')),
      mappingFolders: [join(folder, 'codes')],
    })
    assert.equal(report.counts.inserted, 1)
  })

  for (const path of ['secret.csv', 'codes/../secret.csv', 'codes-too/names.csv']) {
    test(`does not let it read ${path}`, async (t) => {
      const folder = makeGround(t)
      mkdirSync(join(folder, 'codes-too'))
      writeFileSync(join(folder, 'codes-too/names.csv'), 'code,word\nOne,Uno\n')
      const attempt = importInto(join(folder, 'test.db'), 'companies', [join(folder, 'x.csv')], {
        mapping: mapping(`${folder}/${path}`),
        mappingFolders: [join(folder, 'codes')],
      })
      await assert.rejects(attempt, /^OperatorError: the mapping fails: Cannot access file/)
    })
  }
})

test('a bare name is a bundled mapping, whatever files the folder has', async (t) => {
  const folder = makeGround(t)
  const evil = "select 'GB' as jurisdiction, 'evil' as identifier from source"
  for (const name of ['ba-atms', 'mine', 'mine.sql']) writeFileSync(join(folder, name), evil)
  const run = async (map: string) => {
    const args = ['import', 'companies', 'x.csv', '--dry-run', '--map', map]
    return (await runCommand(folder, args)).err
  }
  assert.match(await run('ba-atms'), /gives pos_terminals, not companies/, 'the ready one')
  assert.match(await run('mine'), /there is no mapping mine; to use .* of that name, write .\/mine/)
  assert.match(await run('ba-atms.sql'), /did you mean ba-atms\?/)
  assert.doesNotMatch(await run('./ba-atms'), /dossier:/)
  assert.doesNotMatch(await run('mine.sql'), /dossier:/)
})
