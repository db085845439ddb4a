// Uses of keys: counted by servers, written to a separate file, shown by `keys list`.

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createUses, usesMax } from '../../src/auth/uses.ts'
import { openUsageWriter, openUsesOfKeys, readKeyUsage } from '../../src/store/open-store.ts'
import { resources } from '../../src/resources/index.ts'
import { makeFolder } from '../support/import-rows.ts'
import { mustRun, runCommand } from '../support/run-command.ts'
import { checkExit } from '../support/run-dossier.ts'
import { askPort, runServer, type Server } from '../support/run-server.ts'
import { makeTempStore } from '../support/temp-store.ts'
import { patienceMs, until } from '../support/until.ts'

const hourMs = 3_600_000

async function makeStore(t: TestContext) {
  const store = await makeTempStore(t, resources)
  await store.loadCompanies([7])
  return store
}

/** The same, with a key. */
async function makeUsed(t: TestContext) {
  const store = await makeStore(t)
  return { store, key: await store.issueKey({ name: 'a' }) }
}

interface Listed {
  readonly name: string
  readonly uses: {
    readonly last_used_at: string | null
    readonly last_day: number
    readonly last_30_days: number
  } | null
}

async function list(db: string, ...options: string[]): Promise<Listed[]> {
  const args = ['keys', 'list', '--json', '--db', db, ...options]
  const { out } = await mustRun('/', args)
  return JSON.parse(out) as Listed[]
}

/** The uses of each key in the last day; those of the month must be equal. */
async function uses(db: string): Promise<Record<string, number | undefined>> {
  const listed = await list(db)
  for (const { uses } of listed) assert.equal(uses?.last_day, uses?.last_30_days)
  return Object.fromEntries(listed.map((key) => [key.name, key.uses?.last_day]))
}

async function ask({ port }: Pick<Server, 'port'>, key: string, times: number, path = 'rights') {
  const statuses = new Set<number>()
  for (let count = 0; count < times; count += 1) {
    statuses.add((await askPort(port, `/api/v1/companies/7/${path}`, { key })).status)
  }
  return [...statuses]
}

/** What a key learns of its uses. */
async function usesShown({ port }: Pick<Server, 'port'>, key: string) {
  const { body } = await askPort(port, '/api/v1/key', { key })
  return (JSON.parse(body) as { key: { uses: Record<string, number> | null } }).key.uses
}

async function end(server: Server): Promise<string> {
  await server.end()
  return server.printed()
}

