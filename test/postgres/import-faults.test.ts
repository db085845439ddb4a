// Imports into PostgreSQL killed on either side leave the state before and nothing else.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Client } from 'pg'
import { openSession } from '../../src/store/postgres/connect.ts'
import { makePlace } from '../support/import-rows.ts'
import { useOwnDatabase } from '../support/own-database.ts'
import { mustRun } from '../support/run-command.ts'
import { checkExit, startDossier } from '../support/run-dossier.ts'
import { sessionFor } from '../support/sessions.ts'
import { storeAt } from '../support/store-at.ts'
import { storeDigest } from '../support/store-state.ts'
import { until } from '../support/until.ts'
import { withoutProgress } from '../../torture/processes.ts'

/** The last records are a listing of several segments, which its head cannot hold. */
const row = (id: number, name: string) =>
  `{"id":${id},"company_id":${id > 1_900 ? 501 : 1 + (id % 500)},"name":"${name}"}\n`
const rows = (count: number, name: string) =>
  Array.from({ length: count }, (_, n) => row(n + 1, name)).join('')

// Looking for the session of an import must not find those of other test files.
useOwnDatabase('faults')

interface Made {
  readonly folder: string
  readonly db: string
  /** An observing session in the same schema. */
  readonly watcher: Client
}

/** A store with 1,000 records, and a file that changes all of them and adds more. */
async function makeStore(t: TestContext): Promise<Made> {
  const { folder, db } = makePlace(t)
  writeFileSync(join(folder, 'first.ndjson'), rows(1_000, 'first'))
  writeFileSync(join(folder, 'second.ndjson'), rows(2_000, 'second'))
  await mustRun(folder, 'import rights first.ndjson')
  const watcher = await sessionFor(t, storeAt(db, 'postgres'))
  return { folder, db, watcher }
}

const isWriteLock = `locktype = 'advisory' and classid = x'444f5353'::integer
  and objid = hashtext(current_schema())::bigint & 4294967295`

const ofImport = `
  from pg_stat_activity a
  where datname = current_database() and application_name = 'dossier' and pid <> pg_backend_pid() and state <> 'idle'
    and exists (
      select from pg_locks l where l.pid = a.pid and ${isWriteLock}
    )`

/** Waits until the session of an import runs a statement with this start; returns its pid. */
async function untilItRuns(watcher: Client, start: string): Promise<number> {
  const sql = `select pid ${ofImport} and query ~* $1`
  let pid: number | undefined
  await until(async () => {
    const { rows: found } = await watcher.query<{ pid: number }>(sql, [`^\\s*${start}`])
    pid = found[0]?.pid
    return pid !== undefined
  }, `it runs ${start}`)
  return pid ?? assert.fail()
}

/** Nothing holds the lock of imports, once their sessions have ended. */
async function untilNothingIsLeft(watcher: Client): Promise<void> {
  const sql = `select pid from pg_locks where ${isWriteLock}`
  await until(async () => (await watcher.query(sql)).rowCount === 0, 'no lock is left')
}

const [importer, session] = ['the importer', 'its session'] as const

/** Statements to interrupt, the lock that blocks each, and what ends. */
const moments: readonly (readonly [statement: string, lock: string, ends: readonly string[]])[] = [
  ['insert into segments', 'lock table segments in share mode', [importer, session]],
  ['insert into imports', 'lock table imports in share mode', [session]],
]

for (const [statement, lock, ends] of moments) {
  for (const who of ends) {
    test(`${who} is killed during “${statement}”: the previous state remains`, async (t) => {
      const { folder, db, watcher } = await makeStore(t)
      const before = await storeDigest(db)
      const holder = await openSession(storeAt(db, 'postgres'))
      await holder.query(`begin; ${lock}`)
      const { child, ended } = startDossier(t, folder, 'import rights second.ndjson --accept')
      const pid = await untilItRuns(watcher, statement)
      if (who === importer) child.kill('SIGKILL')
      else await watcher.query('select pg_terminate_backend($1::integer)', [pid])
      await holder.end()
      const { err, ...run } = await ended
      if (who === session) {
        const says = /^dossier: postgres:[^\n]*nothing was changed[^\n]*\n$/
        checkExit({ ...run, err: withoutProgress(err) }, 1, says)
        assert.ok(!err.includes('password'), 'no password is shown')
      }
      await untilNothingIsLeft(watcher)
      assert.equal(await storeDigest(db), before)
      const again = await mustRun(folder, 'import rights second.ndjson --accept --json')
      const { version, updated, inserted } = JSON.parse(again.out) as Record<string, number>
      assert.deepEqual([version, updated, inserted], [2, 1_000, 1_000])
    })
  }
}
