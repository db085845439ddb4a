// A disk that is full: what was written in vain takes no room afterwards. A file system in memory
// stands in for it; mounting one requires root.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { importRows, makeFolder, queryValue } from '../support/import-rows.ts'
import { keepOpen } from '../support/store-state.ts'
import { runCommand } from '../support/run-command.ts'

const mebibyte = 1_048_576

function mount(...args: string[]): boolean {
  return spawnSync('mount', ['-t', 'tmpfs', ...args]).status === 0
}

const endings: (() => void)[] = []
after(() => {
  for (const end of endings.toReversed()) end()
})

test('compact on a full disk removes what it wrote, beside a reader', async (t) => {
  // Its removal comes after the end of what is mounted there.
  const folder = makeFolder({ after: (work) => void endings.push(work) })
  if (!mount('-o', 'size=64m', 'tmpfs', folder)) return t.skip('a tmpfs cannot be mounted here')
  endings.push(() => void spawnSync('umount', ['-l', folder]))
  const db = join(folder, 'registry.db')
  const description = 'x'.repeat(2_000)
  const rows = Array.from({ length: 2_000 }, (_, n) => ({ id: n + 1, company_id: 7, description }))
  await importRows(db, 'jobs', rows)
  keepOpen(t, db)
  const { size } = statSync(db)
  const room = size + mebibyte
  assert.ok(mount('-o', `remount,size=${Math.ceil(room / 1_024)}k`, 'tmpfs', folder))
  const ended = await runCommand(makeFolder(t), ['compact', '--db', db])
  assert.equal(ended.code, 1, ended.err)
  assert.match(ended.err, /full/)
  assert.equal(statSync(`${db}-wal`).size, 0)
  assert.equal(queryValue(db, 'select count(*) from jobs_view'), 2_000)
})
