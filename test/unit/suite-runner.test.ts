// What `npm test` prints, and where its temporary files are.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { dearestFiles } from '../../scripts/dearest-files.ts'
import { createTurns } from '../../scripts/in-turn.ts'
import { makeTemporaryFolder } from '../../scripts/temporary-folder.ts'

test('parts that run side by side print in one piece each, the first of them at once', () => {
  let printed = ''
  const startPart = createTurns((text) => (printed += text))
  const [first, second, third] = [startPart(), startPart(), startPart()]
  second.write('2')
  first.write('1')
  assert.equal(printed, '1')
  third.write('3')
  third.end()
  first.write('1')
  first.end()
  assert.equal(printed, '112')
  second.write('2')
  assert.equal(printed, '1122')
  second.end()
  assert.equal(printed, '11223')
})

test('the dearest files are those with most processor time, of their processes too', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'dossier-test-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const account = join(folder, 'account')
  const lines = Array.from({ length: 12 }, (_, n) => `test/${n}.test.ts\t1\t${n}\t20\n`)
  writeFileSync(account, lines.join(''))
  const [head, , ...rows] = dearestFiles(account, 'sqlite').trimEnd().split('\n')
  assert.equal(head, 'sqlite: 78 s of processor time in 12 files; dearest:')
  assert.equal(rows.length, 10)
  assert.match(rows[0] ?? '', /^ +12\.0 +1\.0 +20\.0 {2}test\/11\.test\.ts$/)
})

test('temporary files are where TMPDIR says, and every user may make some there', (t) => {
  const said = t.mock.method(console, 'log', () => undefined)
  const before = process.env['TMPDIR']
  t.after(() => {
    if (before === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = before
  })
  const given = mkdtempSync(join(tmpdir(), 'dossier-test-'))
  t.after(() => rmSync(given, { recursive: true }))
  process.env['TMPDIR'] = given
  const folder = makeTemporaryFolder()
  assert.equal(dirname(folder), given)
  assert.equal(statSync(folder).mode & 0o7777, 0o1777)
  assert.match(String(said.mock.calls[0]?.arguments[0]), /^temporary files are in .*TMPDIR is set$/)
})
