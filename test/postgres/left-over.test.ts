// What a run of tests on PostgreSQL leaves behind: nothing, though its runner waits for nothing.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { Client } from 'pg'
import { makeFolder } from '../support/import-rows.ts'
import { useOwnDatabase } from '../support/own-database.ts'
import { testServerUrl } from '../support/store-at.ts'
import { until } from '../support/until.ts'

useOwnDatabase('left_over')

/** Runs a test that makes a schema of its run, as `npm test` runs tests. */
function runTest(folder: string, env: Readonly<Record<string, string>>): void {
  const file = join(folder, 'one.test.mjs')
  const lines = [
    `import { test } from 'node:test'`,
    `import { Client } from '${import.meta.resolve('pg')}'`,
    `test('a schema is made', async () => {`,
    `  const { DOSSIER_TEST_POSTGRES_URL: url, DOSSIER_TEST_RUN: run } = process.env`,
    `  const client = new Client({ connectionString: url })`,
    `  await client.connect()`,
    '  await client.query(`create schema dossier_test_${run}_one`)',
    `  await client.end()`,
    `})`,
  ]
  writeFileSync(file, lines.join('\n'))
  const setUp = resolve(import.meta.dirname, '../support/postgres-setup.ts')
  const args = ['--test', '--test-force-exit', `--test-global-setup=${setUp}`, file]
  const names = ['DOSSIER_TEST_POSTGRES_URL', 'DOSSIER_TEST_CITUS', 'NODE_TEST_CONTEXT']
  const without = Object.fromEntries(names.map((name) => [name, undefined]))
  const all = { ...process.env, ...without, ...env }
  const run = spawnSync(process.execPath, args, { env: all, encoding: 'utf8' })
  assert.match(run.stdout, /^ℹ pass 1$/m)
  assert.deepEqual([run.status, run.stderr], [0, ''])
}

test('a run leaves no files of its server', async (t) => {
  const folder = makeFolder(t)
  const temporary = join(folder, 'temporary')
  mkdirSync(temporary)
  // Another user runs the server.
  for (const one of [folder, temporary]) chmodSync(one, 0o755)
  runTest(folder, { TMPDIR: temporary })
  await until(() => readdirSync(temporary).length === 0, 'the files are removed')
})

test('a run leaves no schemas on a server that was given', async (t) => {
  const url = testServerUrl()
  runTest(makeFolder(t), { DOSSIER_TEST_POSTGRES_URL: url })
  const client = new Client({ connectionString: url })
  await client.connect()
  const sql = `select nspname from pg_namespace where nspname like 'dossier%'`
  const { rows } = await client.query(sql)
  await client.end()
  assert.deepEqual(rows, [])
})
