// A member that a JSON object has twice is found, however the text is written: in a row, and in a
// file as it comes, chunk by chunk.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { doubledMember, mayHaveLost } from '../../src/files/json/doubled-member.ts'
import { createMemberScan } from '../../src/text/member-scan.ts'

const find = (text: string) => (isSuspect(text) ? doubledMember(text) : undefined)
const isSuspect = (...texts: readonly string[]) =>
  mayHaveLost(
    texts.join('\n'),
    texts.map((text) => JSON.parse(text) as object),
  )

/** What is found in a file that comes in chunks of so many bytes. */
function scan(text: string, chunkBytes: number) {
  const next = createMemberScan()
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    const found = next(bytes.subarray(at, at + chunkBytes))
    if (found !== undefined) return found
  }
  return undefined
}

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

const inFiles: readonly (readonly [text: string, row: number, name: string])[] = [
  ...Object.entries(doubled).map(([text, name]) => [text, 1, name] as const),
  ['{"a":1}\n{"a":1}\n{"a":{"b":1,"c":{},"b":2}}\n', 3, 'b'],
  ['[{"a":1},\n{"a":[{"x":1},{"x":2,"x":3}]}]', 2, 'x'],
  ['\ufeff[ {"a":"}"} , {"\\u00e9":1,"é":2} ]', 2, 'é'],
]

test('a name that occurs twice is found, in a row, and in a file however it is cut', () => {
  for (const [text, name] of Object.entries(doubled)) assert.equal(find(text), name, text)
  for (const [text, row, name] of inFiles) {
    for (let bytes = 1; bytes <= text.length + 3; bytes += 1) {
      assert.deepEqual(scan(text, bytes), { row, name }, text)
    }
  }
  // Two halves of pairs that are not the same are two names.
  assert.equal(scan('{"\\ud800":1,"\\ud801":2}', 100), undefined)
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

test('exactly the texts with a doubled member are found, in a row and in a file', () => {
  const trees = fc.array(anyTree, { maxLength: 3 })
  const chunkBytes = fc.integer({ min: 1, max: 40 })
  fc.assert(
    fc.property(trees, anyStyle, fc.boolean(), chunkBytes, (rows, style, isArray, bytes) => {
      const texts = rows.map((tree) => textOf({ members: [['row', tree]] }, style))
      const found = texts.map((text) => find(text) !== undefined)
      assert.deepEqual(found, rows.map(isDoubled), texts.join('\n'))
      assert.equal(isSuspect(...texts), rows.some(isDoubled), texts.join('\n'))
      const file = isArray ? `[${texts.join(',')}]` : texts.join('\n')
      assert.equal((scan(file, bytes)?.row ?? 0) - 1, rows.findIndex(isDoubled), file)
    }),
    { numRuns: 1_000 },
  )
})
