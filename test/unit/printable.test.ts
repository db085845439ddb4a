// Text that is safe for a terminal.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { printable, printableJson, printableLines } from '../../src/text/printable.ts'
import { withoutPasswordsInText } from '../../src/text/redact.ts'
import { shellWord } from '../../src/text/shell-word.ts'
import { controls } from '../support/terminal-controls.ts'

const text = fc.array(
  fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('\n', '\r', '\t', '\u001b[2J', '\u009b31m', '\u202e', '\ud800', '\u2028'),
  ),
)

test('escaped text has no terminal controls, and escaping is idempotent', () => {
  fc.assert(
    fc.property(text, (parts) => {
      const given = parts.join('')
      const shown = printable(given)
      assert.doesNotMatch(shown, controls)
      assert.ok(!shown.includes('\n') && shown.isWellFormed())
      assert.equal(printable(shown), shown)
      assert.equal(printableLines(given), given.split('\n').map(printable).join('\n'))
    }),
  )
})

test('JSON for a terminal has no terminal controls and the same value', () => {
  fc.assert(
    fc.property(text, fc.jsonValue(), (parts, value) => {
      const given = { [parts.join('')]: [parts.join(''), value] }
      const json = printableJson(JSON.stringify(given))
      assert.doesNotMatch(json, controls)
      assert.deepEqual(JSON.parse(json), JSON.parse(JSON.stringify(given)))
    }),
  )
})

test('escapes are readable, and other characters are unchanged', () => {
  const cases = {
    '\u001b[31m': '\\x1b[31m',
    'a\nb\tc\r': 'a\\nb\\tc\\r',
    '\u0000\u007f\u009b': '\\x00\\x7f\\x9b',
    '\u202eabc\u2066\u200f\u061c': '\\u202eabc\\u2066\\u200f\\u061c',
    'a\u2028b\u2029\udc00': 'a\\u2028b\\u2029\\udc00',
    'Žluťoučký 北京 👩‍👩‍👧 עברית a\\b': 'Žluťoučký 北京 👩‍👩‍👧 עברית a\\b',
  }
  for (const [given, shown] of Object.entries(cases)) assert.equal(printable(given), shown)
})

test('a word of a command is one for a shell, whatever is in it', () => {
  for (const [word, shown] of [
    ['a/b=c', 'a/b=c'],
    ['a b', "'a b'"],
    ["it's; ls", `'it'\\''s; ls'`],
    ['', "''"],
  ] as const) {
    assert.equal(shellWord(word), shown)
  }
})

test('a message has no passwords of URLs, whole ones or not', () => {
  const message = 'cannot reach postgres://me:secret@host/db, me:secret@host or password=secret'
  const shown = withoutPasswordsInText(message)
  assert.doesNotMatch(shown, /secret/)
  assert.match(shown, /^cannot reach postgres:\/\/me:\*\*\*@host\/db, /)
})
