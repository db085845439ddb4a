// Rows of kilobytes and megabytes are read within bounded memory, whatever their format; input that
// is far too long is refused within it.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  closeSync,
  createWriteStream,
  existsSync,
  globSync,
  mkdirSync,
  openSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { constants, createZstdCompress } from 'node:zlib'
import { makeFolder } from '../support/import-rows.ts'
import { writeParquet } from '../support/import-folder.ts'
import { mustRun } from '../support/run-command.ts'
import { peakMemoryMb, startDossier } from '../support/run-dossier.ts'
import { changeStore } from '../support/store-state.ts'
import { patienceMs, until } from '../support/until.ts'

const limitMb = 400
const piece = Buffer.alloc(1 << 20, 'x')

/** 300 MB without a line end between two texts, never held in memory at once. */
function* longText(before: string, after: string): Generator<Buffer> {
  yield Buffer.from(before)
  for (let n = 0; n < 286; n++) yield piece
  yield Buffer.from(after)
}

const good = '{"id":1,"company_id":7}'

/** Inputs with a 300 MB value, and the messages. */
const inputs: Readonly<Record<string, readonly [before: string, after: string, says: RegExp]>> = {
  'x.json.zst': [`[${good},{"name":"`, '"}]', /row 2: is longer than 8 MiB/],
  'x.csv.zst': ['id,company_id,name\n1,7,', '\n', /line 2 is longer than 16 MiB/],
  'header.csv.zst': ['id,company_id,', '\n1,7,x\n', /the header is longer than 1 MiB/],
}

for (const [name, [before, after, says]] of Object.entries(inputs)) {
  test(`${name}: a 300 MB value is refused within ${limitMb} MB of memory (G16)`, async (t) => {
    const folder = makeFolder(t)
    const fast = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }
    await pipeline(
      Readable.from(longText(before, after)),
      createZstdCompress(fast),
      createWriteStream(join(folder, name)),
    )
    const { child, ended } = startDossier(t, folder, ['import', 'rights', name])
    const peak = await peakOf(child.pid, ended)
    const { code, err } = await ended
    assert.equal(code, 1, err)
    assert.match(err, says)
    assert.ok(err.length < 1_000, 'the value is cut short')
    assertBounded(peak, limitMb)
  })
}

test('standard input: a 300 MB line is refused and the next one read (G16)', async (t) => {
  const args = ['import', 'rights', '-', '--rejects', 'bad.ndjson', '--json']
  const { child, ended } = startDossier(t, makeFolder(t), args)
  const feed = pipeline(Readable.from(longText('{"name":"', `"}\n${good}\n`)), child.stdin)
  const peak = await peakOf(child.pid, ended)
  await feed
  const { code, out, err } = await ended
  assert.equal(code, 0, err)
  checkOneRefused(out, 'is longer than 8 MiB')
  assert.ok(out.length < 2_000, 'the value is cut short')
  assertBounded(peak, limitMb)
})

/** Checks in the report of an import that one of two rows was refused, for a reason. */
function checkOneRefused(report: string, expected: string): void {
  const { read, inserted, refused, problems } = JSON.parse(report) as Record<string, number> & {
    problems: { reason: string }[]
  }
  assert.deepEqual([read, inserted, refused], [2, 1, 1])
  const reasons = problems.map(({ reason }) => reason)
  assert.deepEqual(reasons, [expected])
}

/** The peak memory of a process, in MB. */
async function peakOf(pid: number | undefined, ended: Promise<unknown>): Promise<number> {
  let peak = 0
  const watch = setInterval(() => (peak = Math.max(peak, peakMemoryMb(pid))), 20)
  await ended
  clearInterval(watch)
  return peak
}

function assertBounded(peakMb: number, limit: number): void {
  if (process.platform !== 'linux') return
  assert.ok(peakMb > 20, `it was measured: ${peakMb} MB`)
  assert.ok(peakMb < limit, `${peakMb} MB`)
}

const mapping = `select jurisdiction, identifier, left(note, 60000) as note, source_file, source_row
  from source where note is not null`

// More than DuckDB reads at once, which is 2,048.
const rowCount = 2_100

/** Writes a file of many rows of 20 kB, and two of the maximum length. */
function writeRows(path: string, { header, longest, row }: WideFile): void {
  const file = openSync(path, 'w')
  writeSync(file, header)
  for (let n = 0; n < rowCount; n++) writeSync(file, row(n, 'x'.repeat(20_000)))
  for (let n = 0; n < 2; n++) writeSync(file, row(5_000 + n, 'y'.repeat(longest - 100)))
  closeSync(file)
}

