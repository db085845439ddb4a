// Faults that only PostgreSQL has, and how to copy it.

import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { makeChangedRegistry } from '../support/changed-registry.ts'
import { makeFolder } from '../support/import-rows.ts'
import { queryServer } from '../support/query-server.ts'
import { runCommand } from '../support/run-command.ts'
import { verifyStore } from '../support/verify-store.ts'

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

test('backup names pg_dump in one line', async (t) => {
  const db = await makeRegistry(t)
  const folder = makeFolder(t)
  const { code, err } = await runCommand(folder, `backup copy.dump --db ${db}`)
  assert.equal(code, 1)
  const schema = new URL(db).searchParams.get('schema') ?? ''
  assert.match(err, new RegExp(`pg_dump --format=custom --schema=${schema} --file=copy\\.dump '`))
  assert.match(
    err,
    new RegExp(`; if the schema ${schema}_withheld exists, back it up separately\n$`),
  )
  assert.equal(err.trim().split('\n').length, 1)

  // With the whole database, the list would be restored, too.
  const url = new URL(db)
  url.search = `?options=-c search_path=${schema}`
  const found = await runCommand(folder, ['backup', 'copy.dump', '--db', url.href])
  assert.match(found.err, new RegExp(`pg_dump --format=custom --schema=${schema} --file=`))
})

test('restore names pg_restore in one line', async (t) => {
  const folder = makeFolder(t)
  const { code, err } = await runCommand(folder, 'restore copy.dump')
  assert.equal(code, 1)
  assert.match(
    err,
    /^dossier: [^\n]+ is a PostgreSQL database; restore it with its own tools: pg_restore /,
  )
  assert.match(err, /--clean --if-exists --single-transaction --dbname='[^']+' copy\.dump\n$/)
})
