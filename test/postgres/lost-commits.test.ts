// A connection lost between COMMIT and its answer: the reported outcome is the real one.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Client } from 'pg'
import { commit } from '../../src/store/postgres/transaction.ts'
import { openSession, withSession } from '../../src/store/postgres/connect.ts'
import { schemaIn } from '../../src/store/postgres/url.ts'
import { type Cut, type CuttingProxy, startCuttingProxy } from '../support/cutting-proxy.ts'
import { makeFolder } from '../support/import-rows.ts'
import { startPostgres } from '../support/postgres-server.ts'
import { mustRun, runCommand } from '../support/run-command.ts'
import { checkExit, runDossier, type RunningDossier, startDossier } from '../support/run-dossier.ts'
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
  ['server waits', false],
]

for (const [cut, isDone] of cuts) {
  const told = isDone ? 'it is reported as done' : 'it is reported that nothing was changed'
  test(`an import whose connection is lost at COMMIT, ${cut}: ${told}`, async (t) => {
    const { folder, db, proxy, through } = await makeStore(t)
    const before = await storeDigest(db)
    proxy.cutNext(cut)
    const run = await runCommand(folder, ['import', 'rights', 'second.ndjson', '--db', through])
    assert.ok(proxy.hasCut(), 'the connection was lost')
    assert.equal((await storeDigest(db)) !== before, isDone, 'what was done')
    assert.equal(run.code, isDone ? 0 : 1, run.err)
    if (isDone) assert.match(run.out, /^Committed as version 2 /m)
    else assert.match(run.err, /^dossier: postgres:[^\n]*nothing was changed[^\n]*\n$/)
  })

  test(`a key whose connection is lost at COMMIT, ${cut}: ${told}`, async (t) => {
    const { folder, db, proxy, through } = await makeStore(t)
    proxy.cutNext(cut)
    const run = await runCommand(folder, ['keys', 'create', '--name', 'acme', '--db', through])
    assert.ok(proxy.hasCut(), 'the connection was lost')
    const list = await runCommand(folder, `keys list --json --db ${db}`)
    assert.equal((JSON.parse(list.out) as unknown[]).length, isDone ? 1 : 0, 'what was done')
    assert.equal(run.code, isDone ? 0 : 1, run.err)
    assert.match(run.out, isDone ? /^dossier_\w{49}\n$/ : /^$/)
    if (!isDone) assert.match(run.err, /^dossier: postgres:[^\n]*nothing was changed[^\n]*\n$/)
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
  const session = await openSession(db)
  t.after(() => session.end())
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

test('if the server cannot be reached, the outcome is reported as unknown', async (t) => {
  const { db, proxy, through } = await makeStore(t)
  const client = await openSession(through)
  await client.query('begin')
  await client.query(`insert into sources (id, name) values (1000, 'lost')`)
  proxy.cutNext('answer lost', { andStayAway: true })
  await assert.rejects(commit(client, through, 500), (error: Error) => {
    assert.match(error.message, /^postgres:.* does not say whether it succeeded; .*dossier imports/)
    assert.ok(!error.message.includes('password'), 'no password is shown')
    return true
  })
  const sql = `select from sources where name = 'lost'`
  const { rowCount } = await withSession(db, (client) => client.query(sql))
  assert.equal(rowCount, 1, 'it was done')
})

test('a role limited to one session commits, and an unknown outcome is reported as such', async (t) => {
  const { db, proxy, through } = await makeStore(t)
  const watcher = await openSession(db)
  const role = `one_${randomBytes(4).toString('hex')}`
  await watcher.query(`create role ${role} login password 'one' connection limit 1`)
  await watcher.query(`grant usage on schema ${String(schemaIn(db))} to ${role}`)
  await watcher.query(`grant insert on sources to ${role}`)
  t.after(async () => {
    await watcher.query(`drop owned by ${role}; drop role ${role}`)
    await watcher.end()
  })
  for (const [id, isLost] of [
    [1000, false],
    [1001, true],
  ] as const) {
    const url = new URL(through)
    ;[url.username, url.password] = [role, 'one']
    const client = await openPatiently(url.href, tooManySessions)
    await client.query('begin')
    await client.query('insert into sources (id, name) values ($1, $2)', [id, `source ${id}`])
    if (isLost) proxy.cutNext('answer lost')
    const done = commit(client, url.href, 500)
    if (isLost) await assert.rejects(done, /does not say whether it succeeded/)
    else await done
    await client.end()
  }
  const { rowCount } = await watcher.query('select from sources where id >= 1000')
  assert.equal(rowCount, 2)
})

/** A session counts until its process has ended. */
const tooManySessions = '53300'
/** A server that recovers from a crash may end its first sessions. */
const reset = 'ECONNRESET'

/** Opens a session, again and again while that fails with a code that passes. */
async function openPatiently(url: string, passing: string): Promise<Client> {
  let client: Client | undefined
  await until(async () => {
    client = await openSession(url).catch((error: unknown) => {
      if ((error as { readonly code?: string }).code !== passing) throw error
      return undefined
    })
    return client !== undefined
  })
  assert.ok(client)
  return client
}

// A short transaction may not have reached the disk by then. The server would reuse its number for
// the next one, and report the outcome of that one instead.
test('a server crash at COMMIT, with the transaction number reused: the key is reported as not stored', async (t) => {
  const server = await startPostgres({ settings: { wal_writer_delay: '10s' } })
  t.after(() => server.remove())
  const folder = makeFolder(t)
  await mustRun(folder, `migrate --db ${server.url}`)
  const proxy = await startCuttingProxy(t, server.url)
  proxy.cutNext('commit lost', {
    async first() {
      await server.stop('SIGKILL')
      await server.start()
      const other = await openPatiently(server.url, reset)
      await other.query(`insert into sources (id, name) values (1000, 'other')`)
      await other.end()
    },
  })
  const args = ['keys', 'create', '--name', 'acme', '--db', proxy.url]
  const run = await runCommand(folder, args)
  assert.ok(proxy.hasCut(), 'the connection was lost')
  const list = await runCommand(folder, `keys list --json --db ${server.url}`)
  assert.deepEqual(JSON.parse(list.out), [], 'nothing was done')
  assert.equal(run.code, 1)
  assert.equal(run.out, '', 'a key is printed only when it is stored')
  assert.match(run.err, /^dossier: postgres:[^\n]*nothing was changed[^\n]*\n$/)
})

test('a standby takes over at COMMIT, and reuses the transaction number: unknown', async (t) => {
  const server = await startPostgres()
  t.after(() => server.remove())
  const folder = makeFolder(t)
  await mustRun(folder, `migrate --db ${server.url}`)
  await server.stop()
  const behind = join(folder, 'standby')
  execFileSync('cp', ['-a', server.data, behind])
  await server.start()
  const proxy = await startCuttingProxy(t, server.url)
  proxy.cutNext('commit lost', {
    async first() {
      await server.stop('SIGKILL')
      rmSync(server.data, { recursive: true })
      execFileSync('cp', ['-a', behind, server.data])
      writeFileSync(join(server.data, 'standby.signal'), '')
      await server.start()
      const other = await openPatiently(server.url, reset)
      await other.query('select pg_promote()')
      for (const id of [1000, 1001, 1002]) {
        await other.query('insert into sources (id, name) values ($1, $2)', [id, `other ${id}`])
      }
      await other.end()
    },
  })
  const run = await runCommand(folder, ['keys', 'create', '--name', 'acme', '--db', proxy.url])
  assert.ok(proxy.hasCut(), 'the connection was lost')
  const list = await runCommand(folder, `keys list --json --db ${server.url}`)
  assert.deepEqual(JSON.parse(list.out), [], 'nothing was done')
  assert.deepEqual([run.code, run.out], [1, ''])
  assert.match(run.err, /does not say whether it succeeded; see dossier imports/)
})
