// Permissions of the files that Dossier creates, whatever the umask.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { makeFolder } from '../support/import-rows.ts'
import { mustRun } from '../support/run-command.ts'
import { runDossier, startDossier } from '../support/run-dossier.ts'
import { askPort } from '../support/run-server.ts'

const row = (id: number) => `{"id":${id},"company_id":7}\n`

const createKey = ['keys', 'create', '--name', 'client']

/** The modes of every file of a store, its copy and the other files that commands create. */
function modesIn(folder: string): Record<string, string> {
  const names = readdirSync(folder).filter((name) => /\.db|rejects/.test(name))
  return Object.fromEntries(names.map((name) => [name, modeOf(join(folder, name))]))
}

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8)
}

/** Runs a command in this process, with its umask. */
async function run(folder: string, umask: string, args: readonly string[]): Promise<string> {
  const before = process.umask(umask)
  const { out } = await mustRun(folder, args).finally(() => process.umask(before))
  return out
}

const withUmask = (umask: string) => ['sh', '-c', `umask ${umask}; exec "$@"`, 'sh']

/** Starts a server and uses a key, so that it has uses to write when it stops. */
async function serveOnce(
  t: TestContext,
  folder: string,
  via: readonly string[],
  key: string,
  whileItRuns: (folder: string) => Promise<void> | void,
): Promise<void> {
  const args = ['serve', '--port', '0', '--log-format', 'json', '--stop-seconds', '1']
  const server = startDossier(t, folder, args, { via })
  await server.until(/"listening"/)
  const port = Number(/"url":"[^"]+:(\d+)"/.exec(server.said.out)?.[1])
  const path = '/api/v1/companies/7/rights'
  assert.equal((await askPort(port, path, { key: key.trim() })).status, 200)
  await whileItRuns(folder)
  server.child.kill('SIGTERM')
  const { code, err } = await server.ended
  assert.equal(code, 0, err)
}

test('with umask 000 only the owner can access a new store, its log, copy, usage file and rejects', async (t) => {
  const folder = makeFolder(t, { 'rows.ndjson': row(1) + '{"id":-1}\n' })
  await run(folder, '000', ['import', 'rights', 'rows.ndjson', '--rejects', 'rejects.ndjson'])
  await run(folder, '000', ['backup', 'copy.db'])
  const key = await run(folder, '000', createKey)
  await serveOnce(t, folder, withUmask('000'), key, () => {
    const modes = modesIn(folder)
    assert.ok('dossier.db-wal' in modes && 'dossier.db-shm' in modes)
    assert.deepEqual(new Set(Object.values(modes)), new Set(['600']))
  })
  assert.equal(modesIn(folder)['dossier-usage.db'], '600')
})

test('only the owner can enter a folder that a command makes, whatever the umask', async (t) => {
  const folder = makeFolder(t, { 'rows.ndjson': row(1) })
  await run(folder, '000', ['import', 'rights', 'rows.ndjson'])
  await run(folder, '000', ['export', 'copies/of/all'])
  const made = ['copies', 'copies/of', 'copies/of/all', 'copies/of/all/1']
  const modes = made.map((name) => modeOf(join(folder, name)))
  const expected = made.map(() => '700')
  assert.deepEqual(modes, expected)
})

test('no other user can put code into the folder of compiled sources, whatever the umask', async (t) => {
  const folder = makeFolder(t)
  const compiled = join(folder, 'compiled')
  const via = [...withUmask('000'), 'env', `NODE_COMPILE_CACHE=${compiled}`]
  assert.equal((await runDossier(folder, '--version', { via })).code, 0)
  const folders = [compiled, ...readdirSync(compiled).map((name) => join(compiled, name))]
  assert.ok(folders.length > 1)
  assert.deepEqual(new Set(folders.map(modeOf)), new Set(['755']))
})

test('companion files take the mode of the store, existing files keep theirs', async (t) => {
  const folder = makeFolder(t, { 'rejects.ndjson': '' })
  chmodSync(join(folder, 'rejects.ndjson'), 0o644)
  writeFileSync(join(folder, 'rows.ndjson'), row(1))
  const args = ['import', 'rights', 'rows.ndjson', '--rejects', 'rejects.ndjson']
  await run(folder, '077', args)
  chmodSync(join(folder, 'dossier.db'), 0o640)
  writeFileSync(join(folder, 'rows.ndjson'), row(2))
  await run(folder, '077', args)
  await run(folder, '077', ['backup', 'copy.db'])
  const key = await run(folder, '077', createKey)
  await serveOnce(t, folder, withUmask('077'), key, () => undefined)
  const { 'rejects.ndjson': rejects, ...modes } = modesIn(folder)
  assert.equal(rejects, '644')
  assert.ok('dossier-usage.db' in modes && 'copy.db' in modes)
  assert.deepEqual(new Set(Object.values(modes)), new Set(['640']))
})

test('a path that looks like an SQLite URL is a plain file name, accessible to its owner only', async (t) => {
  const folder = makeFolder(t, { 'rows.ndjson': row(1) })
  await run(folder, '022', ['import', 'rights', 'rows.ndjson', '--db', 'file:x.db'])
  assert.deepEqual(modesIn(folder), { 'file:x.db': '600' })
})

/** Runs a command as one of several users of a group. */
const asMember = (user: number) => [
  ...['setpriv', `--reuid=${user}`, '--regid=61000', '--clear-groups'],
  ...withUmask('077'),
]

// As in docs/operating.md: the folder is setgid, the store has mode 0660.
test('two users of one group can share a store, one importing and one serving', async (t) => {
  const folder = makeFolder(t)
  const isRoot = spawnSync('setpriv', [...asMember(61001).slice(1), 'true']).status === 0
  if (!isRoot) return t.skip('needs root and setpriv, to become other users')
  chownSync(folder, 0, 61000)
  chmodSync(folder, 0o2770)
  const importer = { via: asMember(61001) }
  const put = (id: number) => runDossier(folder, 'import rights -', { ...importer, input: row(id) })
  assert.equal((await put(1)).code, 0)
  chmodSync(join(folder, 'dossier.db'), 0o660)
  // The server starts first, so that its user owns the files next to the store.
  assert.ok(!existsSync(join(folder, 'dossier.db-wal')))
  const server = asMember(61002)
  const key = (await runDossier(folder, createKey, { via: server })).out
  await serveOnce(t, folder, server, key, async () => {
    const { code, err } = await put(2)
    assert.equal(code, 0, err)
    const modes = modesIn(folder)
    assert.deepEqual(new Set(Object.values(modes)), new Set(['660']))
  })
  const { code, out } = await runDossier(folder, 'keys list --json', importer)
  assert.equal(code, 0)
  assert.match(out, /"last_day":1/)
})
