// CSV files: invalid UTF-8 is reported with its line, at any chunk boundary.

import assert from 'node:assert/strict'
import { isUtf8 } from 'node:buffer'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { readText } from '../../src/files/read-text.ts'
import { findSourceFiles } from '../../src/files/source-file.ts'
import { makeFolder } from '../support/import-rows.ts'

/** Reads a CSV file of these bytes; returns its columns and its rows. */
async function prepare(folder: string, bytes: Buffer) {
  const path = join(folder, 'x.csv')
  writeFileSync(path, bytes)
  const [file] = await findSourceFiles([path])
  assert.ok(file)
  const nothing = () => undefined
  const reading = { onBytes: nothing, onFile: nothing, signal: new AbortController().signal }
  let columns: readonly string[] = []
  const rows: unknown[] = []
  const batches = readText(file, 0, reading, (found) => (columns = found))
  for await (const some of batches) rows.push(...Array.from(some, ({ row }) => row))
  return { columns, rows }
}

const header = Buffer.from('a,b\n')

test('an invalid byte deep in a file is reported with its line (G13)', async (t) => {
  const folder = makeFolder(t)
  const line = Buffer.from('é,é\n')
  for (const lines of [1, 70_000, 150_000]) {
    const bytes = [header, ...Array<Buffer>(lines).fill(line), Buffer.from([0xe9, 0x2c, 10]), line]
    const says = new RegExp(`x\\.csv: line ${lines + 2} is not valid UTF-8; choose the encoding`)
    await assert.rejects(prepare(folder, Buffer.concat(bytes)), says)
  }
})

test('bytes pass only if they are valid UTF-8, else the first bad line is named', async (t) => {
  const folder = makeFolder(t)
  const anyBytes = fc
    .array(fc.constantFrom('a', '\n', 'Ã©', 'ð\x9f\x98\x80', '\xe9', '\xed\xa0\x80', '\xc0\x80'))
    .map((pieces) => Buffer.from(pieces.join(''), 'latin1'))
  await fc.assert(
    fc.asyncProperty(anyBytes, async (bytes) => {
      const file = Buffer.concat([header, bytes])
      if (isUtf8(file)) {
        assert.deepEqual((await prepare(folder, file)).columns, ['a', 'b'])
        return
      }
      const lines = file.toString('latin1').split('\n')
      const bad = lines.findIndex((line) => !isUtf8(Buffer.from(line, 'latin1')))
      await assert.rejects(prepare(folder, file), new RegExp(`line ${bad + 1} is not valid UTF-8`))
    }),
    { numRuns: 200 },
  )
})

/** Headers, their columns and their delimiter. */
const headers: readonly (readonly [text: string, columns: readonly string[], delimiter: string])[] =
  [
    ['id,name', ['id', 'name'], ','],
    ['\uFEFFid,name', ['id', 'name'], ','],
    ['"id";"na;me, x"', ['id', 'na;me, x'], ';'],
    ['id\tname', ['id', 'name'], '\t'],
    ['id|name|x,y', ['id', 'name', 'x,y'], '|'],
    ['"say ""id""",name', ['say "id"', 'name'], ','],
    ['"two\nlines",name', ['two\nlines', 'name'], ','],
    ['5" disc,"a""b"', ['5" disc', 'a"b'], ','],
    [' id , name ', ['id', 'name'], ','],
    ['id', ['id'], ','],
    ['id,', ['id'], ','],
    ['id,name,,', ['id', 'name'], ','],
  ]

test('a header has its columns, whatever its delimiter and quotes', async (t) => {
  for (const [text, columns, delimiter] of headers) {
    const row = columns.map(() => '1').join(delimiter)
    const found = await prepare(makeFolder(t), Buffer.from(`${text}\n${row}\n`))
    const rows = [Object.fromEntries(columns.map((name) => [name, '1']))]
    assert.deepEqual(found, { columns, rows }, text)
  }
})
