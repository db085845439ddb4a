// Faults that only PostgreSQL has, and how to copy it.

import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { makeChangedRegistry } from '../support/changed-registry.ts'
import { makeFolder } from '../support/import-rows.ts'
import { useOwnDatabase } from '../support/own-database.ts'
import { queryServer } from '../support/query-server.ts'
import { runCommand } from '../support/run-command.ts'
import { onCitus } from '../support/store-at.ts'
import { verifyStore } from '../support/verify-store.ts'

// The tests create and drop an extension in it.
useOwnDatabase('verify')

async function makeRegistry(t: TestContext): Promise<string> {
  return makeChangedRegistry(makeFolder(t))
}

test('verify reports a company that cannot be found by its identifier', async (t) => {
  const db = await makeRegistry(t)
  queryServer(db, "update company_names set jurisdiction = 'XX' where identifier = '2'")
  assert.deepEqual((await verifyStore(db)).faults, [
    'company 1000000000002: its name is missing or wrong in company_names',
  ])
})

test('verify leaves the files to PostgreSQL, and runs amcheck if it is installed', async (t) => {
  const db = await makeRegistry(t)
  const without = await verifyStore(db)
  if (without.notes.length > 0) {
    assert.match(
      without.notes.join(' '),
      /were not checked; install the extension amcheck to have them checked/,
    )
    queryServer(db, 'create extension amcheck with schema public')
    t.after(() => void queryServer(db, 'drop extension amcheck'))
  }
  const sound = await verifyStore(db)
  assert.deepEqual([sound.faults, sound.notes], [[], []])
  // An index that is not maintained for a while lacks a row.
  maintainIndex(db, false)
  queryServer(
    db,
    `insert into heads select company_id, listing, version + 100, total, meta, largest, directory
     from heads`,
  )
  maintainIndex(db, true)
  const { faults } = await verifyStore(db)
  const told =
    /^file: heads_(pkey|\d+ on [\d.:]+): (ERROR: +)?heap tuple .* lacks matching index tuple/m
  assert.match(faults.join('\n'), told)
})

/** Whether PostgreSQL maintains the index of heads; on Citus, those of its parts. */
function maintainIndex(db: string, isReady: boolean): void {
  const set = `update pg_index set indisready = ${isReady}`
  const ofParts = `indrelid = '%s'::regclass and indexrelid::regclass::text ~ 'heads_pkey'`
  queryServer(
    db,
    onCitus === false
      ? `${set} where indexrelid = 'heads_pkey'::regclass`
      : `select run_command_on_placements('heads', $$${set} where ${ofParts}$$)`,
  )
}

test('backup names pg_dump in one line', async (t) => {
  const db = await makeRegistry(t)
  const folder = makeFolder(t)
  const { code, err } = await runCommand(folder, ['backup', 'copy.dump', '--db', db])
  assert.equal(code, 1)
  const schema = new URL(db).searchParams.get('schema') ?? ''
  assert.match(err, new RegExp(`pg_dump --format=custom --schema=${schema} --file=copy\\.dump '`))
  assert.equal(err.trim().split('\n').length, 1)
})

test('restore names pg_restore in one line', async (t) => {
  const folder = makeFolder(t)
  const { code, err } = await runCommand(folder, ['restore', 'copy.dump'])
  assert.equal(code, 1)
  assert.match(err, /^dossier: [^\n]+ is a PostgreSQL; restore it with its own tools: pg_restore /)
  assert.match(err, /--clean --if-exists --single-transaction --dbname='[^']+' copy\.dump\n$/)
})
