// Every command reports a fault of the store file in one line.

import assert from 'node:assert/strict'
import {
  chmodSync,
  closeSync,
  cpSync,
  mkdirSync,
  openSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { importRows, makeFolder, queryValue } from '../support/import-rows.ts'
import { mustRun, runCommand } from '../support/run-command.ts'
import { asNobody, checkExit, runAllDossier } from '../support/run-dossier.ts'

const row = '{"id":2,"company_id":7}\n'

/** Every command that opens a store, on `x.db`. */
const commands: Readonly<Record<string, readonly string[]>> = {
  serve: ['serve', '--db', 'x.db', '--port', '0'],
  import: ['import', 'rights', 'rows.ndjson', '--db', 'x.db'],
  'keys list': ['keys', 'list', '--db', 'x.db'],
  'keys create': ['keys', 'create', '--name', 'a', '--db', 'x.db'],
  demo: ['demo', '--db', 'x.db', '--port', '0'],
}

async function assertTold(folder: string, command: string, says: RegExp): Promise<void> {
  writeFileSync(join(folder, 'rows.ndjson'), row)
  const run = await runCommand(folder, commands[command] ?? [])
  assert.equal(run.code, 1, `${command}: ${run.err}`)
  assert.match(run.err, /^dossier: x\.db:? [^\n]+\n$/, command)
  assert.match(run.err, says, command)
  assert.equal(run.out, '')
}

/** A store with one record, as `x.db` in a world-readable folder. */
async function folderWithStore(t: TestContext): Promise<string> {
  const folder = makeFolder(t)
  chmodSync(folder, 0o755)
  await importRows(join(folder, 'x.db'), 'rights', [{ id: 1, company_id: 7 }])
  return folder
}

const cannotBeOpened = /cannot be opened; this user needs to read and write both the file and its/

/** Makes a database of an application, in a version of its format. */
function makeDatabase(path: string, application: number, version: number): void {
  const pragmas = `pragma application_id = ${application}; pragma user_version = ${version}`
  new DatabaseSync(path).exec(`create table t (x); ${pragmas}`)
}

/** Files that are not a store of this version; each command reports them the same way. */
const strangers: Readonly<Record<string, readonly [make: (path: string) => void, says: RegExp]>> = {
  'a folder': [(path) => mkdirSync(path), /is not a Dossier store/],
  'a text file': [
    (path) => writeFileSync(path, 'some text\n'.repeat(99)),
    /is not a Dossier store/,
  ],
  'a database of another program': [(path) => makeDatabase(path, 0, 1), /is not a Dossier store/],
  'a store of an earlier version': [
    (path) => makeDatabase(path, 0x446f7373, 1),
    /by another version of Dossier \(format 1, .* its files into a new store: dossier import$/m,
  ],
  'a store of a newer version': [
    (path) => makeDatabase(path, 0x446f7373, 99),
    /by another version of Dossier \(format 99, this one reads \d+\); use that version, or/,
  ],
}

for (const [what, [make, says]] of Object.entries(strangers)) {
  test(`${what} is reported by every command and left unchanged (F3, F6)`, async (t) => {
    const folder = makeFolder(t)
    const path = join(folder, 'x.db')
    make(path)
    const { size, mtimeMs } = statSync(path)
    const told = Object.keys(commands).map((command) => assertTold(folder, command, says))
    await Promise.all(told)
    assert.deepEqual([statSync(path).size, statSync(path).mtimeMs], [size, mtimeMs])
  })
}

/** Files that have no tables yet. */
const unfinished: Readonly<Record<string, (path: string) => void>> = {
  'an empty file': (path) => writeFileSync(path, ''),
  'a database that another process has begun to create': (path) =>
    new DatabaseSync(path).exec('pragma page_size = 16384; pragma journal_mode = wal'),
}

for (const [what, make] of Object.entries(unfinished)) {
  test(`an import turns ${what} into a store; it cannot be served before (F2)`, async (t) => {
    const folder = makeFolder(t)
    make(join(folder, 'x.db'))
    await assertTold(folder, 'serve', /is empty; load it with: dossier import/)
    await mustRun(folder, commands['import'] ?? [])
    assert.equal(queryValue(join(folder, 'x.db'), 'select id from rights_view'), 2)
  })
}

test('a dry run leaves an empty file as it is (F2)', async (t) => {
  const folder = makeFolder(t, { 'rows.ndjson': row, 'x.db': '' })
  await mustRun(folder, [...(commands['import'] ?? []), '--dry-run'])
  assert.equal(statSync(join(folder, 'x.db')).size, 0)
})

test('a dry run refuses a folder that does not exist, as the import would', async (t) => {
  const folder = makeFolder(t, { 'rows.ndjson': row })
  for (const options of [[], ['--dry-run']]) {
    const args = ['import', 'rights', 'rows.ndjson', '--db', 'none/x.db', ...options]
    const told = /^dossier: none\/x\.db: the folder does not exist; create it first\n$/
    checkExit(await runCommand(folder, args), 1, told)
  }
})

test('a damaged store is reported, and neither served nor written (C11, F3, F4)', async (t) => {
  const folder = await folderWithStore(t)
  const [whole, path] = [join(folder, 'whole.db'), join(folder, 'x.db')]
  cpSync(path, whole)
  const damage: readonly (() => void)[] = [
    () => truncateSync(path, 100_000),
    () => {
      const file = openSync(path, 'r+')
      writeSync(file, Buffer.alloc(65_536, 0xaa), 0, 65_536, 16_384)
      closeSync(file)
    },
  ]
  for (const spoil of damage) {
    cpSync(whole, path)
    spoil()
    for (const command of ['serve', 'import']) {
      await assertTold(folder, command, /is damaged; restore it from a backup/)
    }
  }
})

/** What user nobody runs, with the modes of the store and of its folder. */
const shut: readonly (readonly [command: string, file: number, folder: number, says: RegExp])[] = [
  ['serve', 0o600, 0o755, cannotBeOpened],
  ['import rights rows.ndjson', 0o644, 0o755, cannotBeOpened],
  [
    'import rights rows.ndjson',
    0o666,
    0o755,
    /give this user the right to write the file and its folder|cannot be/,
  ],
  ['serve', 0o644, 0o700, cannotBeOpened],
]

test('a command without permission reports that (F10)', async (t) => {
  const via = asNobody()
  if (via === undefined) return t.skip('needs root and setpriv, to become another user')
  const place = makeFolder(t)
  chmodSync(place, 0o755)
  writeFileSync(join(place, 'rows.ndjson'), row)
  const lines: string[] = []
  for (const [command, file, folderMode] of shut) {
    const folder = await folderWithStore(t)
    chmodSync(join(folder, 'x.db'), file)
    chmodSync(folder, folderMode)
    lines.push(`${command} --db ${join(folder, 'x.db')}`)
  }
  const runs = await runAllDossier(place, lines, { via })
  for (const [n, [, , , says]] of shut.entries()) {
    const run = runs[n] ?? assert.fail()
    checkExit(run, 1, /^dossier: [^\n]*x\.db:? [^\n]+\n$/)
    assert.match(run.err, says)
    assert.equal(run.out, '')
  }
})

test('a path that names no file is to be corrected', async (t) => {
  const folder = makeFolder(t, { 'rows.ndjson': row })
  for (const [path, code] of [
    ['new/', 'EISDIR'],
    ['rows.ndjson/x.db', 'ENOTDIR'],
  ] as const) {
    const run = await runCommand(folder, ['import', 'rights', 'rows.ndjson', '--db', path])
    checkExit(run, 1, new RegExp(`^dossier: ${path}: open failed with ${code}; correct the path`))
  }
})

test('an unreadable source or folder is reported', async (t) => {
  const via = asNobody()
  if (via === undefined) return t.skip('needs root and setpriv, to become another user')
  const folder = makeFolder(t)
  chmodSync(folder, 0o777)
  writeFileSync(join(folder, 'x.csv'), 'id,company_id\n1,7\n', { mode: 0o600 })
  mkdirSync(join(folder, 'shut'), { mode: 0o700 })
  writeFileSync(join(folder, 'shut/x.csv'), 'id,company_id\n1,7\n')
  const commands = ['x.csv', 'shut/x.csv'].map((name) => `import rights ${name}`)
  for (const failed of await runAllDossier(folder, commands, { via })) {
    checkExit(failed, 1, /^dossier: (shut\/)?x\.csv[^\n]+\n$/)
  }
})

test('a file in a folder that must not be entered is not called missing', async (t) => {
  const via = asNobody()
  if (via === undefined) return t.skip('needs root and setpriv, to become another user')
  const folder = await folderWithStore(t)
  for (const [path, mode] of [
    [folder, 0o777],
    [join(folder, 'x.db'), 0o666],
  ] as const) {
    chmodSync(path, mode)
  }
  mkdirSync(join(folder, 'shut/in'), { recursive: true })
  writeFileSync(join(folder, 'x.csv'), 'id,company_id\n1,7\n', { mode: 0o644 })
  chmodSync(join(folder, 'shut'), 0o700)
  const cases = [
    ['backup shut/in/copy.db --db x.db', /copy\.db cannot be written: EACCES: permission denied/],
    ['migrate --db shut/in/y.db --withheld list', /y\.db: cannot be opened; this user needs/],
    ['restore shut/in/copy.db --db x.db', /copy\.db: cannot be opened; this user needs/],
    ['import rights x.csv --map shut/in/m.sql', /the mapping \S+ cannot be read: EACCES/],
    [
      'import rights x.csv --map lens-patents --map-read shut/in',
      /shut\/in: stat failed with EACCES; this user lacks the right to it\n$/,
    ],
  ] as const
  const commands = cases.map(([command]) => command)
  const runs = await runAllDossier(folder, commands, { via })
  assert.equal(runs.length, cases.length)
  for (const [n, run] of runs.entries()) checkExit(run, 1, cases[n]?.[1] ?? /^$/)
})
