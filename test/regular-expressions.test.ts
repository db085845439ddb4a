// Every regular expression of the sources takes linear time on any input: clients
// and imported files choose the input of most of them.

import assert from 'node:assert/strict'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { checkSync } from 'recheck'
import ts from 'typescript'

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
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/')
      const line = file.getLineAndCharacterOfPosition(node.getStart()).line + 1
      const [source, flags] = [node.text.slice(1, end), node.text.slice(end + 1)]
      literals.push({ where: `${path}:${line}`, source, flags })
    }
    const isMade = ts.isNewExpression(node) || ts.isCallExpression(node)
    if (isMade && node.expression.getText() === 'RegExp') made.add(path)
    ts.forEachChild(node, visit)
  }
  visit(file)
}

// The checker counts characters. With its own limits of time, a second and less, a verdict would
// depend on what else the machine does.
const patience = {
  timeout: 300_000,
  seedingTimeout: 60_000,
  incubationTimeout: 60_000,
  attackTimeout: 60_000,
}

// Some verdicts take seconds, and depend on nothing but the pattern and the checker.
const isSafe = { status: 'safe' } as const
const cache = join(root, 'node_modules/.cache/regular-expressions.json')

interface SafePatterns {
  readonly checker: string
  readonly patterns: readonly string[]
}

function checkerVersion(): string {
  const file = import.meta.resolve('recheck/package.json')
  return (JSON.parse(readFileSync(new URL(file), 'utf8')) as { version: string }).version
}

/** The patterns that the same version of the checker has found safe. */
function readSafe(): ReadonlySet<string> {
  try {
    const { checker, patterns } = JSON.parse(readFileSync(cache, 'utf8')) as SafePatterns
    return new Set(checker === checkerVersion() ? patterns : [])
  } catch {
    return new Set()
  }
}

function writeSafe(patterns: readonly string[]): void {
  const safe: SafePatterns = { checker: checkerVersion(), patterns }
  mkdirSync(dirname(cache), { recursive: true })
  writeFileSync(cache, JSON.stringify(safe))
}

test('no regular expression can be made to backtrack excessively', () => {
  assert.ok(literals.length > 40, 'they are found')
  // A pattern used twice is checked once.
  const different = Map.groupBy(literals, ({ source, flags }) => `/${source}/${flags}`)
  const known = readSafe()
  const safe: string[] = []
  const bad = [...different].flatMap(([pattern, [literal]]) => {
    assert.ok(literal)
    const { where, source, flags } = literal
    const verdict = known.has(pattern) ? isSafe : checkSync(source, flags, patience)
    if (verdict.status === 'safe') {
      safe.push(pattern)
      return []
    }
    const why = verdict.status === 'vulnerable' ? verdict.complexity.summary : verdict.error.kind
    return [`${where}: ${pattern} is ${verdict.status}: ${why}`]
  })
  writeSafe(safe)
  assert.deepEqual(bad, [])
})

test('the check detects one that can', () => {
  for (const bad of ['^(a+)+$', '^(a|a)*$', '\\s+$', '(a{1,200}){1,200}b']) {
    assert.equal(checkSync(bad, '', patience).status, 'vulnerable', bad)
  }
})

test('no regular expression is built from input', () => {
  // From the paths that the program serves; from the prefix and length of keys.
  assert.deepEqual([...made], ['src/cli/display-width.ts', 'src/auth/key.ts'])
})
