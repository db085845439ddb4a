// Commands that take data away: revert and sources remove.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { extracts, typeRegistry } from '../support/changed-registry.ts'
import { importRows, makeFolder, makePlace, query } from '../support/import-rows.ts'
import { mustRun, runCommand } from '../support/run-command.ts'
import { dossier, startDossier } from '../support/run-dossier.ts'
import { storeAt } from '../support/store-at.ts'

type Json = Readonly<Record<string, unknown>>

test('revert takes an import back; the log shows both; a dry run changes nothing', async (t) => {
  const folder = makeFolder(t)
  const db = await typeRegistry(folder)
  const revert = (...args: string[]) => runCommand(folder, ['revert', ...args, '--db', db])
  const events = async () => {
    const { out } = await runCommand(folder, `company GB 1 --db ${db} --json`)
    return (JSON.parse(out) as { listings: { events: { total: number } } }).listings.events.total
  }
  const recorded = await events()
  assert.ok(recorded > 0)
  const report = ['companies from source register: version 2', '  restored  ', '  events removed']
  const dry = await revert('2', '--dry-run')
  assert.deepEqual([dry.code, dry.err, await events()], [0, '', recorded])
  for (const line of [...report, 'Dry run: nothing was changed.']) assert.ok(dry.out.includes(line))
  const done = await revert('2', '--json')
  const { reverted } = JSON.parse(done.out) as { reverted: Json[] }
  const { version, ...rest } = reverted[0] ?? {}
  assert.deepEqual(Object.keys(rest), [
    ...['resource', 'source', 'reverts', 'inserted', 'updated', 'removed', 'recorded'],
  ])
  assert.deepEqual([done.code, reverted[0]?.['reverts']], [0, [2]])
  assert.ok((await events()) < recorded)
  const log = await runCommand(folder, `imports --db ${db}`)
  assert.match(log.out, /revert of 2, companies from register, .*\n {2}\d+ restored, \d+ updated, /)
  assert.match(log.out, new RegExp(`version 2 .*, reverted by ${String(version)}\n`))
  const back = await revert(String(version))
  assert.match(back.out, /\nCommitted as version (\d+); to undo that: dossier revert \1\n$/)
  assert.equal(await events(), recorded)
})

test('sources lists what each source has; remove takes it away, and revert brings it back', async (t) => {
  const folder = makeFolder(t)
  const db = await typeRegistry(folder)
  const sources = (...args: string[]) => runCommand(folder, ['sources', ...args, '--db', db])
  const list = async () => {
    const { out } = await sources('--json')
    return JSON.parse(out) as {
      source: string
      resource: string
      records: number
      last_import: Json
    }[]
  }
  const before = await list()
  const rights = before.find(({ resource }) => resource === 'rights')
  assert.ok(rights !== undefined && rights.records > 0 && rights.source === 'default')
  const register = before.find(({ source }) => source === 'register')
  assert.equal(register?.last_import['as_of'], `${extracts.at(-1)?.[1] ?? ''}T00:00:00Z`)
  assert.ok(before.some(({ source }) => source === 'register/companies'))
  const shown = await sources()
  assert.match(shown.out, /^source +of +records +companies +last import +as of +next expected\n/)

  const unsaid = await sources('remove', 'default')
  const refused = [unsaid.code, unsaid.err]
  assert.deepEqual(refused, [1, 'dossier: nothing was changed; to remove these, add --yes\n'])
  assert.match(unsaid.out, /^rights from source default: \d+, of (?:1 company|\d+ companies)\n$/)
  const dryRun = await sources('remove', 'default', '--dry-run')
  const said = { ...unsaid, code: 0, err: '', out: `${unsaid.out}Dry run: nothing was removed.\n` }
  assert.deepEqual(dryRun, said)
  assert.deepEqual(await list(), before)
  const removed = await sources('remove', 'default', '--resource', 'rights', '--yes')
  assert.equal(removed.code, 0, removed.err)
  assert.deepEqual(query(join(folder, 'registry.db'), 'select id from rights_view'), [])
  const [, version] = /to undo that: dossier revert (\d+)\n$/.exec(removed.out) ?? []
  await mustRun(folder, ['revert', String(version), '--db', db])
  const kept = (await list()).find(({ resource }) => resource === 'rights')?.records
  assert.equal(kept, rights.records)
})

test('on a terminal, sources remove asks, and only yes removes, once', async (t) => {
  const { folder, db } = makePlace(t, 'registry.db')
  await importRows(db, 'rights', [{ id: 1, company_id: 7 }])
  const command = `${dossier} sources remove default --db '${storeAt(db)}'`
  for (const [answer, left, says] of [
    ['\n', 1, /default: 1, of 1 company\r?\nRemove these\? \[y\/N\] [^]*nothing was changed/],
    ['n\n', 1, /nothing was changed/],
    ['', 1, /\[y\/N\] [^]*\ndossier: nothing was changed\r?\n$/],
    ['y\n', 0, /Removed 1 record of rights as version 2/],
  ] as const) {
    const run = spawnSync('script', ['-qec', command, '/dev/null'], { cwd: folder, input: answer })
    if (run.error) return t.diagnostic('no terminal to try: the command script is not there')
    assert.match(run.stdout.toString(), says)
    assert.equal(query(db, 'select id from rights_view').length, left)
  }
  await importRows(db, 'rights', [{ id: 1, company_id: 7 }])
  const via = ['sh', '-c', 'script -qec "$*" /dev/null', 'sh']
  const args = ['sources', 'remove', 'default', '--db', `'${storeAt(db)}'`]
  const answer = async (input: string) => {
    const { child, until, ended } = startDossier(t, folder, args, { via })
    await until(/\[y\/N\]/)
    if (input === 'y\n') await mustRun(folder, `sources remove default --yes --db ${storeAt(db)}`)
    child.stdin.write(input)
    return ended
  }
  const interrupted = await answer('\x03')
  assert.match(interrupted.out, /\r\ndossier: interrupted; nothing was changed\r\n$/)
  assert.equal(interrupted.code, 130)

  // Another command has removed the records since the question.
  const late = await answer('y\n')
  assert.match(late.out, /\r\ndossier: the source default has nothing of rights, so nothing was /)
  assert.equal(late.code, 1)
  assert.equal(query(db, 'select version from imports').length, 4)
})
