// `dossier keys rotate` with running servers.

import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { resources } from '../../src/resources/index.ts'
import { queryValue } from '../support/import-rows.ts'
import { runCommand } from '../support/run-command.ts'
import { askPort, runServer } from '../support/run-server.ts'
import { makeTempStore } from '../support/temp-store.ts'

const store = await makeTempStore({ after }, resources)
await store.loadCompanies([7])

const keys = (...args: string[]) =>
  runCommand(store.folder, ['keys', ...args, '--db', 'registry.db'])

async function print(...args: string[]): Promise<string> {
  const { code, out, err } = await keys(...args)
  assert.equal(code, 0, err)
  assert.match(out, /^dossier_\w{49}\n$/, 'the key and nothing else')
  return out.trim()
}

/** Each on its own connection, so that each worker gets some. */
const ask = async (port: number, key: string) =>
  (await askPort(port, '/api/v1/companies/7/rights', { key })).status

interface Listed {
  readonly name: string
  readonly scopes: readonly string[] | null
  readonly rate: string | null
  readonly expires_at: string
}

async function list(name: string): Promise<Listed[]> {
  const { out } = await keys('list', '--json')
  return (JSON.parse(out) as Listed[]).filter((key) => key.name === name)
}

describe('rotation', { concurrency: 2 }, () => {
  test('both keys are valid during the overlap; then every process refuses the old one without a restart (C9)', async (t) => {
    const alone = await runServer(t, store.db)
    const team = await runServer(t, store.db, ['--workers', '2'])
    const old = await print('create', '--name', 'c9')
    for (const { port } of [alone, team]) assert.equal(await ask(port, old), 200)
    const young = await print('rotate', 'c9', '--overlap', '3s')
    const [first] = await list('c9')
    const endAt = Date.parse(String(first?.expires_at))
    for (const { port } of [alone, team, team, team, team]) {
      const answers = await Promise.all([ask(port, old), ask(port, young)])
      assert.equal(answers[1], 200, 'the new one works at once')
      // On a very slow machine the overlap may have ended by now.
      if (Date.now() < endAt) assert.equal(answers[0], 200, 'the old one works on')
    }
    // A worker may cache for half a second what it read before the rotation.
    await sleep(Math.max(0, endAt - Date.now()) + 600)
    for (let turn = 0; turn < 6; turn += 1) {
      for (const { port } of [alone, team]) {
        assert.deepEqual([await ask(port, old), await ask(port, young)], [403, 200])
      }
    }
  })

  test('the new key has the name, scopes, rate and expiry of the old one; --expires changes the expiry', async () => {
    const scoped = ['--scopes', 'rights,jobs', '--rate', '9/1m', '--expires', '2099-01-31']
    await print('create', '--name', 'scoped', ...scoped)
    const before = Date.now()
    await print('rotate', 'scoped')
    const [old, young] = await list('scoped')
    assert.deepEqual(young?.scopes, ['rights', 'jobs'])
    assert.equal(young.rate, '9/1m')
    assert.equal(young.expires_at, '2099-01-31T00:00:00.000Z')
    const oldEndsAt = Date.parse(String(old?.expires_at))
    assert.ok(oldEndsAt >= before + 7 * 86_400_000, 'seven days, if nothing is said')
    await print('rotate', 'scoped', '--expires', '2098-01-01')
    assert.equal((await list('scoped'))[2]?.expires_at, '2098-01-01T00:00:00.000Z')
  })

  test('a rotation never extends the expiry of the old key', async () => {
    await print('create', '--name', 'short', '--expires', '1h')
    const [before] = await list('short')
    await print('rotate', 'short', '--overlap', '30d', '--expires', '1y')
    assert.equal((await list('short'))[0]?.expires_at, before?.expires_at)
  })

  test('a second rotation ends all older keys of the name; the list shows each; revoke revokes all within a second (2.2, C10)', async (t) => {
    const { port } = await runServer(t, store.db)
    const all = [await print('create', '--name', 'twice')]
    all.push(await print('rotate', 'twice', '--overlap', '7d'))
    all.push(await print('rotate', 'twice', '--overlap', '6d'))
    const { out } = await keys('list')
    const states = [...out.matchAll(/^twice +\S+ +(in use|replaced|expired)/gm)]
    const told = states.map(([, state]) => state)
    assert.deepEqual(told, ['replaced', 'replaced', 'in use'])
    const refusal = await keys('create', '--name', 'twice')
    assert.match(refusal.err, /^dossier: a key named twice already exists; rotate it, revoke it/)
    const answers = async () => Promise.all(all.map((key) => ask(port, key)))
    assert.deepEqual(await answers(), [200, 200, 200])
    all.push(await print('rotate', 'twice', '--overlap', '0d'))
    await sleep(1_000)
    assert.deepEqual(await answers(), [403, 403, 403, 200])
    assert.equal((await keys('revoke', 'twice')).code, 0)
    await sleep(1_000)
    assert.deepEqual(await answers(), [403, 403, 403, 403])
    const inUse = `select count(*) from keys where name = 'twice' and revoked_at is null`
    assert.equal(queryValue(store.db, inUse), 0)
  })
})