describe('uses of keys', { concurrency: 2 }, () => {
  for (const workers of ['1', '2']) {
    test(`--workers ${workers}: the counts are exact after a stop, without refused requests`, async (t) => {
      const store = await makeStore(t)
      const [a, b] = [await store.issueKey({ name: 'a' }), await store.issueKey({ name: 'b' })]
      const limited = await store.issueKey({ name: 'limited', rate: '3/1h' })
      const scoped = await store.issueKey({ name: 'scoped', scopes: ['jobs'] })
      const revoked = await store.issueKey({ name: 'revoked' })
      await store.revokeKey('revoked')
      const before = Date.now()
      const registry = readFileSync(store.db)
      const server = await runServer(t, store.db, ['--workers', workers])
      assert.deepEqual(await ask(server, a, 40), [200])
      assert.deepEqual(await ask(server, b, 7, 'rights?page=0'), [400], 'a bad request is one')
      assert.deepEqual(await ask(server, limited, 5), [200, 429])
      assert.deepEqual(await ask(server, scoped, 3), [403])
      assert.deepEqual(await ask(server, revoked, 3), [403])
      await end(server)
      assert.deepEqual(await uses(store.db), { a: 40, b: 7, limited: 3, scoped: 0, revoked: 0 })
      const [first, , , unused] = await list(store.db)
      const lastUse = Date.parse(String(first?.uses?.last_used_at))
      assert.ok(lastUse >= before && lastUse <= Date.now())
      assert.equal(unused?.uses?.last_used_at, null)
      assert.deepEqual(readFileSync(store.db), registry, 'nothing was written to the registry')

      const again = await runServer(t, store.db, ['--workers', workers])
      await ask(again, a, 2)
      // What the other worker has counted is not written yet.
      const shown = (await usesShown(again, a))?.['last_30_days'] ?? 0
      assert.ok(workers === '1' ? shown === 43 : shown >= 41 && shown <= 43, String(shown))
      await end(again)
      assert.equal((await uses(store.db))['a'], 43, 'added to what was there')
      const { out } = await runCommand(store.folder, `keys list --db ${store.db}`)
      assert.match(out, /^NAME .* LAST USE +1 DAY +30 DAYS$/m)
      assert.match(out, /^a .* \d{4}-\d\d-\d\d \d\d:\d\d:\d\d +43 +43$/m)
      assert.match(out, /^scoped .* never +0 +0$/m)
    })
  }

  test('after a restore, a new key has neither the uses nor the rate of a key that is gone', async (t) => {
    const store = await makeStore(t)
    const server = await runServer(t, store.db, ['--usage-seconds', '1'])
    const copy = join(store.folder, 'copy.db')
    await mustRun('/', ['backup', copy, '--db', store.db])
    const gone = await store.issueKey({ name: 'gone', rate: '3/1h' })
    assert.deepEqual(await ask(server, gone, 4), [200, 429])
    await until(async () => (await uses(store.db))['gone'] === 3)
    // Ids have the second in which their keys are made.
    await sleep(2_000)
    await mustRun('/', ['restore', copy, '--db', store.db, '--yes'])
    const added = await mustRun('/', `keys create --name new --rate 3/1h --db ${store.db}`)
    assert.deepEqual(await uses(store.db), { new: 0 })
    assert.deepEqual(await ask(server, added.out.trim(), 3), [200])
    await end(server)
  })

  test('kill -9 loses only counts that were not yet written', async (t) => {
    const { store, key } = await makeUsed(t)
    const server = await runServer(t, store.db, ['--workers', '2', '--usage-seconds', '1'])
    await ask(server, key, 20)
    await until(async () => (await uses(store.db))['a'] === 20, 'they are written while it serves')
    await ask(server, key, 5)
    server.stop('SIGKILL')
    await server.ended()
    const after = Number((await uses(store.db))['a'])
    assert.ok(after >= 20 && after <= 25, `${after} of 25`)
  })

  test('if uses cannot be written, each worker warns once and keeps serving (I7)', async (t) => {
    const { store, key } = await makeUsed(t)
    const isOther = join(store.folder, 'other.txt')
    await runCommand(store.folder, ['backup', '--db', store.db, isOther])
    const other = readFileSync(isOther)
    for (const [file, reason] of [
      [join(store.folder, 'nowhere', 'uses.db'), 'cannot be opened'],
      [isOther, 'does not hold key usage'],
    ] as const) {
      const options = ['--usage-db', file, '--usage-seconds', '1', '--workers', '2']
      const server = await runServer(t, store.db, options)
      assert.deepEqual(await ask(server, key, 2), [200])
      await until(() => server.printed().includes('cannot be written'), 'it warns')
      assert.deepEqual(await ask(server, key, 2), [200])
      await sleep(1_100)
      const printed = await end(server)
      const warnings = printed.split('\n').filter((line) => line.includes('cannot be written'))
      assert.ok(warnings.length === 1 || warnings.length === 2, printed)
      for (const warning of warnings) {
        assert.ok(warning.includes(file) && warning.includes(reason), warning)
      }
    }
    assert.deepEqual(readFileSync(isOther), other, 'a file of another kind is left as it is')
    const args = ['keys', 'list', '--db', store.db, '--usage-db', store.folder]
    assert.match((await runCommand(store.folder, args)).err, /does not hold key usage/)
  })

  test('counts that could not be written are written later', async (t) => {
    const { store, key } = await makeUsed(t)
    const folder = join(store.folder, 'later')
    const file = join(folder, 'uses.db')
    const server = await runServer(t, store.db, ['--usage-db', file, '--usage-seconds', '1'])
    await ask(server, key, 3)
    await until(() => server.printed().includes('key usage cannot be'), 'it warns')
    mkdirSync(folder)
    await ask(server, key, 4)
    assert.match(await end(server), /key usage is written again/)
    const [listed] = await list(store.db, '--usage-db', file)
    assert.equal(listed?.uses?.last_day, 7)
  })

  test('a server whose file of counts cannot be looked up any more keeps serving (I7)', async (t) => {
    const { store, key } = await makeUsed(t)
    const folder = join(store.folder, 'lost')
    const file = join(folder, 'uses.db')
    mkdirSync(folder)
    const server = await runServer(t, store.db, ['--usage-db', file, '--usage-seconds', '1'])
    await ask(server, key, 3)
    const counted = async () => (await list(store.db, '--usage-db', file))[0]?.uses?.last_day
    await until(async () => (await counted()) === 3)
    renameSync(folder, `${folder}-away`)
    // A link to itself fails as a disk that is gone does.
    symlinkSync(folder, folder)
    await until(() => server.printed().includes('key usage cannot be written'), 'it warns')
    await ask(server, key, 4)
    rmSync(folder)
    renameSync(`${folder}-away`, folder)
    await end(server)
    assert.equal(await counted(), 7)
  })

  for (const [workers, endings] of [
    ['1', ['']],
    ['2', ['', '-wal', '-shm']],
  ] as const) {
    test(`--workers ${workers}: after its file was removed, the server counts in a new one (I7)`, async (t) => {
      const { store, key } = await makeUsed(t)
      const file = join(store.folder, 'registry-usage.db')
      const server = await runServer(t, store.db, ['--workers', workers, '--usage-seconds', '1'])
      await ask(server, key, 20)
      assert.notEqual(await usesShown(server, key), null)
      await until(async () => (await uses(store.db))['a'] === 21)
      for (const ending of endings) rmSync(file + ending)
      await ask(server, key, 4)
      await until(async () => (await uses(store.db))['a'] === 4)
      assert.equal((await usesShown(server, key))?.['today'], 5)
      assert.match(await end(server), /registry-usage\.db.*was removed or replaced/)
      assert.equal((await uses(store.db))['a'], 5)
    })
  }

  test('--usage-db none counts nothing, and the list shows no uses', async (t) => {
    const { store, key } = await makeUsed(t)
    const server = await runServer(t, store.db, ['--usage-db', 'none'])
    await ask(server, key, 2)
    assert.equal(await usesShown(server, key), null)
    await end(server)
    assert.ok(!existsSync(join(store.folder, 'registry-usage.db')))
    const [listed] = await list(store.db, '--usage-db', 'none')
    assert.equal(listed?.uses, null)
    for (const words of [['check-config'], ['serve'], ['keys', 'list']]) {
      const env = { DOSSIER_USAGE_DB: `./${basename(store.db)}` }
      const run = await runCommand(store.folder, [...words, '--db', store.db], { env })
      checkExit(
        run,
        2,
        /^dossier: --usage-db is \S+, which is a file of the store; name another file/,
      )
    }
  })
})

