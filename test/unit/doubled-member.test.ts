// A member that a JSON object has twice is found, however the text is written.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { doubledMember } from '../../src/files/doubled-member.ts'

const find = (text: string) => doubledMember(text, JSON.parse(text) as object)

const doubled: Readonly<Record<string, string>> = {
  '{"a":1,"a":2}': 'a',
  '{"a":"x","b":"y","a":"x"}': 'a',
  '{"date":"x","name":"y","name":"y"}': 'name',
  '{"a":1,"b":{"c":1,"c":2}}': 'c',
  '{"a":[{"x":1},{"x":2,"x":3}]}': 'x',
  '{"\\u0061":1,"a":2}': 'a',
  '{"a" : "\\"," , "a":1}': 'a',
  '{"":1,"":2}': '',
  '{"2":1,"1":2,"2":3}': '2',
  '{"__proto__":1,"__proto__":2}': '__proto__',
}

for (const [text, name] of Object.entries(doubled)) {
  test(`${text} has ${JSON.stringify(name)} twice`, () => assert.equal(find(text), name))
}

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

/** How a program separates members: colons and commas. */
const anyStyle = fc.constantFrom([':', ','], [': ', ', '], [':\t', ',\n  '], [' :', ' , '])

function textOf(tree: Tree, style: readonly string[]): string {
  const [colon = ':', comma = ','] = style
  if ('word' in tree) return write(tree.word)
  if ('list' in tree) return `[${tree.list.map((one) => textOf(one, style)).join(comma)}]`
  const members = tree.members.map(([name, one]) => `${write(name)}${colon}${textOf(one, style)}`)
  return `{${members.join(comma)}}`
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

test('exactly the texts with a doubled member are found', () => {
  fc.assert(
    fc.property(anyTree, anyStyle, (tree, style) => {
      const text = textOf({ members: [['row', tree]] }, style)
      assert.equal(find(text) !== undefined, isDoubled(tree), text)
    }),
    { numRuns: 5_000 },
  )
})
