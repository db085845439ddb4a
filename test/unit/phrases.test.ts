// People in texts that are about something else are found by hashes of their words.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHasher } from '../../src/store/withholding/list/hashes.ts'
import {
  lineOf,
  newList,
  nextState,
  noState,
  parseList,
} from '../../src/store/withholding/list/list.ts'
import { createHidePhrases, phrasesOf } from '../../src/store/withholding/phrases.ts'

const hasher = createHasher('salt')
const hide = (values: readonly string[], text: string) =>
  createHidePhrases(phrasesOf(values, hasher), hasher)(text)

test('a phrase is found whatever its case, its marks and the characters between its words', () => {
  for (const [text, hidden] of [
    ['Jane Doe', '[withheld]'],
    ['JÁNE  DOE, Director', '[withheld], Director'],
    ['(jane-doe)', '([withheld])'],
    ['Jane\nDoe; Jane Doe', '[withheld]; [withheld]'],
    ['J\u00adane Do\u00ade, {"a": "Ja\\u00adne Doe"}', '[withheld], {"a": "[withheld]"}'],
    ['Dr. Jane Doe-Smith', 'Dr. [withheld]-Smith'],
    ['Jane Doering', 'Jane Doering'],
    ['Doe Jane', 'Doe Jane'],
    ['', ''],
  ] as const) {
    assert.equal(hide(['Jane Doe'], text), hidden)
  }
})

test('a phrase is found in whatever form its marks are encoded', () => {
  for (const name of [
    'José Muñoz',
    'João Simões',
    'Nguyễn Thị Bưởi',
    'Ṭoḏ',
    'ガザ 太郎',
    'น้ำ ใจดี',
  ]) {
    const forms = [name.normalize('NFC'), name.normalize('NFD')]
    for (const form of forms) {
      for (const text of forms) assert.equal(hide([form], `CEO: ${text}`), 'CEO: [withheld]')
    }
  }
})

test('a phrase is found in capitals that are written otherwise, and without strokes', () => {
  for (const [name, written] of [
    ['Jürgen Groß', 'JÜRGEN GROSS'],
    ['Jürgen Groß', 'JÜRGEN GROẞ'],
    ['Ayşe Yıldız', 'AYŞE YILDIZ'],
    ['Łukasz Sørensen', 'LUKASZ SORENSEN'],
    ['Ανδρέας', 'ΑΝΔΡΕΑΣ'],
  ] as const) {
    assert.equal(hide([name], `CEO: ${written}`), 'CEO: [withheld]')
    assert.equal(hide([written], `CEO: ${name}`), 'CEO: [withheld]')
  }
})

type Case = readonly [name: string, text: string, hidden: string]

function checkHidden(cases: readonly Case[]): void {
  for (const [name, text, hidden] of cases) assert.equal(hide([name], text), hidden)
}

test('a phrase is found in scripts that do not separate words', () => {
  checkHidden([
    ['王小明', '法定代表人王小明、2001年', '法定代表人[withheld]、2001年'],
    ['田中太郎', '代表取締役田中　太郎', '代表取締役[withheld]'],
    ['田中 太郎', '代表取締役田中太郎様', '代表取締役[withheld]様'],
    ['김철수', '대표이사 김철수는'.normalize('NFD'), '대표이사 [withheld]는'.normalize('NFD')],
    ['สมชาย ใจดี', 'นายสมชายใจดี', 'นาย[withheld]'],
    ['Jane Doe', 'Jane Doe様', '[withheld]様'],
    ['李娜', '董事李娜', '董事[withheld]'],
    ['李', '董事李娜', '董事李娜'],
    ['이산', '이산', '[withheld]'],
    ['王小明', '王大明', '王大明'],
  ])
})

test('a value of many words is found by its parts, but by no word alone', () => {
  for (const count of [32, 33, 64, 65, 993]) {
    const words = Array.from({ length: count }, (_, n) => `word${n}`)
    const parts = Array(Math.ceil(count / 32))
      .fill('[withheld]')
      .join(' ')
    assert.equal(hide([words.join(' ')], `1, ${words.join(' ')}.`), `1, ${parts}.`)
    const last = words.slice(-15).join(' ')
    assert.equal(hide([words.join(' ')], last), last)
  }
  const dense = 'ก'.repeat(40)
  assert.equal(hide([dense], `x ${dense}`), 'x [withheld][withheld]')
})

