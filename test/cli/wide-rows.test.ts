// Rows of kilobytes and megabytes are read within bounded memory, whatever their format.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { closeSync, existsSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { DuckDBInstance } from '@duckdb/node-api'
import { makeFolder } from '../support/import-rows.ts'
import { peakMemoryMb, startDossier } from '../support/run-dossier.ts'

const mapping = `select jurisdiction, identifier, left(note, 60000) as note, source_file, source_row
  from source where note is not null`

const isLong = process.env['DOSSIER_TEST_DATA'] === 'all'
// More than DuckDB reads at once, which is 2,048.
const rowCount = isLong ? 3_000 : 2_100

/** Writes a file of many rows of 20 kB, and two of the maximum length. */
function writeRows(
  path: string,
  longest: number,
  row: (identifier: number, note: string) => string,
): void {
  const file = openSync(path, 'w')
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
  let peakMb = 0
  const watch = setInterval(() => (peakMb = Math.max(peakMb, peakMemoryMb(child.pid))), 5)
  const { code, out, err } = await ended
  clearInterval(watch)
  // A text attribute has at most 64 KiB, which the row checks enforce.
  assert.equal(code, isMapped || name === 'x.parquet' ? 0 : 1, err)
  return { counts: (JSON.parse(out) as { counts: Record<string, number> }).counts, peakMb }
}

const note = (identifier: number, text: string, sep: string) =>
  `GB${sep}${identifier}${sep}${text}\n`
const header = (sep: string) => `jurisdiction${sep}identifier${sep}note\n`

const texts = {
  'x.csv': {
    longest: 16 << 20,
    row: (n: number, text: string) => note(n, `"${text}"`, ','),
    mapped: [true, false],
  },
  'x.tsv': {
    longest: 16 << 20,
    row: (n: number, text: string) => note(n, text, '\t'),
    // The reader of CSV reads these, too.
    mapped: isLong ? [false] : [],
  },
  'x.ndjson': {
    longest: 8 << 20,
    row: (n: number, text: string) =>
      `${JSON.stringify({ jurisdiction: 'GB', identifier: String(n), note: text })}\n`,
    mapped: [true],
  },
}

for (const [name, { longest, row, mapped }] of Object.entries(texts)) {
  for (const isMapped of mapped) {
    test(`${name}${isMapped ? ' with a mapping' : ''}: ${rowCount} rows of 20 kB and two of ${longest >> 20} MiB fit in 350 MB`, async (t) => {
      const folder = makeFolder(t)
      const path = join(folder, name)
      let isFirst = name !== 'x.ndjson'
      writeRows(path, longest, (n, text) => {
        const start = isFirst ? header(name === 'x.csv' ? ',' : '\t') : ''
        isFirst = false
        return start + row(n, text)
      })
      const { counts, peakMb } = await importWide(t, folder, name, isMapped)
      assert.deepEqual([counts['read'], counts['refused']], [rowCount + 2, isMapped ? 0 : 2])
      if (process.platform === 'linux') assert.ok(peakMb > 50 && peakMb < 350, `${peakMb} MB`)
    })
  }
}

for (const isMapped of isLong ? [true, false] : [false]) {
  test(`Parquet${isMapped ? ' with a mapping' : ''}: texts of 60 kB in row groups of 1,024 fit in 350 MB`, async (t) => {
    const folder = makeFolder(t)
    const instance = await DuckDBInstance.create(':memory:', { threads: '1' })
    const connection = await instance.connect()
    await connection.run(
      `copy (select 'GB' as jurisdiction, i::varchar as identifier,
        repeat(md5(i::varchar), 1875) as note from range(2100) t(i))
      to '${join(folder, 'x.parquet')}' (format parquet, row_group_size 1024)`,
    )
    connection.closeSync()
    instance.closeSync()
    const { counts, peakMb } = await importWide(t, folder, 'x.parquet', isMapped)
    assert.deepEqual([counts['read'], counts['inserted']], [2_100, 2_100])
    if (process.platform === 'linux') assert.ok(peakMb > 50 && peakMb < 350, `${peakMb} MB`)
  })
}

test('reading an idle named pipe can be interrupted, and its data is read when it arrives', async (t) => {
  const folder = makeFolder(t)
  execFileSync('mkfifo', [join(folder, 'pipe.ndjson')])
  const waiting = startDossier(t, folder, ['import', 'companies', 'pipe.ndjson'])
  // The store is opened before the pipe.
  while (!existsSync(join(folder, 'dossier.db'))) await new Promise((done) => setTimeout(done, 20))
  await new Promise((done) => setTimeout(done, 500))
  waiting.child.kill('SIGINT')
  const { code, err } = await waiting.ended
  assert.equal(code ?? 130, 130)
  assert.doesNotMatch(err, /Error/)
  const reading = startDossier(t, folder, ['import', 'companies', 'pipe.ndjson', '--json'])
  execFileSync('sh', ['-c', `echo '{"jurisdiction":"GB","identifier":"1"}' > pipe.ndjson`], {
    cwd: folder,
  })
  const report = await reading.ended
  assert.equal(report.code, 0, report.err)
  assert.match(report.out, /"inserted": ?1/)
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
  const { code, out, err } = await startDossier(t, folder, args).ended
  assert.equal(code, 0, err)
  const { counts, problems } = JSON.parse(out) as {
    counts: Record<string, number>
    problems: { reason: string }[]
  }
  assert.deepEqual([counts['inserted'], counts['refused']], [1, 1])
  assert.equal(problems[0]?.reason, 'is nested deeper than 1000 levels')
})
