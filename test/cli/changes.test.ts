// `dossier changes`: what the API tells of changes, on the command line.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { importRows, makeFolder } from '../support/import-rows.ts'
import { mustRun } from '../support/run-command.ts'

const right = (id: number, name: string) => {
  return { id, company_jurisdiction: 'GB', company_identifier: '00000012', name }
}

test('changes are printed one a line: all of them, or those of a company or a listing', async (t) => {
  const folder = makeFolder(t)
  const db = join(folder, 'dossier.db')
  const rights = Array.from({ length: 1_200 }, (_, n) => right(n + 1, `name ${n}`))
  await importRows(db, 'rights', rights)
  await importRows(db, 'rights', [right(1, 'new'), ...rights.slice(2)], { isSnapshot: true })
  const print = async (...args: string[]) => {
    const { out, err } = await mustRun(folder, ['changes', ...args])
    assert.match(err, /^changes up to \d+\.[0-9a-f]{16}\.[0-9a-z]{8}\n$/)
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
