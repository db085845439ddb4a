// A connection lost between COMMIT and its answer: the outcome is unknown, and reported as such.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type Cut, type CuttingProxy, startCuttingProxy } from '../support/cutting-proxy.ts'
import { makeFolder } from '../support/import-rows.ts'
import { mustRun, runCommand } from '../support/run-command.ts'
import { checkExit, runDossier, type RunningDossier, startDossier } from '../support/run-dossier.ts'
import { sessionFor } from '../support/sessions.ts'
import { storeAt } from '../support/store-at.ts'
import { storeDigest } from '../support/store-state.ts'
import { until } from '../support/until.ts'

interface Made {
  readonly folder: string
  readonly db: string
  readonly proxy: CuttingProxy
  /** The URL of the same store through the proxy. */
  readonly through: string
}

/** A store with a record, a file that changes it, and a proxy before its server. */
async function makeStore(t: TestContext): Promise<Made> {
  const folder = makeFolder(t)
  const db = storeAt(join(folder, 'dossier.db'), 'postgres')
  for (const name of ['first', 'second']) {
    const row = { id: 1, company_id: 7, name }
    writeFileSync(join(folder, `${name}.ndjson`), `${JSON.stringify(row)}\n`)
  }
  await mustRun(folder, `import rights first.ndjson --db ${db}`)
  const proxy = await startCuttingProxy(t, db)
  return { folder, db, proxy, through: proxy.url }
}

const cuts: readonly (readonly [Cut, isDone: boolean])[] = [
  ['answer lost', true],
  ['commit lost', false],
]

/** One line, which says where to look, for an import as for a key. */
const told = /^dossier: postgres:.* lost during COMMIT.* dossier imports .* dossier keys list .*\n$/

for (const [cut, isDone] of cuts) {
  test(`a command whose connection is lost at COMMIT says where to look: ${cut}`, async (t) => {
    const { folder, db, proxy, through } = await makeStore(t)
    const before = await storeDigest(db)
    proxy.cutNext(cut)
    const run = await runCommand(folder, ['import', 'rights', 'second.ndjson', '--db', through])
    assert.ok(proxy.hasCut(), 'the connection was lost')
    assert.equal((await storeDigest(db)) !== before, isDone, 'what was done')
    checkExit(run, 1, told)
    assert.ok(!run.err.includes('password'), 'no password is shown')

    proxy.cutNext(cut)
    const key = await runCommand(folder, ['keys', 'create', '--name', 'acme', '--db', through])
    assert.ok(proxy.hasCut(), 'the connection was lost')
    const list = await runCommand(folder, `keys list --json --db ${db}`)
    assert.equal((JSON.parse(list.out) as unknown[]).length, isDone ? 1 : 0, 'what was done')
    checkExit(key, 1, told)
    assert.equal(key.out, '', 'a key is printed only when it is stored')
  })
}

/** The sessions that wait for the lock of the store. */
const waitingSql = `
  select from pg_locks where locktype = 'advisory' and not granted
    and objid::bigint = hashtext(current_schema())::bigint & x'ffffffff'::bigint`

test('an order whose COMMIT is lost stays in a file, since another command may follow it', async (t) => {
  const { folder, db, proxy, through } = await makeStore(t)
  const order = (id: number, at: string) =>
    `withhold erase rights ${id} --reason r --by b --yes --db ${at} --withheld list.ndjson`
  writeFileSync(join(folder, 'more.ndjson'), '{"id":2,"company_id":7}\n')
  await mustRun(folder, `import rights more.ndjson --db ${db} --withheld list.ndjson`)
  const session = await sessionFor(t, db)
  const others: RunningDossier[] = []
  const first = async () => {
    others.push(startDossier(t, folder, order(2, db)))
    await until(async () => (await session.query(waitingSql)).rowCount === 1, 'it waits')
  }
  proxy.cutNext('commit lost', { first })
  const lost = await runDossier(folder, order(1, through))
  assert.equal(lost.code, 1)
  for (const { ended } of others) checkExit(await ended, 0, /^/)
  const list = await mustRun(folder, `withhold list --json --db ${db} --withheld list.ndjson`)
  assert.equal((JSON.parse(list.out) as unknown[]).length, 2)
})
