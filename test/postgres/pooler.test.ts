// PgBouncer between Dossier and PostgreSQL, where the machine has it.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { beginWriting } from '../../src/store/postgres/transaction.ts'
import { freePort } from '../support/free-port.ts'
import { makeFolder, writeRows } from '../support/import-rows.ts'
import { queryServer } from '../support/query-server.ts'
import { mustRun, runCommand } from '../support/run-command.ts'
import { checkExit } from '../support/run-dossier.ts'
import { runServer, untilReady } from '../support/run-server.ts'
import { sessionFor } from '../support/sessions.ts'
import { onCitus, schemaPrefix, schemaUrl, testServerUrl } from '../support/store-at.ts'
import { until } from '../support/until.ts'

const isThere = spawnSync('pgbouncer', ['--version']).status === 0
const skip = onCitus !== false || (isThere ? false : 'there is no pgbouncer here')

/** Starts PgBouncer; returns the URL of a store behind it. */
async function putPooler(
  t: TestContext,
  mode: 'session' | 'transaction',
  ...settings: readonly string[]
): Promise<string> {
  const url = new URL(schemaUrl('pooled'))
  t.after(() => queryServer(testServerUrl(), `drop schema if exists ${schemaPrefix}pooled cascade`))
  const folder = makeFolder(t)
  chmodSync(folder, 0o755)
  const port = await freePort()
  const login = `user=${url.username} password='${decodeURIComponent(url.password)}'`
  const lines = [
    ...['[databases]', `* = host=${url.hostname} port=${url.port} ${login}`],
    ...['[pgbouncer]', 'listen_addr = 127.0.0.1', `listen_port = ${port}`],
    ...['unix_socket_dir =', 'auth_type = any', `pool_mode = ${mode}`],
    ...settings,
  ]
  const file = join(folder, 'pgbouncer.ini')
  writeFileSync(file, lines.join('\n'), { mode: 0o644 })
  const asOther = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  const child = spawn('pgbouncer', [...asOther, file], { stdio: ['ignore', 'ignore', 'pipe'] })
  t.after(() => child.kill('SIGKILL'))
  let said = ''
  child.stderr.on('data', (text: Buffer) => (said += text.toString()))
  await until(() => said.includes('process up'), 'PgBouncer is up')
  url.port = String(port)
  return url.href
}

test('a store is written and served behind a pooler that keeps sessions', { skip }, async (t) => {
  const db = await putPooler(t, 'session')
  const folder = makeFolder(t)
  const file = writeRows(join(folder, 'rights.ndjson'), [{ id: 1, company_id: 7, name: 'one' }])
  await mustRun(folder, `import rights ${file} --db ${db}`)
  const server = await runServer(t, db)
  await untilReady(server.port)
  const direct = await runCommand(folder, ['listing', '7', 'rights', '--db', schemaUrl('pooled')])
  assert.match(direct.out, /"name":"one"/, 'it went to the schema of the URL')
})

test('what a pooler leaves of the sessions of others is discarded', { skip }, async (t) => {
  const db = await putPooler(t, 'session', 'server_reset_query =', 'server_lifetime = 3600')
  const folder = makeFolder(t)
  const file = writeRows(join(folder, 'rights.ndjson'), [{ id: 1, company_id: 7, name: 'one' }])
  for (const run of [1, 2]) {
    const { code, err } = await runCommand(folder, `import rights ${file} --db ${db}`)
    assert.equal(code, 0, `${run}: ${err}`)
    const server = await runServer(t, db)
    await untilReady(server.port)
    const key = await runCommand(folder, `keys create --name of-run-${run} --db ${db}`)
    assert.equal(key.code, 0, `${run}: ${key.err}`)
    const headers = { authorization: `Bearer ${key.out.trim()}` }
    const url = `http://127.0.0.1:${server.port}/api/v1/companies/7/rights`
    assert.equal((await fetch(url, { headers })).status, 200, `${run}: ${server.printed()}`)
    await server.end()
  }
})

test('a command that a limit of the pooler ends is told so', { skip }, async (t) => {
  const direct = schemaUrl('pooled')
  checkExit(await runCommand('.', `migrate --db ${direct}`), 0, /^$/)
  const db = await putPooler(t, 'session', 'query_timeout = 1')
  const other = await sessionFor(t, direct)
  await beginWriting(other, { onWait: () => undefined })
  const says = /query timeout; nothing was changed; correct .* the limits of the pooler\n$/
  checkExit(await runCommand('.', `prune --keep 1d --yes --db ${db}`), 1, says)
})

test('a parameter that the pooler does not pass on is reported', { skip }, async (t) => {
  const db = `${await putPooler(t, 'session')}&options=-c+work_mem%3D8MB`
  const says =
    /^dossier: \S+: unsupported startup parameter[^\n]*; correct the parameters of --db, [^\n]+\n$/
  checkExit(await runCommand('.', `verify --db ${db}`), 1, says)
})

test('a pooler that does not keep sessions is refused', { skip }, async (t) => {
  const db = await putPooler(t, 'transaction')
  for (const args of [['serve'], ['migrate'], ['verify']]) {
    const run = await runCommand('.', [...args, '--db', db])
    checkExit(run, 1, /^dossier: \S+: the pooler there does not keep sessions; [^\n]+\n$/)
  }
})
