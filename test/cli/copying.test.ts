// The client's guide has programs that keep a copy. Whatever is imported, taken back and pruned,
// and whenever they are killed, their copy is what the registry serves.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text as readText } from 'node:stream/consumers'
import { after, test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { exportedVersions } from '../../src/store/exports/folder.ts'
import { companiesIn, readServed } from '../support/follower.ts'
import { importRows, makeFolder } from '../support/import-rows.ts'
import { makeApp } from '../support/make-app.ts'
import { openReader } from '../support/open-reader.ts'
import { runStep, step } from '../support/random-steps.ts'
import { nameStore, seed, storeKind } from '../support/store-at.ts'
import { writeCopy } from '../support/write-copy.ts'
import { withhold } from '../support/write-store.ts'
import { scopeNames } from '../../src/cli/keys.ts'

const guide = readFileSync(join(import.meta.dirname, '../../docs/client.md'), 'utf8')
const importsOfRun = process.env['DOSSIER_TEST_RUNS'] === 'all' ? 200 : 8
const folder = makeFolder({ after })

for (const [name, command] of [
  ['copy.mjs', process.execPath],
  ['copy.py', 'python3'],
] as const) {
  const lacks = ['zstd', command].find((one) => spawnSync(one, ['--version']).error !== undefined)
  const skip = lacks !== undefined && `there is no ${lacks}`
  const [, program = ''] =
    new RegExp(`^\`\`\`\\w+ ${name}\\n([^]*?)^\`\`\`$`, 'm').exec(guide) ?? []

  /** A registry with two kinds of records, served, and a run of the program with a key of it. */
  async function serve(t: TestContext) {
    const own = mkdtempSync(join(folder, 'starts-'))
    writeFileSync(join(own, name), program)
    const exportsFolder = join(own, 'exports')
    mkdirSync(exportsFolder)
    const { app, store } = await makeApp(t, { exportsFolder })
    await store.importRows('rights', [{ id: 1, company_id: 1, name: 'first' }])
    await store.importRows('jobs', [{ id: 2, company_id: 1, title: 'baker' }])
    const base = await app.listen({ port: 0, host: '127.0.0.1' })
    const copy = join(own, 'copy.db')
    const run = async (scopes: readonly string[]) => {
      const key = await store.issueKey({ name: 'copier', scopes })
      const child = spawn(command, [join(own, name), base, key, copy])
      const closed = once(child, 'close') as Promise<[number | null]>
      const [[code], said] = await Promise.all([closed, readText(child.stderr)])
      await store.revokeKey('copier')
      return { code, said }
    }
    const read = () => {
      using file = new DatabaseSync(copy, { readOnly: true })
      const rows = file.prepare('select resource, id from records order by resource').all()
      return rows.map(({ resource, id }) => `${String(resource)} ${String(id)}`)
    }
    return { store, exportsFolder, copy, run, read }
  }

  test(`${name} begins without a copy that it cannot read`, { skip }, async (t) => {
    const { store, exportsFolder, run, read } = await serve(t)
    await writeCopy(store.db, exportsFolder, { formats: ['parquet'] })
    assert.deepEqual(await run(scopeNames), { code: 0, said: '' })
    assert.deepEqual(read(), ['companies 1', 'cursor 0', 'jobs 2', 'rights 1'])
  })

  test(`${name} copies what its key may read`, { skip }, async (t) => {
    const { store, exportsFolder, copy, run, read } = await serve(t)
    await writeCopy(store.db, exportsFolder)
    for (const scopes of [
      ['exports', 'changes', 'jobs'],
      ['changes', 'jobs'],
    ]) {
      rmSync(copy, { force: true })
      assert.deepEqual(await run(scopes), { code: 0, said: '' })
      assert.deepEqual(read(), ['cursor 0', 'jobs 2'])
    }
  })

  test(`${name} ends with a line if its copy is newer than the registry`, { skip }, async (t) => {
    const { copy, run } = await serve(t)
    assert.deepEqual(await run(scopeNames), { code: 0, said: '' })
    const file = new DatabaseSync(copy)
    file.exec(`update records set record = replace(record, '"2.', '"3.') where resource = 'cursor'`)
    file.close()
    const { code, said } = await run(scopeNames)
    assert.equal(code, 1)
    assert.equal(
      said,
      '404: Version 3 does not exist yet; the last one is 2; ' +
        `wait or, if a backup was restored, delete ${copy}\n`,
    )
  })

  test(`${name} keeps a true copy (seed ${seed})`, { skip }, async (t) => {
    const own = join(folder, name)
    const exportsFolder = join(own, 'exports')
    mkdirSync(exportsFolder, { recursive: true })
    writeFileSync(join(own, name), program)
    const { app, store } = await makeApp(t, { exportsFolder })
    // A server's store is named by a path, beside which rows are written.
    const db = storeKind === 'sqlite' ? store.db : join(own, 'rows')
    nameStore(db, store.db)
    await importRows(db, 'rights', [{ id: 1, company_id: 1, name: 'first' }], { at: store.db })
    let key = await store.issueKey({ name: 'copier', scopes: scopeNames })
    const base = await app.listen({ port: 0, host: '127.0.0.1' })
    const reader = await openReader(t, store.db)
    const copy = join(own, 'copy.db')

    /** How long the last run that was not killed took, on this machine and at this moment. */
    let lastMs = 200
    let [kills, early] = [0, 0]

    /** Runs the program; a share of its usual time passes before it is killed. */
    async function run(killedAt?: number): Promise<number | null> {
      const startedAt = performance.now()
      const child = spawn(command, [join(own, name), base, key, copy], {
        stdio: ['ignore', 'ignore', killedAt === undefined ? 'inherit' : 'ignore'],
      })
      const closed = once(child, 'close') as Promise<[number | null]>
      if (killedAt !== undefined) void sleep(killedAt * lastMs).then(() => child.kill('SIGKILL'))
      const [code] = await closed
      if (killedAt === undefined) lastMs = performance.now() - startedAt
      else kills += 1
      if (code === null) early += 1
      return code
    }

    async function check(): Promise<void> {
      using file = new DatabaseSync(copy, { readOnly: true })
      // JavaScript's numbers would be stored as 1.0.
      const ofRecords = `select * from records where resource <> 'cursor' and typeof(id) = 'integer'`
      const rows = file.prepare(ofRecords).all()
      const ofCursor = `select record from records where resource = 'cursor'`
      const state = JSON.parse(String(file.prepare(ofCursor).get()?.['record'])) as string
      const held = new Map(
        rows.map(({ resource, company_id: company, id, record }) => [
          `${String(resource)} ${String(company)} ${String(id)}`,
          JSON.parse(String(record)) as unknown,
        ]),
      )
      const version = Number(state.split('.')[0])
      const served = await readServed(reader, companiesIn(db), version)
      const parsed = new Map([...served].map(([name, text]) => [name, JSON.parse(text) as unknown]))
      assert.deepEqual(held, parsed)
    }

    const random = fc.sample(
      fc.record({
        step,
        run: fc.boolean(),
        isAnew: fc.integer({ min: 1, max: 8 }).map((n) => n === 1),
        killedAt: fc.option(fc.double({ min: 0.2, max: 1.2, noNaN: true })),
      }),
      // Some steps take versions back, or prune.
      { numRuns: 2 * importsOfRun, seed },
    )
    let imports = 0
    for (const [day, { step, run: isRun, isAnew, killedAt }] of random.entries()) {
      if (imports === importsOfRun) break
      if (step.kind === 'import') imports += 1
      const { version, earliestVersion } = await reader.readRegistry()
      if (day % 20 === 2 && !exportedVersions(exportsFolder).includes(version)) {
        await writeCopy(store.db, exportsFolder)
      }
      await runStep(db, step, { day: day + 1, latest: version, earliest: earliestVersion })
      if (!isRun || day < 2) continue
      if (isAnew) for (const ending of ['', '-journal']) rmSync(copy + ending, { force: true })
      if (killedAt !== null) await run(killedAt)
      assert.equal(await run(), 0)
      await check()
    }
    const person = { id: 4_000_000, company_id: 1, name: 'Wilhelmina Vanished' }
    await importRows(db, 'employees', [person], { at: store.db })
    for (const isHeld of [true, false]) {
      if (!isHeld) await withhold(store.db, 'erase', { resource: 'employees', id: person.id })
      assert.equal(await run(), 0)
      await check()
      assert.equal(readFileSync(copy).includes(person.name), isHeld)
    }
    // More requests than the key has in a window: the program waits for the next ones.
    key = await store.issueKey({ name: 'slow', scopes: scopeNames, rate: '1/1s' })
    rmSync(copy)
    assert.equal(await run(), 0)
    await check()
    const { version } = await reader.readRegistry()
    assert.ok(version > importsOfRun / 2, `only ${version} versions`)
    t.diagnostic(
      `${version} versions, ${imports} imports; killed ${kills} times, ${early} of them before its end`,
    )
  })
}
