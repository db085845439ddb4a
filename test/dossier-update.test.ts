// contrib/dossier-update.sh fetches, checks and updates: against a local server, with the program.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { openPort } from './support/free-port.ts'
import { makeFolder } from './support/import-rows.ts'
import { mustRun } from './support/run-command.ts'
import { storeDigest } from './support/store-state.ts'
import { until } from './support/until.ts'

const root = join(import.meta.dirname, '..')
const script = join(root, 'contrib/dossier-update.sh')
const noCurl = spawnSync('curl', ['--version']).error && 'curl is not installed here'
const withCurl = { skip: noCurl ?? false }

/** Runs the script in a folder, with the program and the store there. */
async function update(folder: string, args: readonly string[], more: NodeJS.ProcessEnv) {
  const at = { DOSSIER: join(root, 'bin/dossier'), DOSSIER_DB: join(folder, 'dossier.db') }
  const env = { ...process.env, ...at, ...more }
  const child = spawn(script, args, { cwd: folder, env })
  let out = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (out += text))
  }
  const [code] = (await once(child, 'close')) as [number]
  return { code, out }
}

const extract = (count: number, town = 'Leeds') =>
  `jurisdiction,identifier,town\n${Array.from({ length: count }, (_, n) => `GB,${n + 1},${n === 0 ? town : 'Ely'}\n`).join('')}`

