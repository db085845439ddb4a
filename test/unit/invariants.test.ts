// The invariants of ARCHITECTURE.md that a lint rule cannot hold.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { resources } from '../../src/resources/index.ts'

const root = join(import.meta.dirname, '../../src')
const files = globSync('**/*.ts', { cwd: root })
  .filter((path) => !path.startsWith('resources/') && !path.startsWith('demo/'))
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))

/** A file without the lines that are comments. */
const codeOf = (text: string) => text.replace(/^\s*(\/\/|\*|\/\*|--).*$/gm, '')

/** The string literals of a file that are one word. */
function words(text: string): string[] {
  return [...codeOf(text).matchAll(/'([a-z_]+)'/g)].map(([, word]) => String(word))
}

test('1: no code outside resources/ names a resource or a field of its own', () => {
  // Words with another meaning in context: columns of imports, HTTP, JSON Schema, keys.
  const general = new Set([
    ...['id', 'name', 'jurisdiction', 'identifier', 'title', 'description', 'status'],
  ])
  const own = new Set(
    resources
      .flatMap(({ name, fields }) => [name, ...Object.keys(fields)])
      .filter((word) => !general.has(word)),
  )
  // `keys` has columns of these names, which belong to no resource.
  const isKeys = (path: string) => /^store\/sql\/stored-keys\.ts$/.test(path)
  for (const { path, text } of files.filter((file) => !isKeys(file.path))) {
    const told = words(text).filter((word) => own.has(word))
    assert.deepEqual(told, [], path)
  }
})

test('1: nor names a field within a longer text or as a property', () => {
  // Words of a single resource; `created_at` is a column of keys too.
  const own = resources
    .flatMap(({ fields }) => Object.keys(fields))
    .filter((word) => (word.includes('_') && word !== 'created_at') || word === 'holders')
  assert.ok(own.includes('salary_from') && own.includes('registration_number'))
  const named = new RegExp(`\\b(${own.join('|')})\\b`)
  for (const { path, text } of files) assert.equal(named.exec(codeOf(text))?.[0], undefined, path)
})

test("2: no SQL outside store/, but DuckDB's of files that it reads", () => {
  const sql = /\b(insert into|delete from|create (temp )?table|select [\w*"', ]+ from)\b/i
  for (const { path, text } of files.filter(
    (file) => !/^(store|files\/duckdb)\//.test(file.path),
  )) {
    assert.ok(!sql.test(text), path)
  }
})

test('2: only the opener knows which store it is', () => {
  for (const { path, text } of files) {
    if (path === 'store/open-store.ts' || /^store\/(sqlite|postgres)\//.test(path)) continue
    // The temporary file beside an import is SQLite's, whatever the store is; a file to import may be.
    if (/^(store\/loading\/staging\/temporary-database|files\/recognise)\.ts$/.test(path)) continue
    assert.ok(!/sqlite|\/postgres\//i.test(codeOf(text)), path)
  }
})

test('8: only cli/output.ts prints, and it escapes external text', () => {
  // The log is lines of JSON to a descriptor; its readable form is escaped value by value.
  const waysOut: Readonly<Record<string, readonly string[]>> = {
    'process.stdout': ['main.ts'],
    'process.stderr': ['main.ts'],
    'console.': [],
    'createLineWriter(': ['server/line-writer.ts', 'server/log.ts'],
    'destination(': [],
    'destination: 1': [],
    'writeSync(1': [],
    'writeSync(2': [],
    'node:tty': [],
  }
  for (const [way, allowed] of Object.entries(waysOut)) {
    const found = files.filter(({ text }) => codeOf(text).includes(way)).map(({ path }) => path)
    assert.deepEqual(found.toSorted(), allowed.toSorted(), way)
  }
})

test('a server does not load what it has no use for: 14 MB and 35 ms of its start', () => {
  const server = join(root, 'server/server.ts')
  const code = `await import(${JSON.stringify(server)}); console.log(process.moduleLoadList.join())`
  const loaded = execFileSync(process.execPath, ['--input-type=module', '--eval', code]).toString()
  assert.match(loaded, /NativeModule http\b/)
  // Node's client for fetch and WebSocket, which an import of node:http loads.
  assert.doesNotMatch(loaded, /undici/)
  const imported = files.filter(({ text }) => /^import (?!type).*from 'node:http'/m.test(text))
  assert.deepEqual(imported, [])
})
