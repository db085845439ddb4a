// `dossier keys`: lists, and usage errors. rotation.test.ts has running servers.

import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { importRows, makeFolder, makePlace, queryValue } from '../support/import-rows.ts'
import { processorMs } from '../support/processor-time.ts'
import { runCommand } from '../support/run-command.ts'
import { checkExit } from '../support/run-dossier.ts'
import { aboveStores, storeAt } from '../support/store-at.ts'

/** A folder with a store, and `dossier keys` in it. */
async function folderWithStore(t: Parameters<typeof makeFolder>[0]) {
  const { folder, db } = makePlace(t)
  await importRows(db, 'rights', [{ id: 1, company_id: 7 }])
  return { folder, db, keys: (...args: string[]) => runCommand(folder, ['keys', ...args]) }
}

describe('keys', { concurrency: 2 }, () => {
  test('the list as JSON has everything but the key and its hash', async (t) => {
    const { keys } = await folderWithStore(t)
    assert.match((await keys('list')).out, /There are no keys yet/)
    assert.deepEqual(JSON.parse((await keys('list', '--json')).out), [])
    const before = Date.now()
    const made = await keys('create', '--name', 'acmé-1', '--expires', '2099-01-31')
    await keys('create', 'b.2', '--scopes', 'rights, events,rights', '--rate', '2/1h')
    assert.match((await keys('list')).out, /^b\.2 .*in use .*rights,events +2\/1h /m)
    await keys('revoke', 'b.2')
    assert.match((await keys('list')).out, /^b\.2 .*revoked/m)
    const { out } = await keys('list', '--json')
    const [first, second] = JSON.parse(out) as Record<string, unknown>[]
    const { id, created_at: createdAt, hint, ...rest } = first ?? {}
    assert.deepEqual(rest, {
      name: 'acmé-1',
      scopes: null,
      expires_at: '2099-01-31T00:00:00.000Z',
      revoked_at: null,
      rate: null,
      uses: { last_used_at: null, last_day: 0, last_30_days: 0 },
    })
    assert.ok(Number.isSafeInteger(id) && Number(id) < Number(second?.['id']))
    const madeAt = Date.parse(String(createdAt))
    assert.ok(madeAt >= before && madeAt <= Date.now())
    const [start = '', end = ''] = String(hint).split('…')
    assert.ok(made.out.startsWith(start) && made.out.trim().endsWith(end))
    assert.deepEqual(second?.['scopes'], ['rights', 'events'])
    assert.match(String(second['revoked_at']), /^\d{4}-[\d-]+T[\d:]+\.\d{3}Z$/)
    assert.ok(!out.includes(made.out.trim().slice(start.length, -end.length)))
  })

  /** Keys that cannot be created or revoked, with the exit code and the message. */
  const refused: readonly (readonly [args: readonly string[], code: number, says: RegExp])[] = [
    [['create', '--name', 'a', '--expires', '2020-01-01'], 2, /--expires is 2020-01-01, which is/],
    [['create', '--name', 'a', '--expires', 'soon'], 2, /it takes a date/],
    [['create', '--name', 'a', '--scopes', 'right'], 2, /"right" is not a scope; .* mean rights\?/],
    [['create', '--name', 'a', '--scopes', ''], 2, /"" is not a scope/],
    [
      ['create', '--name', 'a', '--rate', '2 per hour'],
      2,
      /--rate is "2 per hour"; it must be none, or/,
    ],
    [['create', '--name', 'a b'], 2, /--name is "a b"; it takes up to 64/],
    [['create', '--name', 'x'.repeat(65)], 2, /it takes up to 64/],
    [['create', '--name=-x'], 2, /--name is "-x"; .* the first of which is a letter or a digit$/m],
    [['create', '--name', 'taken'], 1, /a key named taken already exists; rotate it, revoke it/],
    [['rotate'], 2, /name the key to rotate/],
    [['rotate', 'takn'], 1, /no valid key is named takn; did you mean taken\?/],
    [['rotate', 'gone'], 1, /no valid key is named gone; see: dossier keys list/],
    [['rotate', 'taken', '--overlap', 'soon'], 2, /--overlap is "soon"; it takes a duration/],
    [['rotate', 'taken', '--overlap', '999999y'], 2, /--overlap is 999999y; the maximum is 1y/],
    [['rotate', 'taken', '--scopes', 'jobs'], 2, /keys rotate takes no --scopes\n/],
    [['rotate', 'taken', '--rate', 'none'], 2, /keys rotate takes no --rate\n/],
    [['revoke'], 2, /name the key to revoke/],
    [['revoke', 'taken', '--overlap', '7d'], 2, /keys revoke takes no --overlap\n/],
    [['revoke', 'taken', 'gone'], 2, /keys revoke takes one name, but got taken gone/],
    [['revoke', 'takn'], 1, /no valid key is named takn; did you mean taken\?/],
    [['revoke', 'gone'], 1, /no valid key is named gone; see: dossier keys list/],
  ]

  test('a usage error creates and revokes nothing, and is reported in one or two lines', async (t) => {
    const { db, keys } = await folderWithStore(t)
    await keys('create', '--name', 'taken')
    await keys('create', '--name', 'gone')
    await keys('revoke', 'gone')
    for (const [args, code, says] of refused) {
      const run = await keys(...args)
      checkExit(run, code, /^dossier: [^\n]+\n(See: [^\n]+\n)?$/)
      assert.match(run.err, says)
      assert.equal(run.out, '')
    }
    assert.equal(queryValue(db, 'select count(*) from keys'), 2)
    assert.equal(queryValue(db, 'select count(*) from keys where revoked_at is null'), 1)
  })

  test('a usage error is reported even without a store', async (t) => {
    const folder = makeFolder(t)
    const failed = await runCommand(folder, 'keys create')
    checkExit(failed, 2, /name the key to create: keys create --name NAME/)
  })

  test('a key with the longest accepted duration can be listed, an expired one not rotated', async (t) => {
    const { keys } = await folderWithStore(t)
    for (const [name, expires, code] of [
      ['a', '99999y', 2],
      ['b', '9999-12-31', 0],
      ['c', '99y', 0],
      ['late', '1s', 0],
    ] as const) {
      const run = await keys('create', '--name', name, '--expires', expires)
      assert.equal(run.code, code, run.err)
    }
    const { code, out, err } = await keys('list')
    assert.equal(code, 0, err)
    assert.match(out, /^b .* in use .* 9999-12-31 /m)
    assert.equal((await keys('list', '--json')).code, 0)
    await sleep(1_000)
    checkExit(await keys('rotate', 'late'), 1, /no valid key is named late; see: dossier keys list/)
  })
})

test('thousands of keys are listed at once', { skip: aboveStores }, async (t) => {
  const { folder, db } = makePlace(t)
  await importRows(db, 'rights', [])
  using file = new DatabaseSync(storeAt(db))
  file.exec(`
    with recursive n (v) as (values (1) union all select v + 1 from n where v < 20000)
    insert into keys (id, name, hint, hash, created_at)
    select v, 'key-' || (v % 19999), 'h', cast(v as blob), v from n`)
  const ms = await processorMs(async () => {
    const { out } = await runCommand(folder, 'keys list')
    assert.deepEqual(out.match(/^key-1 .*(replaced|in use)/gm)?.length, 2)
    assert.deepEqual(out.match(/ replaced /g)?.length, 1)
  })
  assert.ok(ms < 2_000, `${ms} ms`)
})
