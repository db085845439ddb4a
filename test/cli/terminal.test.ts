// No external text reaches a terminal as a control sequence, on any path.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { importInto, importRows, makeFolder } from '../support/import-rows.ts'
import { mustRun, runCommand } from '../support/run-command.ts'
import { dossier, startDossier } from '../support/run-dossier.ts'
import { changeStore } from '../support/store-state.ts'
import { controls } from '../support/terminal-controls.ts'

/** Sets a window title, starts an 8-bit colour, reverses text, and forges a line. */
const evil = 'owned\u001b]0;t\u0007\u009b31m\u007f\u202e\u2066\u2028\r\nforged: line'
/** For a name on a command line or in a file system. */
const evilName = evil.replaceAll('/', '')
const quoted = JSON.stringify(evil)

/** Files that an import of rights refuses with a message that quotes them. */
const sources: Readonly<Record<string, readonly [name: string, text: string]>> = {
  'an unknown column': ['x.csv', `id,company_id,"${evil}"\n1,7,x\n`],
  'a duplicate column': ['x.csv', `id,company_id,"${evil}","${evil}"\n1,7,x,y\n`],
  'an unknown member': ['x.ndjson', `{"id":1,"company_id":7,${quoted}:1}\n`],
  'a bad value': ['x.ndjson', `{"id":${quoted},"company_id":7}\n`],
  'a line that is not JSON': ['x.ndjson', `{"id":1,${evil}\n`],
  'a file name': [`${evilName}.csv`, 'id,company_id\nx,7\n'],
  'a file name without a format': [`${evilName}.${evilName}`, 'id,company_id\nx,7\n'],
}

/** Arguments that cause an error which quotes them. */
const typed: readonly (readonly string[])[] = [
  [evil],
  ['import', 'rights', evil],
  ['import', 'rights', 'good.csv', '--map', evil],
  ['import', 'rights', 'good.csv', '--map', 'evil.sql'],
  ['import', 'rights', 'good.csv', '--rejects', `${evil}/x`],
  ['import', 'rights', 'good.csv', `--${evil}`],
  ['keys', 'rotate', evil],
  ['keys', 'list', '--db', evil],
  ['company', 'XX', evil],
  ['find', evil],
  ['serve', '--port', evil],
]

function assertHarmless(text: string): void {
  assert.doesNotMatch(text, controls)
  assert.doesNotMatch(text, /^forged/m)
  assert.ok(text.isWellFormed())
}

/** A store with names and texts that no current command would accept. */
async function makeEvilStore(folder: string): Promise<string> {
  const db = join(folder, 'dossier.db')
  const company = {
    jurisdiction: 'XX',
    identifier: '1',
    [evil]: evil,
    name: evil,
    address: 'a street\na town',
  }
  await importRows(db, 'companies', [company, { jurisdiction: 'XX', identifier: '2' }])
  const event = { attr: evil, before_value: evil, created_at: '2026-01-31' }
  await importRows(db, 'events', [
    { id: 1, company_jurisdiction: 'XX', company_identifier: '1', ...event },
  ])
  const path = join(folder, `${evilName}.ndjson`)
  writeFileSync(path, '{"id":2,"company_id":1}\n')
  await importInto(db, 'rights', [path])
  using file = new DatabaseSync(db)
  file.prepare('update sources set name = ?').run(evil)
  file.prepare("update company_states set identifier = ? where identifier = '2'").run(evil)
  file
    .prepare(`insert into keys (name, hint, hash, created_at, rate) values (?, ?, x'00', 0, ?)`)
    .run(evil, evil, evil)
  return db
}

describe('a terminal', { concurrency: 2 }, () => {
  for (const [what, [name, text]] of Object.entries(sources)) {
    test(`gets no controls from ${what} in an imported file`, async (t) => {
      const folder = makeFolder(t)
      writeFileSync(join(folder, name), text)
      const { code, out, err } = await runCommand(folder, ['import', 'rights', name])
      assert.equal(code, 1, err)
      assert.match(err, /owned/)
      assertHarmless(out + err)
    })
  }

  test('gets no controls from arguments or the environment', async (t) => {
    const folder = makeFolder(t)
    await importRows(join(folder, 'dossier.db'), 'companies', [
      { jurisdiction: 'XX', identifier: `${evil}2` },
    ])
    writeFileSync(join(folder, 'good.csv'), 'id,company_id\n1,7\n')
    writeFileSync(join(folder, 'evil.sql'), `select "${evil}" from source`)
    for (const words of typed) {
      const { code, out, err } = await runCommand(folder, words)
      assert.ok(code === 1 || code === 2, err)
      assert.match(err, /owned/, words.join(' '))
      assertHarmless(out + err)
    }
    const env = { [`DOSSIER_${evilName}`]: 'x', DOSSIER_HOST: evil }
    const { out, err } = await runCommand(folder, ['check-config'], { env })
    assert.match(out + err, /owned/)
    assertHarmless(out + err)
  })

  test('gets no controls from a store: names of keys, sources and files, attributes', async (t) => {
    const folder = makeFolder(t)
    const db = await makeEvilStore(folder)
    for (const words of [
      ['keys', 'list'],
      ['imports'],
      ['find', 'owned'],
      ['company', 'XX', '1'],
      ['company', 'XX', evil],
    ]) {
      const { out, err } = await mustRun(folder, words)
      assert.match(out, /owned\\x1b\]0;t/, words.join(' '))
      assertHarmless(out + err)
    }
    const { out } = await runCommand(folder, ['company', 'XX', '1'])
    assert.match(out, /^ {2}address +a street a town$/m)
    changeStore(db, `update segments set texts = cast('{"a":"${evil}"}' as blob)`)
    const verified = await runCommand(folder, ['verify'])
    assert.equal(verified.code, 1)
    assertHarmless(verified.out + verified.err)
  })

  test('files and pipes get JSON unchanged, a terminal the same value escaped', async (t) => {
    const folder = makeFolder(t)
    await makeEvilStore(folder)
    const { out } = await runCommand(folder, ['company', 'XX', '1', '--json'])
    assert.equal(out, `${JSON.stringify(JSON.parse(out))}\n`)
    assert.ok(out.includes('\u202e'))
    writeFileSync(join(folder, 'x.ndjson'), `{"id":1,"company_id":7,${quoted}:1}\n`)
    const args = ['import', 'rights', 'x.ndjson', '--rejects', 'rejects.ndjson']
    assert.equal((await runCommand(folder, args)).code, 1)
    const rejects = readFileSync(join(folder, 'rejects.ndjson'), 'utf8')
    assert.equal(rejects, `${JSON.stringify(JSON.parse(rejects))}\n`)
    assert.ok(rejects.includes('\u202e'))
    const command = `${dossier} company XX 1 --json`
    const shown = spawnSync('script', ['-qec', command, '/dev/null'], { cwd: folder })
    if (shown.error) return t.diagnostic('no terminal to try: the command script is not there')
    const json = shown.stdout.toString().trimEnd()
    assertHarmless(json)
    assert.deepEqual(JSON.parse(json), JSON.parse(out))
  })

  test('the text log of a server escapes controls', async (t) => {
    const folder = makeFolder(t)
    const db = join(folder, `${evilName}.db`)
    await importRows(db, 'rights', [{ id: 1, company_id: 7 }])
    const args = ['serve', '--db', db, '--port', '0', '--log-format', 'text', '--stop-seconds', '0']
    const { child, until, ended } = startDossier(t, folder, args)
    await until(/listening[^]*owned/)
    child.kill('SIGTERM')
    const { out, err } = await ended
    assertHarmless(out + err)
  })
})