test('the last day and 30 days are counted by the hour; older counts are deleted, the last use stays', async (t) => {
  const file = join(makeFolder(t), 'uses.db')
  const now = Date.parse('2026-06-30T10:30:00Z')
  const hour = now / hourMs - 0.5
  const writer = openUsageWriter(file, 'one', 'none.db')
  t.after(() => writer.close())
  const add = (keyId: number, ago: number, at: number) => {
    const use = { keyId, hour: hour - ago, requests: 1, lastUsedAt: at - ago * hourMs }
    return writer.add([use], at, 1_000)
  }
  for (const ago of [0, 0, 23, 24, 719, 720]) await add(1, ago, now)
  await add(2, 5_000, now)
  const told = readKeyUsage(file, 'one', now).map((usage) => ({ ...usage }))
  assert.deepEqual(told, [
    { keyId: 1, lastUsedAt: now, requestsLastDay: 3, requestsLast30Days: 5 },
    { keyId: 2, lastUsedAt: now - 5_000 * hourMs, requestsLastDay: 0, requestsLast30Days: 0 },
  ])
  const reader = openUsesOfKeys(file, 'one')
  // At 10:30, today began with the hour 10 hours ago.
  for (const ago of [10, 11]) await add(1, ago, now)
  assert.deepEqual({ ...reader.readUses(1, now) }, { today: 3, last30Days: 7 })
  assert.deepEqual({ ...reader.readUses(2, now) }, { today: 0, last30Days: 0 })
  reader.close()
  const none = openUsesOfKeys(`${file}-missing`, 'one')
  assert.deepEqual({ ...none.readUses(1, now) }, { today: 0, last30Days: 0 })
  assert.deepEqual(readKeyUsage(file, 'another registry', now), [])
  assert.deepEqual(readKeyUsage(`${file}-missing`, 'one', now), [])
})

test('a writer waits for another one between turns of the event loop, as long as it may', async (t) => {
  const file = join(makeFolder(t), 'uses.db')
  const writer = openUsageWriter(file, 'one', 'none.db')
  t.after(() => writer.close())
  const use = { keyId: 1, hour: 1, requests: 1, lastUsedAt: hourMs }
  await writer.add([use], hourMs, 0)
  using other = new DatabaseSync(file)
  other.exec('begin immediate')
  await assert.rejects(writer.add([use], hourMs, 0), /another process is writing to it/)
  let isAdded = false
  const added = writer.add([use], hourMs, patienceMs).then(() => (isAdded = true))
  await sleep(50)
  assert.ok(!isAdded)
  other.exec('commit')
  await added
  assert.equal(readKeyUsage(file, 'one', hourMs)[0]?.requestsLastDay, 2)
})

test('counts are held by key and hour in bounded memory', () => {
  let now = 10.5 * hourMs
  const counted = createUses(() => now)
  counted.count(1)
  now += hourMs
  counted.count(1)
  counted.count(1)
  const taken = counted.take()
  const told = taken.map(({ keyId, hour, requests }) => `${keyId} ${hour} ${requests}`)
  assert.deepEqual(told, ['1 11 2', '1 10 1'])
  assert.deepEqual(counted.take(), [])
  counted.count(1)
  counted.add(taken)
  const sum = counted.take().reduce((all, { requests }) => all + requests, 0)
  assert.equal(sum, 4)
  for (let key = 0; key < usesMax + 10; key += 1) counted.count(key)
  assert.equal(counted.take().length, usesMax)
})