test('an update takes an extract, and each failure alarms with a code', withCurl, async (t) => {
  const folder = makeFolder(t)
  let served: string | undefined = extract(20)
  const people = 'company_jurisdiction,company_identifier,name\nGB,1,Ann\n'
  const server = createServer((request, response) => {
    const body = request.url === '/people.csv' ? people : served
    response.statusCode = body === undefined ? 404 : 200
    response.end(body)
  })
  const base = `http://127.0.0.1:${await openPort(t, server)}`
  const url = `${base}/banks.csv?x=1`
  let extracts = 'extracts'
  const [db, alarms] = [join(folder, 'dossier.db'), join(folder, 'alarms')]
  const PATH = `${join(folder, 'bin')}:${process.env['PATH']}`
  const run = (...args: string[]) =>
    update(folder, args, { ALARM: 'cat >> alarms', AS_OF: '', EXTRACTS: extracts, PATH })

  assert.equal((await run('banks')).code, 2)
  writeFileSync(join(folder, 'first.csv'), extract(20, 'York'))
  const first = 'import companies first.csv --source banks --snapshot'.split(' ')
  await mustRun(folder, first)

  const updated = await run('banks', url)
  assert.equal(updated.code, 0, updated.out)
  assert.match(updated.out, /updated +1\n[^]*town +1 changed +GB 1: "York" → "Leeds"\n/)
  const [own = '', ...more] = readdirSync(join(folder, 'extracts/banks'))
  assert.deepEqual(more, [])
  assert.equal(statSync(join(folder, 'extracts/banks', own)).mode & 0o777, 0o600)
  const again = await run('banks', url)
  assert.deepEqual(again, { code: 0, out: 'banks: nothing new\n' })
  assert.equal(existsSync(alarms), false)

  rmSync(db)
  await mustRun(folder, first)
  const restored = await run('banks', url)
  assert.match(restored.out, /town +1 changed +GB 1: "York" → "Leeds"\n/, 'as after a backup')
  writeFileSync(join(folder, 'people.csv'), people.replace('Ann', 'Bob'))
  await mustRun(folder, 'import employees people.csv --source banks')
  const other = await run('banks', `${base}/people.csv`, '--resource', 'employees')
  assert.match(other.out, /inserted +1\n/)
  assert.deepEqual(await run('banks', url, '--resource', 'companies'), again)
  const before = await storeDigest(db)

  served = extract(3)
  const kept = () => readdirSync(join(folder, 'extracts/banks')).length
  const keptBefore = kept()
  for (const _ of ['once', 'again']) {
    assert.equal((await run('banks', url)).code, 4, 'refused until it is accepted')
    assert.match(readFileSync(alarms, 'utf8'), /would remove 17 of the 20 .* add --accept\n$/)
    rmSync(alarms)
  }
  assert.equal(kept() - keptBefore, 2, 'even if both were fetched in one second')
  served = undefined
  assert.equal((await run('banks', url)).code, 3)
  assert.match(readFileSync(alarms, 'utf8'), /banks: http:\S+ cannot be fetched: curl: .*404\n$/)
  assert.equal(await storeDigest(db), before, 'nothing was changed')
  const left = readdirSync(join(folder, 'extracts/banks')).filter((name) => name.endsWith('.part'))
  assert.deepEqual(left, [])
  served = extract(3)
  extracts = '/dev/null'
  assert.equal((await run('banks', url)).code, 3)
  assert.match(readFileSync(alarms, 'utf8'), /cannot be fetched: mkdir: .*\n$/)

  extracts = 'extracts'
  assert.equal((await run('banks', url, '--accept')).code, 0)

  served = extract(4)
  mkdirSync(join(folder, 'bin'))
  writeFileSync(join(folder, 'bin/mv'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
  rmSync(alarms, { force: true })
  assert.equal((await run('banks', url)).code, 3)
  const says = /^banks: \S+ cannot be written; nothing was changed\n$/
  assert.match(readFileSync(alarms, 'utf8'), says)
})

test('an extract that was imported by hand is nothing new', withCurl, async (t) => {
  const folder = makeFolder(t)
  const file = join(folder, 'banks.csv')
  writeFileSync(file, extract(20))
  const day = '--snapshot --as-of 2026-01-31'
  await mustRun(folder, `import companies banks.csv --source banks ${day}`)
  const run = (source = 'banks', name = 'banks.csv') =>
    update(folder, [source, `file://${join(folder, name)}`], { AS_OF: '2026-02-28' })
  const isNothing = (source: string) => ({ code: 0, out: `${source}: nothing new\n` })
  assert.deepEqual(await run(), isNothing('banks'))
  // The last one of persons, whose changes are recorded, has a day, too.
  writeFileSync(join(folder, 'p.csv'), 'company_jurisdiction,company_identifier,name\nGB,1,Ann\n')
  await mustRun(folder, `import employees p.csv --source people --history ${day}`)
  assert.deepEqual(await run('people', 'p.csv'), isNothing('people'))
  for (const source of ['banks', 'people']) {
    assert.deepEqual(readdirSync(join(folder, 'extracts', source)), [])
  }
  // A file of an earlier day is still refused.
  writeFileSync(join(folder, 'other.csv'), extract(19))
  const later = day.replace('01-31', '02-01')
  await mustRun(folder, `import companies other.csv --source banks ${later}`)
  const said = (await run()).out
  assert.match(said, /banks\.csv is the file of version 1, as of 2026-01-31, not 2026-02-28/)
  writeFileSync(file, extract(20, 'York'))
  const updated = await run()
  assert.equal(updated.code, 0, updated.out)
  assert.match(updated.out, /--as-of 2026-02-28\n[^]*town +1 changed +GB 1: "Leeds" → "York"\n/)
})

test('a signal leaves no part of an extract', withCurl, async (t) => {
  const folder = makeFolder(t)
  const server = createServer((_, response) => response.write('jurisdiction,identifier\n'))
  const url = `http://127.0.0.1:${await openPort(t, server)}/banks.csv`
  // A terminal, or systemd, signals all processes of the group.
  const child = spawn(script, ['banks', url], { cwd: folder, detached: true, stdio: 'ignore' })
  const left = () => readdirSync(join(folder, 'extracts/banks'))
  const isFetching = () => existsSync(join(folder, 'extracts/banks')) && left().length > 0
  await until(() => Promise.resolve(isFetching()), 'the extract is being fetched')
  process.kill(-Number(child.pid), 'SIGTERM')
  const [code] = (await once(child, 'close')) as [number]
  assert.equal(code, 143)
  assert.deepEqual(left(), [])
})
