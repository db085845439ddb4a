// A key is printed only when it is stored, and kept only if it was printed.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { importRows, makeFolder } from '../support/import-rows.ts'
import { mustRun, runCommand } from '../support/run-command.ts'
import { checkExit, redirected, runDossier, startDossier } from '../support/run-dossier.ts'
import { storeKind } from '../support/store-at.ts'

/** A folder with a store that has a key named `old`. */
async function makeStore(t: TestContext): Promise<string> {
  const folder = makeFolder(t)
  await importRows(join(folder, 'dossier.db'), 'rights', [{ id: 1, company_id: 7 }])
  await mustRun(folder, 'keys create --name old')
  return folder
}

async function list(folder: string): Promise<string> {
  return (await runCommand(folder, 'keys list --json')).out
}

const commands = [
  ['keys', 'create', '--name', 'new'],
  ['keys', 'rotate', 'old', '--overlap', '0d'],
]

const notPrinted =
  /^dossier: the key could not be printed, so it was not kept; standard output: [^\n]+\n$/

for (const redirection of ['>&-', '>/dev/full']) {
  test(`a key that cannot be printed is not kept: ${redirection}`, async (t) => {
    const folder = await makeStore(t)
    const before = await list(folder)
    const via = redirected(redirection)
    for (const command of commands) {
      checkExit(await runDossier(folder, command, { via }), 1, notPrinted)
    }
    assert.equal(await list(folder), before)
  })
}

test('a key is not kept if its reader has exited', async (t) => {
  const folder = await makeStore(t)
  const before = await list(folder)
  for (const command of commands) {
    const { child, ended } = startDossier(t, folder, command)
    child.stdout.destroy()
    checkExit(await ended, 1, notPrinted)
  }
  assert.equal(await list(folder), before)
})

// A server's commits fail in `test/postgres/lost-commits.test.ts`.
if (storeKind === 'sqlite') {
  test('a key that cannot be stored is not printed', async (t) => {
    const folder = await makeStore(t)
    const before = await list(folder)
    // The log of a commit does not fit into 32 KB; the other files do.
    const via = ['sh', '-c', 'ulimit -f 64; exec "$@"', 'sh']
    for (const command of commands) {
      const { code, out, err } = await runDossier(folder, command, { via })
      assert.equal(code, 1, err)
      assert.equal(out, '')
      assert.match(err, /^dossier: [^\n]+\n$/)
    }
    assert.equal(await list(folder), before)
  })
}
