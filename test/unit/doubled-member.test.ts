// A member that a JSON object has twice is found, however the text is written.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { writingOf } from '../../src/files/json/doubled-member.ts'
import { doubledMember } from '../../src/text/member-scan.ts'

const find = (text: string) => (isSuspect(text) ? doubledMember(Buffer.from(text)) : undefined)
const writing = (...texts: readonly string[]) =>
  writingOf(
    texts.map((text) => JSON.parse(text) as object),
    Buffer.from(texts.join('\n')),
  )
const isSuspect = (...texts: readonly string[]) => writing(...texts) === 'suspect'

const doubled: Readonly<Record<string, string>> = {
  '{"a":1,"a":2}': 'a',
  '{"a":"x","b":"y","a":"x"}': 'a',
  '{"date":"x","name":"y","name":"y"}': 'name',
  '{"a":1,"b":{"c":1,"c":2}}': 'c',
  '{"a":[{"x":1},{"x":2,"x":3}]}': 'x',
  '{"\\u0061":1,"a":2}': 'a',
  '{"a" : "\\"," , "b":"\\\\" , "a":1}': 'a',
  '{"":1,"":2}': '',
  '{"2":1,"1":2,"2":3}': '2',
  '{"__proto__":1,"__proto__":2}': '__proto__',
  '{"x": 1,"b":2,"c":3,"d":4,"x":1}': 'x',
  '{"a":1e9,"bc":1,"bc":1}': 'bc',
}

test('a name that occurs twice is found', () => {
  for (const [text, name] of Object.entries(doubled)) assert.equal(find(text), name, text)
  // Two halves of pairs that are not the same are two names.
  assert.equal(doubledMember(Buffer.from('{"\\ud800":1,"\\ud801":2}')), undefined)
})

const anyText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 4 }),
  fc.constantFrom('"', '\\', '\\"', ',', ':', '}', '{"a":1,"a":2}', '😀', 'a', 'b'),
)

// No shorter ones with an escaped character: Node.js 26.10 takes `{"\\":1}` and `{"\"":1}` for one.
const anyName = fc.constantFrom('', 'a', 'b', ':', '},', 'say "hi"', 'back\\slash', 'naïve 😀')

type Members = readonly (readonly [name: string, value: Tree])[]
type Tree = { readonly word: unknown } | { readonly list: Tree[] } | { readonly members: Members }

/** Values in which some objects have a member of the same name twice. */
const { tree: anyTree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({ word: fc.oneof(anyText, fc.integer(), fc.constantFrom(null, true, -0.5)) }),
    fc.record({ list: fc.array(tie('tree'), { maxLength: 3 }) }),
    fc.record({ members: fc.array(fc.tuple(anyName, tie('tree')), { maxLength: 4 }) }),
  ),
}))

/** How members are separated, colons and commas in turn; most programs do it in one way. */
const separators = fc.constantFrom([':', ','], [': ', ', '], [':\t', ',\n  '], [' :', ' , '])
const anyStyle = fc.array(separators, { minLength: 1, maxLength: 3 })

function textOf(tree: Tree, style: readonly (readonly string[])[]): string {
  const separator = (n: number, at: 0 | 1) => style[n % style.length]?.[at] ?? ''
  const joined = (parts: readonly string[]) =>
    parts.map((part, n) => (n === 0 ? part : separator(n, 1) + part)).join('')
  if ('word' in tree) return write(tree.word)
  if ('list' in tree) return `[${joined(tree.list.map((one) => textOf(one, style)))}]`
  const members = tree.members.map(
    ([name, one], n) => write(name) + separator(n, 0) + textOf(one, style),
  )
  return `{${joined(members)}}`
}

function isDoubled(tree: Tree): boolean {
  if ('word' in tree) return false
  if ('list' in tree) return tree.list.some(isDoubled)
  const names = tree.members.map(([name]) => name)
  return new Set(names).size < names.length || tree.members.some(([, one]) => isDoubled(one))
}

/** JSON, with characters beyond ASCII escaped, as many programs write them. */
function write(value: unknown): string {
  return JSON.stringify(value).replace(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

test('a plain text is what JSON.stringify makes of its value', () => {
  for (const text of ['{}', '{"a":1,"b":"x: [é]","c":[true,null,{"d":""}]}']) {
    assert.equal(writing(text, text), 'plain')
  }
  const others = [
    '{"a": 1}',
    '{"a":1}\r',
    '{"a":-0}',
    '{"a":1.0}',
    '{"a":"\\u00e9"}',
    '{"a":"\\/"}',
  ]
  for (const text of others) assert.equal(writing('{}', text), 'other')
  fc.assert(
    fc.property(fc.array(anyTree, { minLength: 1, maxLength: 3 }), anyStyle, (trees, style) => {
      const texts = trees.map((tree) => textOf({ members: [['row', tree]] }, style))
      if (writing(...texts) !== 'plain') return
      for (const text of texts) assert.equal(JSON.stringify(JSON.parse(text)), text)
    }),
  )
})

test('exactly the texts with a doubled member are found', () => {
  fc.assert(
    fc.property(fc.array(anyTree, { maxLength: 3 }), anyStyle, (rows, style) => {
      const texts = rows.map((tree) => textOf({ members: [['row', tree]] }, style))
      const found = texts.map((text) => find(text) !== undefined)
      assert.deepEqual(found, rows.map(isDoubled), texts.join('\n'))
      assert.equal(isSuspect(...texts), rows.some(isDoubled), texts.join('\n'))
    }),
    { numRuns: 1_000 },
  )
})