test('a phrase is found in JSON within a text, whatever is escaped there', () => {
  checkHidden([
    ['Jáne Doe', '{"n":"J\\u00e1ne Doe","x":1}', '{"n":"[withheld]","x":1}'],
    ['Jane Doe', 'CEO\\u000bJa\\u0301ne\\nDOE\\u000b', 'CEO\\u000b[withheld]\\u000b'],
    ['Иван', '["\\u0418\\u0432\\u0430\\u043D"]', '["[withheld]"]'],
    ['王小明', '\\u524d\\u738b\\u5c0f\\u660e\\u5f8c', '\\u524d[withheld]\\u5f8c'],
    ['𝒥ane', '\\ud835\\udca5ane', '[withheld]'],
    ['Jane Doe', '\\u00e1Jane Doe', '\\u00e1Jane Doe'],
    ['Jáne Doe', '"x\\\\nJ\\\\u00e1ne\\\\n\\"Doe\\\\n\\"', '"x\\\\n[withheld]\\\\n\\"'],
    ['𝒥áne', '\\\\n\\\\\\\\ud835\\\\\\\\udca5\\\\u00e1ne', '\\\\n[withheld]'],
    ['renée Doe', '{"x":"S:\\\\ren\\u00e9e doe"}', '{"x":"S:\\\\[withheld]"}'],
  ])
})

test('a phrase is found behind a backslash, which may be no escape', () => {
  checkHidden([
    ['Robert Doe', 'S:\\Robert Doe\\cv', 'S:\\[withheld]\\cv'],
    ['Robert Doe', 'corp\\robert doe', 'corp\\[withheld]'],
    ['Robert Doe', '{"x":"S:\\\\robert doe"}', '{"x":"S:\\\\[withheld]"}'],
    ['corp\\robert', 'corp\\Robert', '[withheld]'],
    ['Ub40 Doe', 'C:\\UB40 Doe', 'C:\\[withheld]'],
  ])
})

test('any script, names of one word, and the longer of two phrases are found; short ones are not', () => {
  assert.equal(hide(['Иван Петрович'], 'ИП «ИВАН ПЕТРОВИЧ»'), 'ИП «[withheld]»')
  assert.equal(hide(['Cher'], 'cherry, Cher'), 'cherry, [withheld]')
  assert.equal(hide(['770412345678'], 'No. 770412345678.'), 'No. [withheld].')
  assert.equal(hide(['Jane', 'Jane Doe'], 'Jane Doe and Jane'), '[withheld] and [withheld]')
  assert.equal(hide(['Li', '-'], 'Li -'), 'Li -')
})

test('hashes depend on the salt, and on what is hashed', () => {
  const hashes = [
    hasher('key', 'a', 'b'),
    hasher('key', 'ab', ''),
    hasher('value', 'a', 'b'),
    createHasher('other')('key', 'a', 'b'),
  ]
  assert.equal(new Set(hashes).size, hashes.length)
})

test('the states of a list tell any two lists apart', () => {
  const why = { registry: 'a', reason: 'r', by: 'b', day: '2026-11-23' }
  const first = lineOf({ number: 1, lifts: 1, ...why })
  const text = newList() + first
  const { states, entries } = parseList(text, 'list')
  assert.equal(entries.length, 1)
  assert.deepEqual(states, [noState, nextState(noState, first)])
  const second = lineOf({ number: 2, lifts: 1, ...why })
  const other = nextState(nextState(noState, first.replace('"r"', '"s"')), second)
  assert.notEqual(nextState(states[1] ?? '', second), other)
  assert.match(other, /^2 [0-9a-f]{24}$/)
  assert.throws(() => parseList(`${text}${lineOf({ number: 3, lifts: 1, ...why })}`, 'l'), /line 3/)
  assert.throws(() => parseList('{"format":9}\n', 'l'), /line 1/)
})