/** Imports a file of companies; returns the report and the peak memory in MB. */
async function importWide(t: TestContext, folder: string, name: string, isMapped: boolean) {
  writeFileSync(join(folder, 'm.sql'), mapping)
  const map = isMapped ? ['--map', 'm.sql'] : []
  const args = ['import', 'companies', name, '--json', ...map]
  const { child, ended } = startDossier(t, folder, args)
  const peakMb = await peakOf(child.pid, ended)
  const { code, out, err } = await ended
  // A text attribute has at most 64 KiB, which the row checks enforce.
  assert.equal(code, isMapped || name === 'x.parquet' ? 0 : 1, err)
  return { counts: JSON.parse(out) as Record<string, number>, peakMb }
}

/** A file of companies with long notes. */
interface WideFile {
  readonly header: string
  readonly longest: number
  readonly row: (identifier: number, note: string) => string
}

const csv: WideFile = {
  header: 'jurisdiction,identifier,note\n',
  longest: 16 << 20,
  row: (n, text) => `GB,${n},"${text}"\n`,
}
const ndjson: WideFile = {
  header: '',
  longest: 8 << 20,
  row: (n, text) => `{"jurisdiction":"GB","identifier":"${n}","note":"${text}"}\n`,
}

for (const [name, wide, isMapped] of [
  ['x.csv', csv, true],
  ['x.csv', csv, false],
  ['x.ndjson', ndjson, true],
] as const) {
  test(`${name}${isMapped ? ' with a mapping' : ''}: ${rowCount} rows of 20 kB and two of ${wide.longest >> 20} MiB fit in 350 MB`, async (t) => {
    const folder = makeFolder(t)
    writeRows(join(folder, name), wide)
    const { counts, peakMb } = await importWide(t, folder, name, isMapped)
    assert.deepEqual([counts['read'], counts['refused']], [rowCount + 2, isMapped ? 0 : 2])
    assertBounded(peakMb, 350)
  })
}

for (const [what, pair] of [
  ['quotes', '""'],
  ['line ends', '\r\n'],
] as const) {
  test(`a row of CSV with 15 MiB of ${what} fits in 350 MB, with a mapping`, async (t) => {
    const folder = makeFolder(t)
    const row = csv.row(1, pair.repeat(15 << 19))
    writeFileSync(join(folder, 'x.csv'), `${csv.header}${row}${csv.row(2, 'a "" b')}`)
    const { counts, peakMb } = await importWide(t, folder, 'x.csv', true)
    assert.deepEqual([counts['read'], counts['refused']], [2, 0])
    assertBounded(peakMb, 350)
  })
}

test('Parquet: texts of 60 kB in row groups of 1,024 fit in 350 MB', async (t) => {
  const folder = makeFolder(t)
  await writeParquet(
    join(folder, 'x.parquet'),
    `select 'GB' as jurisdiction, i::varchar as identifier,
      repeat(md5(i::varchar), 1875) as note from range(1100) t(i)`,
    'row_group_size 1024',
  )
  const { counts, peakMb } = await importWide(t, folder, 'x.parquet', false)
  assert.deepEqual([counts['read'], counts['inserted']], [1_100, 1_100])
  assertBounded(peakMb, 350)
})

test('2,600 events of 60 kB between and in place of others of a company: imported, verified and exported within 350 MB', async (t) => {
  const folder = makeFolder(t)
  const event = (id: number, before: string, attr: string) =>
    `${JSON.stringify({ id, company_id: 7, date: '2024-05-31', attr, before })}\n`
  const few = [1, 900, 1_300, 1_301, 2_600].map((id) => event(id, 'short', 'former'))
  writeFileSync(join(folder, 'few.ndjson'), few.join(''))
  const file = openSync(join(folder, 'many.ndjson'), 'w')
  // All are put within the only segment of the listing, and some of them replace its records.
  for (let id = 2; id < 2_600; id++) {
    writeSync(file, event(id, String(id).padEnd(60_000, 'x'), `attr ${id % 3}`))
  }
  closeSync(file)
  await mustRun(folder, 'import events few.ndjson')
  await runBounded(t, folder, 'import events many.ndjson --accept')
  await runBounded(t, folder, 'verify')
  await runBounded(t, folder, 'export copies --format parquet')
})

test('1,000 versions of a listing of 5,000 segments are verified within 350 MB', async (t) => {
  const folder = makeFolder(t)
  const file = openSync(join(folder, 'x.ndjson'), 'w')
  const name = 'x'.repeat(5_300)
  for (let id = 1; id <= 5_000; id++)
    writeSync(file, `{"id":${id},"company_id":7,"name":"${name}"}\n`)
  closeSync(file)
  await mustRun(folder, 'import rights x.ndjson')
  const made = 'version, resource, source_id, is_snapshot, started_at, committed_at, files, read'
  const counted = 'inserted, updated, unchanged, refused, removed, companies_created'
  const head = 'company_id, listing, version, total, meta, largest, directory, segment'
  const later = 'with recursive l (n) as (select 2 union all select n + 1 from l where n < 1000)'
  const copied = (columns: string) => columns.replace('version', 'n')
  changeStore(
    join(folder, 'dossier.db'),
    `insert into imports (${made}, ${counted}, lineage)
       ${later} select ${copied(made)}, ${counted}, lineage || n from imports, l where version = 1;
     insert into heads (${head}) ${later} select ${copied(head)} from heads, l where version = 1`,
  )
  await runBounded(t, folder, 'verify')
})

