// The explorer's modules become one, which runs as they would.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeOneModule } from '../../src/http/explorer/one-module.ts'

const putTogether = (modules: Readonly<Record<string, string>>) =>
  makeOneModule('main.ts', (path) => modules[path] ?? assert.fail(path))

test('each module runs once, after those that it imports, with names of its own', async () => {
  const text = putTogether({
    'main.ts': `
import process from 'node:process'
import { note, noted } from './notes/notes.ts'
import {
  sum as total,
} from './second.ts'
const own = await 3
note(own, total, typeof process.exit)
globalThis.noted = noted
`,
    'second.ts': `
import { own } from './first.ts'
import { note } from './notes/notes.ts'
export const sum = own + 1
note('second')
`,
    'first.ts': `
import { basename } from 'node:path'
import { note } from './notes/notes.ts'
export const own = basename('/a/1')
note('first')
`,
    'notes/notes.ts': `
import { empty } from '../empty.ts'
export const noted = empty()
export function note(...all) { noted.push(...all) }
`,
    'empty.ts': 'export const empty = () => []',
  })
  await import(`data:text/javascript,${encodeURIComponent(text)}`)
  const { noted } = globalThis as { noted?: unknown }
  assert.deepEqual(noted, ['first', 'second', 3, '11', 'function'])
})

test('modules that import each other are refused, as is a form that is not known', () => {
  const main = `import { a } from './a.ts'`
  const known = { 'main.ts': main, 'a.ts': 'export const a = 1' }
  assert.doesNotThrow(() => putTogether(known))
  for (const [a, reason] of [
    [`import { b } from './b.ts'\nexport const a = b`, /a\.ts imports itself through others/],
    ['export const { a } = { a: 1 }', /a\.ts imports or exports in another form/],
    ['export * from "./b.ts"', /a\.ts imports or exports in another form/],
    [`import './b.ts'`, /a\.ts imports or exports in another form/],
  ] as const) {
    const b = `import { a } from './a.ts'\nexport const b = a`
    assert.throws(() => putTogether({ ...known, 'a.ts': a, 'b.ts': b }), reason)
  }
})
