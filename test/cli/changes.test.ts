// `dossier changes`: what the API tells of changes, on the command line.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { importRows, makeFolder } from '../support/import-rows.ts'
import { mustRun, runCommand } from '../support/run-command.ts'

const right = (id: number, name: string) => {
  return { id, company_jurisdiction: 'GB', company_identifier: '00000012', name }
}

test('changes are printed a line each, all of them, of a company, of a listing', async (t) => {
  const folder = makeFolder(t)
  const db = join(folder, 'dossier.db')
  const rights = Array.from({ length: 1_200 }, (_, n) => right(n + 1, `name ${n}`))
  await importRows(db, 'rights', rights)
  await importRows(db, 'rights', [right(1, 'new'), ...rights.slice(2)], { isSnapshot: true })
  const print = async (...args: string[]) => {
    const { out, err } = await mustRun(folder, ['changes', ...args])
    assert.match(err, /^changes up to \d+\.[0-9a-f]{12}\n$/)
    const told = out.split('\n').slice(0, -1)
    return { told: told.map((line) => JSON.parse(line) as { id: number; change: string }), err }
  }
  const all = await print('--since', '0')
  assert.equal(all.told.length, 1_200)
  const changed = [
    [1, 'put'],
    [2, 'remove'],
  ]
  const since = await print('--since', '1')
  assert.deepEqual(
    since.told.map(({ id, change }) => [id, change]),
    changed,
  )
  const cursor = all.err.trim().split(' ').at(-1) ?? ''
  assert.deepEqual((await print('--since', cursor)).told, [])
  const ofCompany = ['--company', 'GB:00000012', '--resource', 'rights', '--until', '1']
  assert.equal((await print('--since', '0', ...ofCompany)).told.length, 1_200)
  assert.equal((await print('--since', '0', '--resource', 'companies')).told.length, 1)
})

test('what cannot be printed is an error that says what to type', async (t) => {
  const folder = makeFolder(t)
  await importRows(join(folder, 'dossier.db'), 'rights', [right(1, 'a')])
  for (const [args, code, message] of [
    [[], 2, /name a version with --since/],
    [['--since', 'x'], 2, /--since is "x"; it takes 0, a cursor from `until`/],
    [['--since', '9'], 1, /Version 9 does not exist yet; the last one is 1/],
    [['--since', '1.0123456789ab'], 1, /is of another history; begin again with --since=0/],
    [['--since', '0', '--resource', 'right'], 2, /--resource is "right"; did you mean rights/],
    [['--since', '0', '--company', 'GB:12'], 1, /GB:12 is not in the registry.*GB:00000012/],
  ] as const) {
    const result = await runCommand(folder, ['changes', ...args])
    assert.equal(result.code, code, result.err)
    assert.match(result.err, message)
    assert.equal(result.out, '')
  }
})
