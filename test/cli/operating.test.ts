// Operating imports: reports, progress, interruptions and conflicting files.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { constants, getPriority } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { importRows, makeFolder, makePlace, queryValue } from '../support/import-rows.ts'
import { mustRun, runCommand } from '../support/run-command.ts'
import { checkExit, runDossier, startDossier } from '../support/run-dossier.ts'

const row = (id: number) => `{"id":${id},"company_id":7}\n`

/** Imports a text of rights in a folder. */
function load(folder: string, text: string, args: readonly string[] = [], env = {}) {
  writeFileSync(join(folder, 'x.ndjson'), text)
  return runCommand(folder, ['import', 'rights', 'x.ndjson', ...args], { env })
}

/** What runs a command with a fault; undefined if that is not possible here. */
function underFault(...fault: readonly string[]): readonly string[] | undefined {
  const via = ['strace', '-f', '-qq', '-o', '/dev/null', ...fault]
  return spawnSync('strace', [...via.slice(1), 'true']).status === 0 ? via : undefined
}

describe('operating imports', { concurrency: 2 }, () => {
  test('without a terminal, progress is plain lines on standard error', async (t) => {
    const { child, said, until, ended } = startDossier(t, makeFolder(t), 'import rights -')
    let id = 0
    const feed = setInterval(() => child.stdin.write(row((id += 1))), 50)
    await until(/reading/)
    clearInterval(feed)
    assert.match(said.err, /^reading: \d+ rows, \d+ rows\/s(?:, \d+ %)?\n$/)
    child.stdin.end()
    const { code, out, err } = await ended
    assert.equal(code, 0)
    assert.match(out, new RegExp(`^ {2}inserted +${id}$`, 'm'))
    // oxlint-disable-next-line no-control-regex -- terminal controls must not appear
    assert.doesNotMatch(out + err, /[\u001b\r]/)
  })

  test('an import has the lowest priority; within another process, it leaves the priority alone', async (t) => {
    const folder = makeFolder(t)
    const before = getPriority()
    writeFileSync(join(folder, 'x.ndjson'), row(1))
    await mustRun(folder, 'import rights x.ndjson')
    assert.equal(getPriority(), before, 'commands of a test share its process')

    const { child, ended, until } = startDossier(t, folder, 'import rights -')
    const feed = setInterval(() => child.stdin.write(row(2)), 50)
    await until(/reading/)
    clearInterval(feed)
    assert.equal(getPriority(child.pid), constants.priority.PRIORITY_LOW)
    child.stdin.end()
    assert.equal((await ended).code, 0)
  })

  for (const [fault, code, says] of [
    ['setpriority:error=EPERM', 0, /^(?!.*priority)/],
    ['mkdir:error=EDQUOT', 1, /^dossier: the folder for .* is full; set TMPDIR to another one\n$/],
  ] as const) {
    test(`an import under a system that answers ${fault}`, async (t) => {
      const via = underFault('-e', `inject=${fault}`)
      if (via === undefined) return t.skip('needs strace, and the right to trace')
      const folder = makeFolder(t)
      const run = await runDossier(folder, 'import rights -', { input: row(1), via })
      checkExit(run, code, says)
    })
  }

  test('an import whose refused rows cannot be kept changes nothing', async (t) => {
    const folder = makeFolder(t)
    const rejects = join(folder, 'refused.ndjson')
    const via = underFault('-P', rejects, '-e', 'inject=fsync:error=ENOSPC')
    if (via === undefined) return t.skip('needs strace, and the right to trace')
    writeFileSync(rejects, '')
    const input = `${row(1)}{"id":2}\n`
    const args = ['import', 'rights', '-', '--rejects', rejects]
    checkExit(await runDossier(folder, args, { input, via }), 1, /cannot be written: ENOSPC/)
    writeFileSync(rejects, '')
    const next = await runDossier(folder, args, { input })
    assert.match(next.out, /^Committed as version 1 /m)
  })

  test('standard output has only the JSON report, even if the import was refused', async (t) => {
    const rows = Array.from({ length: 25 }, (_, n) => `{"id":${-n},"company_id":7}\n`).join('')
    const { code, out } = await load(makeFolder(t), row(1) + rows, ['--json'])
    assert.equal(code, 1)
    const report = JSON.parse(out) as { problems: { number: number }[] }
    const numbers = report.problems.map(({ number }) => number)
    assert.deepEqual(
      numbers,
      Array.from({ length: 20 }, (_, n) => n + 2),
    )
    const place = { version: null, resource: 'rights', source: 'default' }
    const counts = { read: 26, inserted: 1, refused: 25, companies_created: 1 }
    assert.partialDeepStrictEqual(report, { ...place, ...counts })
  })

  test('refusals that differ only in location and value are one line', async (t) => {
    const lines = Array.from({ length: 1_224 }, (_, n) => `{"id":${-n},"company_id":7}\n`)
    const typo = '{"id":1,"company_id":7,"nmae":"x"}\n'
    const text = [...lines, typo, typo].join('')
    const { code, out, err } = await load(makeFolder(t), text)
    assert.equal(code, 1)
    assert.deepEqual(err.trimEnd().split('\n'), [
      'x.ndjson: line 1: id: 0: must be 1 or greater (and 1,223 more rows, also -1, -2, -3)',
      'x.ndjson: line 1225: nmae: is not a known column; did you mean name? (and 1 more row)',
    ])
    assert.match(out, /Nothing was loaded: 1,226 rows were refused/)
  })

  test('the first 20 kinds of refusals are reported, with the number of further rows', async (t) => {
    const rows = Array.from({ length: 25 }, (_, n) => `{"company_id":1,"c${n}":1}\n`.repeat(2))
    const { err } = await load(makeFolder(t), rows.join(''))
    const lines = err.trimEnd().split('\n')
    assert.equal(lines.length, 21)
    assert.match(lines[19] ?? '', /line 39: c19: is not a known column.* \(and 1 more row\)$/)
    assert.equal(lines[20], '… and 10 more')
  })

  test('repeating an import changes nothing, and is a new version (G19)', async (t) => {
    const folder = makeFolder(t)
    await load(folder, row(1))
    const { out } = await load(folder, row(1), ['--json', '--accept'])
    const report = JSON.parse(out) as { version: number; unchanged: number }
    assert.deepEqual([report.version, report.unchanged], [2, 1])
    assert.equal(queryValue(join(folder, 'dossier.db'), 'select version from heads'), 1)
  })

  test('--db names the store, else DOSSIER_DB', async (t) => {
    const folder = makeFolder(t)
    const env = { DOSSIER_DB: 'variable.db' }
    assert.equal((await load(folder, row(1), [], env)).code, 0)
    assert.equal((await load(folder, row(1), ['--db', 'option.db'], env)).code, 0)
    for (const name of ['variable.db', 'option.db']) {
      assert.equal(queryValue(join(folder, name), 'select max(version) from imports'), 1, name)
    }
  })

  for (const [signal, expected] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const) {
    test(`${signal} while an import reads changes nothing, and is its exit code (G20)`, async (t) => {
      const { folder, db } = makePlace(t)
      await importRows(db, 'rights', [{ id: 1, company_id: 7 }])
      const args = ['import', 'rights', '-', '--snapshot', '--complete']
      const { child, until, ended } = startDossier(t, folder, args)
      const feed = setInterval(() => child.stdin.write(row(2).repeat(100)), 50)
      await until(/reading/)
      child.kill(signal)
      const { code, err } = await ended
      clearInterval(feed)
      assert.equal(code, expected)
      assert.match(err, /interrupted; nothing was changed/)
      assert.equal(queryValue(db, 'select id from rights_view'), 1)
      assert.equal(queryValue(db, 'select max(version) from imports'), 1)
    })
  }

  test('a signal ends an import while it merges, too (G20)', async (t) => {
    const { db } = makePlace(t)
    await importRows(db, 'rights', [{ id: 1, company_id: 7 }])
    const stop = new AbortController()
    const steps: string[] = []
    const onProgress = ({ step }: { step: string }) => {
      steps.push(step)
      if (step === 'comparing') stop.abort('SIGINT')
    }
    const { signal } = stop
    const run = importRows(db, 'rights', [{ id: 2, company_id: 7 }], { onProgress, signal })
    await assert.rejects(run, (reason) => reason === 'SIGINT')
    assert.deepEqual(steps.slice(-2), ['placing', 'comparing'])
    assert.equal(queryValue(db, 'select max(version) from imports'), 1)
  })

  test('--rejects never overwrites the store, a source or the mapping (G22)', async (t) => {
    const { folder, db } = makePlace(t)
    await importRows(db, 'rights', [{ id: 1, company_id: 7 }])
    writeFileSync(join(folder, 'x.ndjson'), row(2))
    writeFileSync(join(folder, 'm.sql'), 'select * from source')
    const args = ['import', 'rights', 'x.ndjson', '--map', 'm.sql', '--rejects']
    symlinkSync(db, join(folder, 'link.db'))
    for (const name of ['dossier.db', 'link.db', 'x.ndjson', './x.ndjson', 'm.sql']) {
      const before = readFileSync(join(folder, name))
      const run = await runCommand(folder, [...args, name])
      assert.ok(readFileSync(join(folder, name)).equals(before), `${name} is as it was`)
      assert.equal(run.code, 2, name)
    }
    assert.equal((await runCommand(folder, [...args, 'new.db', '--db', 'new.db'])).code, 2)
    assert.equal((await runCommand(folder, [...args, 'dossier.db-wal'])).code, 2)
  })

  test('--format sets the format of a file whose name does not show it', async (t) => {
    const folder = makeFolder(t, { 'x.txt': 'id\tcompany_id\n1\t7\n' })
    await mustRun(folder, 'import rights x.txt --format tsv')
    assert.equal(queryValue(join(folder, 'dossier.db'), 'select id from rights_view'), 1)
  })
})
