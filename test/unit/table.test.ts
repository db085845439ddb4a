// Tables are aligned on a terminal in any script.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { displayWidth, tableLines } from '../../src/cli/table.ts'

/** The number of terminal columns of each text. */
const widths: Readonly<Record<string, number>> = {
  '': 0,
  'plain text': 10,
  'Łódź → …': 8,
  'Москва Ελλάς עברית العربية': 26,
  北京市海淀区: 12,
  'ひらがな、カタカナ。': 20,
  ｶﾀｶﾅ: 4,
  한국어: 6,
  '\u1112\u1161\u11ab': 2,
  ＡＢＣ: 6,
  'e\u0301a\u0308': 2,
  กำหนดที่: 6,
  'क\u094d': 1,
  עִבְרִית: 5,
  '🏢': 2,
  '©': 1,
  'a\u200bb\u00adc': 4,
  𠀋: 2,
}

test('a wide character takes two columns, a combining mark none, an emoji two', () => {
  for (const [text, width] of Object.entries(widths)) {
    assert.equal(displayWidth(text), width, JSON.stringify(text))
  }
})

test('the columns of a table are aligned', () => {
  const names = Object.keys(widths)
  const lines = tableLines(names.map((name) => [name, '|']))
  const places = lines.map((line) => displayWidth(line.slice(0, line.lastIndexOf('|'))))
  assert.deepEqual(new Set(places), new Set([Math.max(...Object.values(widths)) + 2]))
})

test('a cell with controls has the width of its escaped text', () => {
  assert.deepEqual(
    tableLines([
      ['a\u001bb', 'x'],
      ['abcdef', 'y'],
    ]),
    ['a\\x1bb  x', 'abcdef  y'],
  )
})
