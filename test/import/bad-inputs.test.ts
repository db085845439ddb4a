// What a new operator does wrong: each mistake gets a line that says what was found and what
// to do, and leaves the store as it was.

import assert from 'node:assert/strict'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { makeFolder, writeRows } from '../support/import-rows.ts'
import { mustRun, runCommand } from '../support/run-command.ts'
import { storeDigest } from '../support/store-state.ts'
import { checkSound } from '../support/verify-store.ts'
import type { BadInput, BadInputs } from './bad-inputs/bad-input.ts'
import { badExtracts, banks, loads, recordedEvent } from './bad-inputs/extracts.ts'
import { badMappings } from './bad-inputs/mappings.ts'
import { badOptions } from './bad-inputs/options.ts'

const tables: Readonly<Record<string, BadInputs>> = {
  mappings: badMappings,
  options: badOptions,
  extracts: badExtracts,
}

const folder = makeFolder({ after })
const store = join(folder, 'dossier.db')
let digest = ''

/** A registry with a source of companies, imported with a day, one of rights, and banks. */
before(async () => {
  const companies = Array.from({ length: 3 }, (_, n) => ({
    id: n + 1,
    jurisdiction: 'GB',
    identifier: String(n + 1),
    town: 'Leeds',
  }))
  const rights = companies.map(({ id }) => ({ id: id + 10, company_id: id, name: 'Mark' }))
  await load('companies', companies, '--as-of', '2025-02-27')
  await load('rights', rights)
  await load('rights', [{ ...rights[0], name: 'Brand' }])
  for (const [name, content] of Object.entries(banks)) writeFileSync(join(folder, name), content)
  for (const line of loads) {
    await mustRun(folder, line.split(' '))
  }
  digest = await storeDigest(store)
})

async function load(target: string, rows: readonly object[], ...options: string[]) {
  writeRows(join(folder, 'good.ndjson'), rows)
  const words = ['import', target, 'good.ndjson', '--source', 'register', ...options]
  await mustRun(folder, words)
}

/** The files of a folder, but those that SQLite has beside a store. */
const namesIn = (folder: string) => readdirSync(folder).filter((name) => !/-(wal|shm)$/.test(name))

async function refuse({ files = {}, run, code = 1, says }: BadInput): Promise<void> {
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
  const before = namesIn(folder)
  const { code: is, out, err } = await runCommand(folder, run.trim().split(/ +/))
  assert.deepEqual(namesIn(folder), before, 'it leaves no file')
  for (const name of Object.keys(files)) rmSync(join(folder, name))
  assert.equal(is, code, out + err)
  const lines = err.split('\n').filter((line) => !/^(reading|merging)\b/.test(line))
  assert.ok(
    lines.some((line) => says.test(line)),
    `${err} has no ${String(says)}`,
  )
  assert.doesNotMatch(err, /\n {4}at |Error:|LINE \d/, 'nothing of a program reaches an operator')
}

for (const [subject, inputs] of Object.entries(tables)) {
  describe(`wrong ${subject}`, () => {
    for (const [what, input] of Object.entries(inputs)) test(what, () => refuse(input))

    test(`none of these ${subject} has changed the store`, async () => {
      assert.equal(await storeDigest(store), digest)
    })
  })
}

test('16: a recorded event that is pushed again is unchanged', async () => {
  writeFileSync(join(folder, 'events.ndjson'), recordedEvent)
  const pushed = 'import events events.ndjson --source banks'
  const { out } = await mustRun(folder, pushed.split(' '))
  assert.match(out, /inserted +0\n +updated +0\n +unchanged +1\n/)
})

test('after all of it, the store is sound', async () => {
  await checkSound(store)
})
