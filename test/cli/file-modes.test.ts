// Permissions of the files that Dossier creates, whatever the umask.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { makeFolder } from '../support/import-rows.ts'
import { runDossier, startDossier } from '../support/run-dossier.ts'

const row = (id: number) => `{"id":${id},"company_id":7}\n`

/** The modes of every file of a store, its copy and the other files that commands create. */
function modesIn(folder: string): Record<string, string> {
  const names = readdirSync(folder).filter((name) => /\.db|rejects/.test(name))
  return Object.fromEntries(names.map((name) => [name, modeOf(join(folder, name))]))
}

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8)
}

const withUmask = (umask: string) => ['sh', '-c', `umask ${umask}; exec "$@"`, 'sh']

/** Starts a server and uses a key, so that it has uses to write when it stops. */
async function serveOnce(
  t: TestContext,
  folder: string,
  via: readonly string[],
  whileItRuns: (folder: string) => Promise<void> | void,
): Promise<void> {
  const made = await runDossier(folder, ['keys', 'create', '--name', `k${Date.now()}`], { via })
  assert.equal(made.code, 0, made.err)
  const args = ['serve', '--port', '0', '--log-format', 'json', '--stop-seconds', '1']
  const server = startDossier(t, folder, args, { via })
  await server.until(/"listening"/)
  const url = String(/"url":"([^"]+)"/.exec(server.said.out)?.[1])
  const headers = { authorization: `Bearer ${made.out.trim()}`, connection: 'close' }
  assert.equal((await fetch(`${url}/api/v1/companies/7/rights`, { headers })).status, 200)
  await whileItRuns(folder)
  server.child.kill('SIGTERM')
  const { code, err } = await server.ended
  assert.equal(code, 0, err)
}

for (const umask of ['000', '022', '077']) {
  test(`with umask ${umask} only the owner can access a new store, its log, copy, usage file and rejects`, async (t) => {
    const folder = makeFolder(t)
    const via = withUmask(umask)
    const run = async (...args: string[]) => {
      const { code, err } = await runDossier(folder, args, { via, input: row(1) + '{"id":-1}\n' })
      assert.equal(code, 0, err)
    }
    await run('import', 'rights', '-', '--rejects', 'rejects.ndjson')
    await run('backup', 'copy.db')
    await serveOnce(t, folder, via, () => {
      const modes = modesIn(folder)
      assert.ok('dossier.db-wal' in modes && 'dossier.db-shm' in modes)
      assert.deepEqual(new Set(Object.values(modes)), new Set(['600']))
    })
    assert.equal(modesIn(folder)['dossier-usage.db'], '600')
  })
}

test('companion files take the mode of the store, existing files keep theirs', async (t) => {
  const folder = makeFolder(t)
  const via = withUmask('077')
  writeFileSync(join(folder, 'rejects.ndjson'), '')
  chmodSync(join(folder, 'rejects.ndjson'), 0o644)
  const args = ['import', 'rights', '-', '--rejects', 'rejects.ndjson']
  assert.equal((await runDossier(folder, args, { via, input: row(1) })).code, 0)
  chmodSync(join(folder, 'dossier.db'), 0o640)
  assert.equal((await runDossier(folder, args, { via, input: row(2) })).code, 0)
  assert.equal((await runDossier(folder, ['backup', 'copy.db'], { via })).code, 0)
  await serveOnce(t, folder, via, () => undefined)
  const { 'rejects.ndjson': rejects, ...modes } = modesIn(folder)
  assert.equal(rejects, '644')
  assert.ok('dossier-usage.db' in modes && 'copy.db' in modes)
  assert.deepEqual(new Set(Object.values(modes)), new Set(['640']))
})

test('a path that looks like an SQLite URL is a plain file name, accessible to its owner only', async (t) => {
  const folder = makeFolder(t)
  const args = ['import', 'rights', '-', '--db', 'file:x.db']
  assert.equal((await runDossier(folder, args, { input: row(1) })).code, 0)
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
  const put = (id: number) =>
    runDossier(folder, ['import', 'rights', '-'], { ...importer, input: row(id) })
  assert.equal((await put(1)).code, 0)
  chmodSync(join(folder, 'dossier.db'), 0o660)
  // The server starts first, so that its user owns the files next to the store.
  assert.ok(!existsSync(join(folder, 'dossier.db-wal')))
  await serveOnce(t, folder, asMember(61002), async () => {
    const { code, err } = await put(2)
    assert.equal(code, 0, err)
    const modes = modesIn(folder)
    assert.deepEqual(new Set(Object.values(modes)), new Set(['660']))
  })
  const { code, out } = await runDossier(folder, ['keys', 'list', '--json'], importer)
  assert.equal(code, 0)
  assert.match(out, /"requestsLastDay":1/)
})
