// `dossier check-config`, as an operator runs it before a start (reliability row I6).

import assert from 'node:assert/strict'
import { readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { resolveSettings } from '../../src/config/resolve-settings.ts'
import { settings, variableOf } from '../../src/config/settings.ts'
import { withoutPasswords } from '../../src/text/redact.ts'
import { importRows, makeFolder } from '../support/import-rows.ts'
import { mustRun, runCommand } from '../support/run-command.ts'
import { checkExit } from '../support/run-dossier.ts'

interface Shown {
  readonly settings: readonly Readonly<Record<string, string>>[]
  readonly faults: readonly string[]
}

test('check-config prints every setting with value and origin, and opens nothing', async (t) => {
  const folder = makeFolder(t)
  const env = { DOSSIER_CACHE_MIB: '9', DOSSIER_PORT: '1' }
  const { out, err } = await mustRun(folder, 'check-config --port 81', { env })
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

test('check-config reports all errors at once and exits with 2 (I6)', async (t) => {
  const folder = makeFolder(t)
  const env = { DOSSIER_PROT: '1', DOSSIER_LOG_LEVEL: 'loud' }
  const args = ['check-config', '--port', '99999']
  const { code, out, err } = await runCommand(folder, args, { env })
  assert.equal(code, 2)
  assert.equal(err.trim().split('\n').length, 3, err)
  assert.match(err, /^dossier: DOSSIER_PROT is not a setting; did you mean DOSSIER_PORT\?$/m)
  assert.match(err, /^dossier: --port is "99999"; it must be an integer from 0 to 65535$/m)
  assert.match(err, /^dossier: DOSSIER_LOG_LEVEL is "loud"; it must be one of /m)
  assert.match(out, /^--port .* 99999 +option, BAD$/m)
  assert.match(out, /^--host .*default$/m)

  const json = await runCommand(folder, [...args, '--json'], { env })
  assert.equal(json.code, 2)
  const shown = JSON.parse(json.out) as Shown
  const names = shown.settings.map(({ setting }) => setting)
  const expected = Object.values(settings).map(({ name }) => name)
  assert.deepEqual(names, expected)
  assert.equal(shown.faults.length, 3)
  const port = shown.settings.find(({ setting }) => setting === 'port')
  assert.deepEqual(port, {
    setting: 'port',
    variable: 'DOSSIER_PORT',
    value: '99999',
    from: 'option',
    fault: '--port is "99999"; it must be an integer from 0 to 65535',
  })
})

test('no file for something else is one of the store, which SQLite may delete (I6)', async (t) => {
  const folder = makeFolder(t)
  await importRows(join(folder, 'r.db'), 'rights', [{ id: 1, company_id: 7 }])
  symlinkSync('r.db', join(folder, 'link.db'))
  for (const option of ['usage-db', 'withheld']) {
    for (const file of ['./r.db', 'r.db-wal', 'r.db-shm', '../r.db-journal', 'link.db']) {
      const name = file.replace('..', folder)
      for (const db of ['r.db', 'link.db']) {
        const run = await runCommand(folder, `check-config --db ${db} --${option} ${name}`)
        checkExit(
          run,
          2,
          new RegExp(`^dossier: --${option} is ${name}, which is a file of the store`),
        )
      }
    }
  }
  const names = ['r.db-journal', `${folder}/r.db-wal`]
  for (const name of names) {
    const run = await runCommand(folder, `backup ${name} --db link.db`)
    checkExit(run, 1, new RegExp(`^dossier: ${name} is a file of the store; name another\\n$`))
  }
  // The words that stand for no such file may name a store.
  for (const db of ['auto', 'none']) await mustRun(folder, `check-config --db ${db}`)
})

test('check-config notices that the metrics would need the port of the API (I6)', async (t) => {
  const folder = makeFolder(t)
  const check = (options: string) => runCommand(folder, `check-config ${options}`)
  const says = /^dossier: --metrics-port is "8080", which is --port; choose another\n$/m
  for (const hosts of ['', ' --host 0.0.0.0', ' --host 10.0.0.1 --metrics-host ::']) {
    checkExit(await check(`--metrics-port 8080${hosts}`), 2, says)
  }
  const apart = ['--metrics-port 8081', '--port 0 --metrics-port 0', '--metrics-port off']
  for (const options of [...apart, '--metrics-port 8080 --host 10.0.0.1']) {
    checkExit(await check(options), 0, /^$/)
  }
})

test('check-config and configuration errors show no password (C13)', async (t) => {
  const folder = makeFolder(t)
  const db = 'postgres://reader:s3cret@db.example/registry?sslpassword=s3cret'
  const env = { DOSSIER_DB: db, DOSSIER_HOST: '::1', DOSSIER_PORT: 'x://a:s3cret@b' }
  for (const args of [['check-config'], ['check-config', '--json'], ['serve']]) {
    const { code, out, err } = await runCommand(folder, args, { env })
    assert.equal(code, 2)
    assert.ok(!`${out}${err}`.includes('s3cret'), `${out}${err}`)
    if (args[0] === 'check-config') assert.ok(out.includes('postgres://reader:***@db.example/'))
  }
})

test('what may contain a password must be a valid URL (C13)', () => {
  for (const db of [
    ...[' postgres://u:s3cret@host/db', 'postgres:/u:s3cret@host/db', 'pg://u:s3cret@host/db'],
    ...['postgres://u:1#s3cret@host/db', 'postgres://u:s3cret@:x/', 'u:s3cret@host/db'],
    ...['postgres://u:p@a/s3cret@host/db', 'postgres://u:p@a?s3cret@host/db'],
    ...['postgres://u:p@a#s3cret@host/db', 'host=h password=s3cret'],
    ...['file:///registry.db', ':memory:'],
  ]) {
    const { faults } = resolveSettings({ db }, {})
    assert.match(faults.join('\n'), /^--db is ".+"; it must .+$/, db)
    assert.ok(!faults.join().includes('s3cret'), faults.join())
  }
  for (const url of [
    ...['redis:/:s3cret@host', 'redis:s3cret@host', 'redis://u:1#s3cret@host'],
    ...['redis://u:50%s3cret@host', 'redis://:s3cret@host/name'],
  ]) {
    const [fault = ''] = resolveSettings({ 'redis-url': url }, {}).faults
    assert.match(fault, /^--redis-url is "redis:.*"; it must be none, or a URL such as /)
    assert.ok(!fault.includes('s3cret'), fault)
  }
  for (const db of [
    ...['Postgres://u:s3cret@host/db', 'postgres://u:s3c@ret@host/db?user=u@host', './a:b@c.db'],
    ...['/x/a:b@c.db', 'registry:1.db'],
  ]) {
    assert.deepEqual(resolveSettings({ db }, {}).faults, [])
  }
})

test('no command shows a password, whichever argument contains the URL (C13)', async (t) => {
  const folder = makeFolder(t)
  const db = 'Postgres://u:s3cret@127.0.0.1:1/db'
  for (const args of [['imports'], ['serve', db], ['import', 'rights', db], [db]]) {
    const { code, out, err } = await runCommand(folder, args, { env: { DOSSIER_DB: db } })
    assert.ok(code !== 0 && !`${out}${err}`.includes('s3cret'), `${out}${err}`)
  }
  assert.deepEqual(readdirSync(folder), [], 'no file has such a name')
  const { err } = await runCommand(folder, ['imports', '--db', 'postgres://'])
  assert.match(err, /^dossier: --db is "postgres:\/\/\*{3}"; .* as postgres:\/\/user@host:5432\//)
})

test('variables that Kubernetes sets for Services are ignored, others refused', async (t) => {
  const folder = makeFolder(t)
  const env = {
    DOSSIER_SERVICE_HOST: '10.96.7.7',
    DOSSIER_SERVICE_PORT: '8080',
    DOSSIER_SERVICE_PORT_HTTP: '8080',
    DOSSIER_PORT: 'tcp://10.96.7.7:8080',
    DOSSIER_PORT_8080_TCP: 'tcp://10.96.7.7:8080',
    DOSSIER_PORT_8080_TCP_PROTO: 'tcp',
    DOSSIER_PORT_8080_TCP_PORT: '8080',
    DOSSIER_PORT_8080_TCP_ADDR: '10.96.7.7',
    DOSSIER_METRICS_PORT: 'tcp://[fd00::7]:9464',
    DOSSIER_REDIS_SERVICE_HOST: '10.96.7.8',
    DOSSIER_REDIS_PORT: 'tcp://10.96.7.8:6379',
    DOSSIER_REDIS_PORT_6379_TCP_PORT: '6379',
  }
  const { code, out, err } = await runCommand(folder, ['check-config'], { env })
  assert.deepEqual([code, err], [0, ''])
  assert.match(out, /^--port +DOSSIER_PORT +8080 +default$/m)
  assert.match(out, /^--metrics-port +DOSSIER_METRICS_PORT +off +default$/m)
  const typos = {
    DOSSIER_PORTS: '1',
    DOSSIER_SERVICE: 'x',
    DOSSIER_PORT_TCP: '1',
    DOSSIER_POOL: 'tcp://h:1',
  }
  const wrong = await runCommand(folder, ['check-config'], { env: { ...env, ...typos } })
  assert.equal(wrong.code, 2)
  assert.equal(wrong.err.trim().split('\n').length, 4, wrong.err)
  assert.match(wrong.err, /^dossier: DOSSIER_PORTS is not a setting; did you mean DOSSIER_PORT\?$/m)
})

/** Values and how they are shown. */
const shownAs: Readonly<Record<string, string>> = {
  '/var/lib/dossier/registry.db': '/var/lib/dossier/registry.db',
  'a:b@c.db': 'a:***@c.db',
  './a:b@c.db': './a:b@c.db',
  '::1': '::1',
  'redis://:pw@host:6379/0': 'redis://:***@host:6379/0',
  'postgresql://host/db?user=u&password=pw&x=1': 'postgresql://host/db?user=u&password=***&x=1',
  "host=h password = 'p w' user=u": 'host=h password = *** user=u',
  'redis://user:p:/w@host': 'redis://user:***@host',
  'postgres://host/db': 'postgres://host/db',
  'Postgres://u:pw@host/db': 'Postgres://u:***@host/db',
  ' postgres://u:pw@host/db': ' postgres://u:***@host/db',
  'postgres:/u:pw@host/db': 'postgres:/u:***@host/db',
  'postgres://u:pw@one:1,two:2/db': 'postgres://u:***@one:1,two:2/db',
  'postgres://u:1#pw@host/db': 'postgres://u:***@host/db',
  'postgres://u:pw': 'postgres://***',
  'pg://u:pw@host': 'pg://u:***@host',
  'redis:/:pw@host': 'redis:/:***@host',
  '//u:pw@host/db': '//u:***@host/db',
  'https://one.example:80,https://two.example': 'https://one.example:80,https://two.example',
  '10.0.0.0/8, ::1': '10.0.0.0/8, ::1',
}

for (const [value, shown] of Object.entries(shownAs)) {
  test(`a setting of ${value} is shown as ${shown}`, () => {
    assert.equal(withoutPasswords(value), shown)
  })
}