test('70 companies of 1 MB: their changes are recorded within 350 MB', async (t) => {
  const folder = makeFolder(t)
  const text = 'x'.repeat(60_000)
  for (const name of ['first', 'second']) {
    const file = openSync(join(folder, `${name}.ndjson`), 'w')
    for (let n = 1; n <= 70; n++) {
      const texts = Array.from({ length: 16 }, (_, at) => `"text ${at}":"${text}"`).join()
      writeSync(file, `{"jurisdiction":"GB","identifier":"${n}","name":"${name} ${n}",${texts}}\n`)
    }
    closeSync(file)
  }
  await runBounded(t, folder, 'import companies first.ndjson')
  await runBounded(t, folder, 'import companies second.ndjson --accept --as-of 2026-01-31')
})

/** Runs a command that ends with success, within 350 MB of memory. */
async function runBounded(t: TestContext, folder: string, command: string): Promise<void> {
  const { child, ended } = startDossier(t, folder, command)
  const peak = await peakOf(child.pid, ended)
  const { code, err } = await ended
  assert.equal(code, 0, err)
  assertBounded(peak, 350)
}

test('reading an idle named pipe can be interrupted, and its data is read when it arrives', async (t) => {
  const folder = makeFolder(t)
  execFileSync('mkfifo', [join(folder, 'pipe.ndjson')])
  const waiting = startDossier(t, folder, 'import companies pipe.ndjson')
  // The store is opened before the pipe.
  await until(() => existsSync(join(folder, 'dossier.db')))
  await sleep(500)
  waiting.child.kill('SIGINT')
  const { code, err } = await waiting.ended
  assert.equal(code, 130)
  assert.doesNotMatch(err, /Error/)
  const reading = startDossier(t, folder, 'import companies pipe.ndjson --json')
  execFileSync('sh', ['-c', `echo '{"jurisdiction":"GB","identifier":"1"}' > pipe.ndjson`], {
    cwd: folder,
  })
  const report = await reading.ended
  assert.equal(report.code, 0, report.err)
  assert.match(report.out, /"inserted": ?1/)
})

test('a pipe whose columns are refused is not read to its end', async (t) => {
  const folder = makeFolder(t)
  const { child, ended } = startDossier(t, folder, 'import rights - --format csv')
  // Little more than the header may have: all of it is read, and more is waited for.
  child.stdin.write(`company_id,nam\n${'1,x\n'.repeat(263_000)}`)
  assert.match((await ended).err, /nam \(did you mean name\?\) is not a known column/)
})

test('a pipe that cannot be copied any more is not read to its end', async (t) => {
  const folder = makeFolder(t)
  const temporary = join(folder, 'temporary')
  mkdirSync(temporary)
  const { child, ended } = startDossier(t, folder, 'import rights - --format parquet', {
    env: { TMPDIR: temporary },
  })
  // Files without a name have such folders, too, but only for a moment.
  const isOld = (path: string) =>
    Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity) > 1_000
  const copies = () => globSync(join(temporary, 'dossier-duckdb-*')).filter(isOld)
  await until(() => copies().length > 0, 'the folder for the copy is there')
  // As a cleaner of old temporary files may do, while the pipe has nothing yet.
  for (const copy of copies()) rmSync(copy, { recursive: true })
  child.stdin.write(`PAR1${'x'.repeat(1_000)}`)
  // An import that waits for more fails, instead of waiting for ever.
  const late = setTimeout(() => child.stdin.end(), patienceMs)
  t.after(() => clearTimeout(late))
  assert.match((await ended).err, /^dossier: the folder for .* was emptied meanwhile; .*\n$/)
})

test('a row nested 6,000 deep is refused, and the others are read', async (t) => {
  const folder = makeFolder(t)
  const deep = `${'['.repeat(6_000)}${']'.repeat(6_000)}`
  const good = '{"jurisdiction":"GB","identifier":"2"}'
  writeFileSync(
    join(folder, 'x.ndjson'),
    `{"jurisdiction":"GB","identifier":"1","a":${deep}}\n${good}\n`,
  )
  const args = ['import', 'companies', 'x.ndjson', '--rejects', 'bad.ndjson', '--json']
  const { out } = await mustRun(folder, args)
  checkOneRefused(out, 'is nested deeper than 1000 levels')
})
