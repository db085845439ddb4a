// Every regular expression of the sources takes linear time on any input: clients
// and imported files choose the input of most of them.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseSync, Visitor } from 'oxc-parser'
import { checkSync } from 'recheck'

// The native build of the checker takes a third of the time of the one in JavaScript; not every
// platform has it.
process.env['RECHECK_BACKEND'] = hasNativeChecker() ? 'native' : 'pure'

function hasNativeChecker(): boolean {
  try {
    const checker = createRequire(import.meta.resolve('recheck'))
    checker.resolve(`recheck-${process.platform}-${process.arch}/package.json`)
    return true
  } catch {
    return false
  }
}

const root = join(import.meta.dirname, '..')

interface Found {
  readonly where: string
  readonly source: string
  readonly flags: string
}

const literals: Found[] = []
const made = new Set<string>()
for (const path of globSync('src/**/*.ts', { cwd: root }).sort()) {
  const text = readFileSync(join(root, path), 'utf8')
  const noteCall = ({ callee }: { callee: { type: string; name?: unknown } }): void => {
    if (callee.type === 'Identifier' && callee.name === 'RegExp') made.add(path)
  }
  const visitor = new Visitor({
    Literal(node) {
      if (!('regex' in node)) return
      const line = text.slice(0, node.start).split('\n').length
      const { pattern: source, flags } = node.regex
      literals.push({ where: `${path}:${line}`, source, flags })
    },
    NewExpression: noteCall,
    CallExpression: noteCall,
  })
  visitor.visit(parseSync(path, text).program)
}

// The checker counts characters. With its own limits of time, a second and less, a verdict would
// depend on what else the machine does.
const patience = {
  timeout: 300_000,
  seedingTimeout: 60_000,
  incubationTimeout: 60_000,
  attackTimeout: 60_000,
}

// Some verdicts take seconds, and depend on nothing but the pattern and the checker: these are kept
// with the tests. The test names a pattern that is to be added.
const kept = JSON.parse(readFileSync(join(import.meta.dirname, 'safe-patterns.json'), 'utf8')) as {
  readonly checker: string
  readonly patterns: readonly string[]
}
/** What a pattern may take without being kept. */
const slowMs = 2_000

function checkerVersion(): string {
  const file = import.meta.resolve('recheck/package.json')
  return (JSON.parse(readFileSync(new URL(file), 'utf8')) as { version: string }).version
}

test('no regular expression can be made to backtrack excessively', (t) => {
  assert.ok(literals.length > 40, 'they are found')
  // A pattern used twice is checked once.
  const different = Map.groupBy(literals, ({ source, flags }) => `/${source}/${flags}`)
  for (const pattern of kept.patterns) assert.ok(different.has(pattern), `${pattern} is gone`)
  const known = new Set(kept.checker === checkerVersion() ? kept.patterns : [])
  const bad = [...different].flatMap(([pattern, [literal]]) => {
    assert.ok(literal)
    if (known.has(pattern)) return []
    const { where, source, flags } = literal
    const startedAt = performance.now()
    const verdict = checkSync(source, flags, patience)
    const ms = performance.now() - startedAt
    if (ms > slowMs) t.diagnostic(`${ms.toFixed(0)} ms, for safe-patterns.json: ${pattern}`)
    if (verdict.status === 'safe') return []
    const why = verdict.status === 'vulnerable' ? verdict.complexity.summary : verdict.error.kind
    return [`${where}: ${pattern} is ${verdict.status}: ${why}`]
  })
  assert.deepEqual(bad, [])
})

test('the check detects one that can', () => {
  for (const bad of ['^(a+)+$', '^(a|a)*$', '\\s+$', '(a{1,200}){1,200}b']) {
    assert.equal(checkSync(bad, '', patience).status, 'vulnerable', bad)
  }
})

test('no regular expression is built from input', () => {
  // From the prefix and length of keys.
  assert.deepEqual([...made], ['src/auth/key.ts'])
})
