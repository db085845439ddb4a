// What commands print with `--json`: the members that docs/commands.md lists, in wire form.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { makePlace, writeRows } from '../support/import-rows.ts'
import { mustRun } from '../support/run-command.ts'
import { storeAt } from '../support/store-at.ts'

const guide = readFileSync(join(import.meta.dirname, '../../docs/commands.md'), 'utf8')

/** The members that the table lists for a command, without what it says in brackets. */
function listed(command: string): string[] {
  const line = guide
    .split('\n')
    .find((row) => row.startsWith(`| \`${command}`) && row.endsWith('|'))
  const cell = line?.split('|').at(2) ?? ''
  return [...cell.replace(/\([^)]*\)/g, '').matchAll(/`(\w+)`/g)].map(([, name]) => String(name))
}

/** The names of all members of a value, at any depth. */
function namesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  const own = Array.isArray(value) ? [] : Object.keys(value)
  return [...own, ...Object.values(value).flatMap(namesIn)]
}

const commands: readonly (readonly [name: string, args: string])[] = [
  ['import', 'import companies 1.ndjson --source s --snapshot --as-of 2025-01-31'],
  ['update`, known files', 'update s 1.ndjson'],
  ['import', 'update s 2.ndjson --as-of 2025-02-28 --accept'],
  ['import --show', 'import companies 2.ndjson --show 1'],
  ['imports', 'imports'],
  ['imports', 'imports show 2'],
  ['sources', 'sources'],
  ['sources show', 'sources show s'],
  ['find', 'find acme'],
  ['company', 'company GB:1'],
  ['keys list', 'keys list'],
  ['export', 'export copies'],
  ['verify', 'verify'],
  ['withhold mask', 'withhold mask company GB:1 --text Ltd --reason r --by b --yes'],
  ['withhold list', 'withhold list'],
  ['revert', 'revert 2 --dry-run'],
  ['prune', 'prune --keep 0d --yes'],
  ['compact', 'compact'],
  ['check-config', 'check-config'],
]

test('every command prints the members that the guide lists, in snake_case, and no number for a time (3.8)', async (t) => {
  const { folder, db } = makePlace(t)
  const env = { DOSSIER_DB: storeAt(db) }
  const company = { jurisdiction: 'GB', identifier: '1', name: 'Acme' }
  writeRows(join(folder, '1.ndjson'), [company, { ...company, identifier: '2' }])
  writeRows(join(folder, '2.ndjson'), [{ ...company, name: 'Acme Ltd' }])
  for (const [name, args] of commands) {
    if (name === 'keys list') await mustRun(folder, 'keys create --name acme', { env })
    const { out } = await mustRun(folder, [...args.split(' '), '--json'], { env })
    const told = JSON.parse(out) as object
    const [one] = [told].flat()
    assert.ok(one)
    const known = new Set(listed(name))
    const more = args.startsWith('imports show') ? ['difference'] : []
    const others = Object.keys(one).filter((member) => !known.has(member) && !more.includes(member))
    assert.deepEqual(others, [], args)
    const left = [...known].filter((member) => !(member in one))
    if (name === 'withhold list') assert.deepEqual(left, ['lifts', 'adopts', 'finds'])
    else assert.deepEqual(left, [], args)
    const otherwise = namesIn(told).filter((member) => !/^[a-z][a-z0-9_]*$/.test(member))
    assert.deepEqual(otherwise, [], args)
    assert.doesNotMatch(out, /_at":\d/, args)
  }
})
