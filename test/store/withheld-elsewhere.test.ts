// Companies that people without ids and keys have left before all kept versions: only the words of
// recorded changes tell of them, which may be those of namesakes (contract 13).

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordedOn } from '../support/history.ts'
import { importRows, makePlace, queryStore } from '../support/import-rows.ts'
import { mustRun } from '../support/run-command.ts'
import { storeAt } from '../support/store-at.ts'
import { storeBytes } from '../support/store-state.ts'
import { checkGone, gb, identifier, jane, makeNamedApp, person } from '../support/withheld.ts'
import { prune, withhold } from '../support/write-store.ts'

const extract = (month: number) => ({ ...recordedOn(`2026-0${month}-01`), isSnapshot: true })

/** Moves a person whom no id, key or trace leads from one company to another. */
async function moveUnknown(db: string, left: readonly string[]): Promise<void> {
  const post = (company: string, n: number) => {
    return { ...gb(company), identifier, name: jane, position: `Chair ${n}` }
  }
  await importRows(db, 'employees', left.map(post), extract(1))
  await importRows(db, 'employees', [post('2', left.length)], extract(2))
}

test('after a prune, a dry run names other companies whose recorded changes have its words', async (t) => {
  const { db } = await makeNamedApp(t)
  await moveUnknown(db, ['1', '3'])
  await prune(db)
  const before = await storeBytes(db)
  const { sameWords = [] } = await withhold(db, 'erase', person, true)
  assert.deepEqual(await storeBytes(db), before)
  const names = sameWords.map(({ jurisdiction, identifier }) => `${jurisdiction} ${identifier}`)
  assert.deepEqual(names.sort(), ['GB 1', 'GB 3'])
  // What may be about namesakes is left to the operator.
  await withhold(db, 'erase', person)
  const told = await queryStore(db, "select before from events_view where identifier <> '2'")
  const changes = told.map((row) => String(row['before'])).sort()
  assert.deepEqual(changes, [`${jane}, Chair 0`, `${jane}, Chair 1`])
  for (const company of ['1', '3']) {
    await withhold(db, 'mask', { company: ['GB', company], text: jane })
  }
  await checkGone(db)
})

test('a dry run names no company while the past shows who left it, nor for a part of a word', async (t) => {
  const { db } = await makeNamedApp(t)
  await moveUnknown(db, ['1'])
  // The name of a namesake, and a longer one, until other people replace them.
  for (const [n, names] of [
    [jane, `${jane}on`],
    ['Roe', 'Poe'],
  ].entries()) {
    const rows = names.map((name, at) => ({ ...gb(`${at + 3}`), identifier: `${at}`, name }))
    await importRows(db, 'employees', rows, { ...extract(n + 3), source: 'other' })
  }
  const imported = { ...gb('5'), id: 1, date: '2024-05-01', attr: 'officers', after: jane }
  await importRows(db, 'events', [imported])
  assert.deepEqual((await withhold(db, 'mask', person, true)).sameWords, [])
  await prune(db)
  const { sameWords = [] } = await withhold(db, 'mask', person, true)
  const numbers = sameWords.map((company) => company.identifier)
  assert.deepEqual(numbers, ['1', '3'])
})

test('the report of a dry run names some other companies, but not the words', async (t) => {
  const { folder, db: path } = makePlace(t, 'registry.db')
  await moveUnknown(path, ['1', '3', '4', '5', '6', '7', '8'])
  await prune(path)
  const order = ['withhold', 'erase', 'employees', `identifier=${identifier}`, '--dry-run']
  const { out } = await mustRun(folder, [...order, '--db', storeAt(path)])
  const named = [
    'Recorded changes of 7 other companies have the same words, perhaps about somebody else:',
    '  GB:1, GB:3, GB:4, GB:5, GB:6 and 2 more',
    'To withhold them there: dossier withhold mask company COMPANY --text WORDS',
  ]
  assert.ok(out.includes(named.join('\n')), out)
  assert.equal(out.includes('Doe'), false)
})
