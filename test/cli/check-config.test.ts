// `dossier check-config`, as an operator runs it before a start (reliability row I6).

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { settings, variableOf, withoutSecrets } from '../../src/config.ts'
import { makeFolder } from '../support/import-rows.ts'
import { runDossier } from '../support/run-dossier.ts'

interface Shown {
  readonly settings: readonly Readonly<Record<string, string>>[]
  readonly faults: readonly string[]
}

test('check-config: every setting, its value and its origin; nothing is opened', async (t) => {
  const folder = makeFolder(t)
  const env = { DOSSIER_CACHE_MIB: '9', DOSSIER_PORT: '1' }
  const { code, out, err } = await runDossier(folder, ['check-config', '--port', '81'], { env })
  assert.equal(code, 0, err)
  assert.equal(err, '')
  for (const setting of Object.values(settings)) {
    const line = out.split('\n').find((text) => text.startsWith(`--${setting.name} `)) ?? ''
    const [value, origin] =
      setting.name === 'port'
        ? ['81', 'option']
        : setting.name === 'cache-mib'
          ? ['9', 'environment']
          : [setting.default, 'default']
    assert.deepEqual(line.split(/ {2,}/), [
      ...[`--${setting.name}`, variableOf(setting), value, origin],
    ])
  }
  assert.deepEqual(readdirSync(folder), [])
})

test('I6 check-config tells all faults at once, and exits 2', async (t) => {
  const folder = makeFolder(t)
  const env = { DOSSIER_PROT: '1', DOSSIER_LOG_LEVEL: 'loud' }
  const args = ['check-config', '--port', '99999']
  const { code, out, err } = await runDossier(folder, args, { env })
  assert.equal(code, 2)
  assert.equal(err.trim().split('\n').length, 3, err)
  assert.match(err, /^dossier: DOSSIER_PROT is no setting; did you mean DOSSIER_PORT\?$/m)
  assert.match(err, /^dossier: --port is "99999"; it must be an integer from 0 to 65535$/m)
  assert.match(err, /^dossier: DOSSIER_LOG_LEVEL is "loud"; it must be one of /m)
  assert.match(out, /^--port .* 99999 +option, BAD$/m)
  assert.match(out, /^--host .*default$/m)

  const json = await runDossier(folder, [...args, '--json'], { env })
  assert.equal(json.code, 2)
  const shown = JSON.parse(json.out) as Shown
  assert.deepEqual(
    shown.settings.map(({ setting }) => setting),
    Object.values(settings).map(({ name }) => name),
  )
  assert.equal(shown.faults.length, 3)
  const port = shown.settings.find(({ setting }) => setting === 'port')
  assert.deepEqual(port, {
    ...{ setting: 'port', variable: 'DOSSIER_PORT', value: '99999', from: 'option' },
    fault: '--port is "99999"; it must be an integer from 0 to 65535',
  })
})

test('C13 check-config and the faults of settings show no password', async (t) => {
  const folder = makeFolder(t)
  const db = 'postgres://reader:s3cret@db.example/registry?sslpassword=s3cret'
  const env = { DOSSIER_DB: db, DOSSIER_HOST: '::1', DOSSIER_PORT: 'x://a:s3cret@b' }
  for (const args of [['check-config'], ['check-config', '--json'], ['serve']]) {
    const { code, out, err } = await runDossier(folder, args, { env })
    assert.equal(code, 2)
    assert.ok(!`${out}${err}`.includes('s3cret'), `${out}${err}`)
    if (args[0] === 'check-config') assert.ok(out.includes('postgres://reader:***@db.example/'))
  }
})

/** What is shown of a value. */
const shownAs: Readonly<Record<string, string>> = {
  '/var/lib/dossier/registry.db': '/var/lib/dossier/registry.db',
  'a:b@c.db': 'a:b@c.db',
  '::1': '::1',
  'redis://:pw@host:6379/0': 'redis://:***@host:6379/0',
  'postgresql://host/db?user=u&password=pw&x=1': 'postgresql://host/db?user=u&password=***&x=1',
  "host=h password = 'p w' user=u": 'host=h password = *** user=u',
  'redis://user:p:/w@host': 'redis://user:***@host',
  'postgres://host/db': 'postgres://host/db',
}

for (const [value, shown] of Object.entries(shownAs)) {
  test(`a setting that is ${value} is shown as ${shown}`, () => {
    assert.equal(withoutSecrets(value), shown)
  })
}
