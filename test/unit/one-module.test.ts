// The explorer's modules become one; test/explorer/ shows that it runs as they would.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeOneModule } from '../../src/http/explorer/one-module.ts'

const putTogether = (modules: Readonly<Record<string, string>>) =>
  makeOneModule('main.ts', (path) => modules[path] ?? assert.fail(path))

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
