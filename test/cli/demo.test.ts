// `dossier demo` as a new user runs it: the executable, its banner, the shell.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { companyCount, longHistoryLength } from '../../src/demo/registry.ts'
import { newList } from '../../src/store/withholding/list/list.ts'
import { openPort } from '../support/free-port.ts'
import { startDossier } from '../support/run-dossier.ts'
import { claimDemo } from '../support/shared-demo.ts'
import { importRows, makeFolder, makePlace, queryValue } from '../support/import-rows.ts'

const options = { timeout: 300_000 }
const shell = promisify(execFile)

const startDemo = (t: TestContext, cwd: string, args: readonly string[], env = {}) =>
  startDossier(t, cwd, ['demo', ...args], { env })

/** The answers to the requests of a banner, each run in its own shell. */
async function paste(banner: string): Promise<string[]> {
  const lines = banner.match(/^curl .+$/gm) ?? []
  const answers = lines.map(async (line) => (await shell('sh', ['-c', line])).stdout)
  return Promise.all(answers)
}

type Body = Readonly<Record<string, unknown>>

test('the first start creates the registry, the second one serves it', options, async (t) => {
  const { folder, db } = makePlace(t, 'demo/registry.db')
  const share = claimDemo()
  const first = startDemo(t, folder, ['--port', '0'])
  await first.until(/Ctrl-C\n/)
  await share?.(db)
  const { ino } = statSync(db)

  await t.test('its output', async () => {
    const { out, err } = first.said
    assert.match(err, /^Created demo\/registry\.db in \d+\.\d s: 3,000 companies, .+ events\.$/m)
    const [, docs = ''] = /(http:\S+\/docs)$/m.exec(out) ?? []
    assert.equal((await fetch(docs)).status, 200)
    assert.match(out, /^ {2}Explorer, .+: +http:\S+\/#key=dossier_\w+\/companies\/1$/m)
    assert.match(out, /^ {2}Key, valid for seven days: +dossier_\w+$/m)
  })

  await t.test('the requests in its output', async () => {
    const [found, whole, rights, employees, events, none, unknown, ...rest] = await paste(
      first.said.out,
    )
    assert.deepEqual(rest, [])
    const parse = (text = '') => JSON.parse(text) as Body
    const [{ id, name } = {}] = parse(found)['companies'] as Body[]
    const company = parse(whole)['company'] as Body
    assert.deepEqual([company['id'], company['name']], [id, name])
    assert.equal((parse(rights)['rights'] as unknown[]).length, 2)
    assert.ok(Number(parse(rights)['total']) > 200)
    assert.equal((parse(employees)['employees'] as unknown[]).length, 40)
    assert.equal(parse(employees)['pagination_offset'], 100)
    assert.equal((parse(events)['events'] as unknown[]).length, 5)
    assert.equal(parse(events)['total'], longHistoryLength)
    assert.equal(parse(events)['pagination_offset'], longHistoryLength - 5)
    assert.deepEqual(parse(none)['jobs'], [])
    assert.deepEqual(parse(unknown)['error'], {
      code: 404,
      message: `Company ${companyCount + 1} is not in the registry`,
    })
  })

  await t.test('its files after it has stopped', async () => {
    first.child.kill('SIGINT')
    assert.equal((await first.ended).code, 0)
    const files = readdirSync(join(folder, 'demo')).filter((name) => !/-(wal|shm)$/.test(name))
    assert.deepEqual(files, ['registry.db'])
  })

  await t.test('a second start, on a port that is taken', async () => {
    const port = await openPort(t, createServer())
    const startedAt = Date.now()
    const list = join(folder, 'list-of-another.ndjson')
    const adoption = { number: 1, registry: 'another', adopts: 'one', reason: '', by: '', day: '' }
    writeFileSync(list, `${newList()}${JSON.stringify(adoption)}\n`)
    const second = startDemo(t, folder, ['--port', String(port)], { DOSSIER_WITHHELD: list })
    await second.until(/Ctrl-C\n/)
    assert.ok(Date.now() - startedAt < 20_000)
    assert.equal(second.said.err, `Port ${port} is in use; using a free one.\n`)
    assert.equal(statSync(db).ino, ino)
    const [found] = await paste(second.said.out)
    assert.match(found ?? '', /^\{"ok":true,/)
    assert.equal(queryValue(db, 'select count(distinct name) from keys'), 2)
    second.child.kill('SIGTERM')
    assert.equal((await second.ended).code, 0)
  })
})

test('no interruption or kill while the registry is made leaves anything', options, async (t) => {
  const folder = makeFolder(t)
  // The demo that is interrupted removes what a killed one has left.
  const left = join(folder, 'demo', 'registry.db.999999999.0123abcd.part')
  mkdirSync(left, { recursive: true })
  writeFileSync(join(left, 'rights.ndjson'), '')
  const demo = startDemo(t, folder, ['--port', '0'])
  await demo.until(/Creating rights/)
  demo.child.kill('SIGINT')
  assert.equal((await demo.ended).code, 130)
  assert.match(demo.said.err, /interrupted; nothing was changed\n$/)
  assert.deepEqual(readdirSync(join(folder, 'demo')), [])
})

test('it issues no key for another registry', options, async (t) => {
  const { folder, db } = makePlace(t, 'real.db')
  await importRows(db, 'companies', [{ id: 2, jurisdiction: 'GB', identifier: '1' }])
  const demo = startDemo(t, folder, ['--db', db])
  assert.equal((await demo.ended).code, 1)
  assert.match(demo.said.err, /^dossier: .+real\.db is not a demo registry; name another file/)
  assert.equal(queryValue(db, 'select count(*) from keys'), 0)
})

test('it reports why a folder cannot be created', options, async (t) => {
  const { folder, db } = makePlace(t, 'file/registry.db')
  await importRows(join(folder, 'file'), 'companies', [{ jurisdiction: 'GB', identifier: '1' }])
  const demo = startDemo(t, folder, ['--db', db])
  assert.equal((await demo.ended).code, 1)
  assert.match(demo.said.err, /^dossier: cannot create .+registry\.db: /)
  assert.ok(!existsSync(db))
})
