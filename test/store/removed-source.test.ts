// What is recorded when a source is loaded again after `sources remove`: that its data was removed
// here says nothing of its register, so that it is compared with what it said before.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { changeResource } from '../../src/resources/index.ts'
import { importExtract, told } from '../support/history.ts'
import { type ImportOptions, importRows, makeFolder } from '../support/import-rows.ts'
import { readSaid } from '../support/said.ts'
import { one, prune, remove, revert } from '../support/write-store.ts'

const asSnapshot = { isSnapshot: true }

describe('companies that are loaded again after their source was removed', () => {
  const a = { identifier: 'a', name: 'A' }
  const b = { identifier: 'b', name: 'B' }

  test('were never absent from the register; what differs since is recorded', async (t) => {
    const db = join(makeFolder(t), 'a.db')
    await importExtract(db, '2025-01-01', [a, b])
    await remove(db, 'companies')
    assert.ok((await readSaid(db)).every((said) => !said.is_present))
    const { counts } = await importExtract(db, '2025-02-01', [a, { ...b, name: 'C' }])
    assert.deepEqual([counts.inserted, counts.recorded], [2, 1])
    assert.deepEqual(told(db), ['b name: B → C'])
    assert.ok((await readSaid(db)).every((said) => said.is_present))
  })

  test('return if a snapshot had lacked them before', async (t) => {
    const db = join(makeFolder(t), 'a.db')
    await importExtract(db, '2025-01-01', [a, b], asSnapshot)
    await importExtract(db, '2025-02-01', [b], asSnapshot)
    await remove(db, 'companies')
    await importExtract(db, '2025-03-01', [a, b], asSnapshot)
    assert.deepEqual(told(db), [
      'a register_entry: present → absent',
      'a register_entry: absent → present',
    ])
  })

  test('were not absent either if they are loaded twice, the first time being reverted', async (t) => {
    const db = join(makeFolder(t), 'a.db')
    await importExtract(db, '2025-01-01', [a])
    await remove(db, 'companies')
    await importExtract(db, '2025-02-01', [{ ...a, name: 'X' }])
    await revert(db, one(3))
    await importExtract(db, '2025-03-01', [{ ...a, name: 'Y' }])
    assert.deepEqual(told(db), ['a name: A → Y'])
  })
})

describe('officers that are loaded again after their source was removed', () => {
  const officer = (key: string, name: string, position = 'Director') => ({
    ...{ company_jurisdiction: 'XX', company_identifier: 'a', key },
    ...{ name, position },
  })
  const jane = officer('1', 'Jane')
  const john = officer('2', 'John')
  const load = (db: string, day: number, rows: readonly object[], options: ImportOptions = {}) => {
    const asOf = `2025-01-0${day}T00:00:00Z`
    return importRows(db, 'employees', rows, { asOf, recordIn: changeResource, ...options })
  }

  test('have not joined', async (t) => {
    const db = join(makeFolder(t), 'a.db')
    await load(db, 1, [jane, john])
    await remove(db, 'employees')
    await load(db, 2, [jane, john])
    await load(db, 3, [officer('2', 'John', 'Chair')])
    assert.deepEqual(told(db), ['a officers: John, Director → John, Chair'])
  })

  test('are compared with those of the last snapshot', async (t) => {
    const db = join(makeFolder(t), 'a.db')
    await load(db, 1, [jane, john, officer('3', 'Ann'), officer('4', 'Max')], asSnapshot)
    await remove(db, 'employees')
    await load(db, 2, [officer('1', 'Jane', 'Chair')], asSnapshot)
    await revert(db, one(3))
    const renumbered = officer('9', 'John', 'Chair')
    const refused = { ...officer('4', 'Max'), start_date: 'soon' }
    const rows = [jane, renumbered, officer('5', 'Eve'), refused]
    await load(db, 3, rows, { ...asSnapshot, onRejected: () => undefined })
    assert.deepEqual(told(db), [
      'a officers: John, Director → John, Chair',
      'a officers: Ann, Director → (none)',
      'a officers: (none) → Eve, Director',
    ])
  })

  test('are a first state where their past was pruned', async (t) => {
    const db = join(makeFolder(t), 'a.db')
    await load(db, 1, [jane], asSnapshot)
    await load(db, 2, [john], asSnapshot)
    const first = told(db)
    await remove(db, 'employees')
    await prune(db)
    await load(db, 3, [jane, john], asSnapshot)
    assert.deepEqual(told(db), first)
  })

  test('join if the company had none when it was removed', async (t) => {
    const db = join(makeFolder(t), 'a.db')
    const other = { ...officer('7', 'Eve'), company_identifier: 'b' }
    await load(db, 1, [jane, other], asSnapshot)
    await load(db, 2, [other], asSnapshot)
    await remove(db, 'employees')
    await load(db, 3, [jane, other], asSnapshot)
    assert.deepEqual(told(db), [
      'a officers: Jane, Director → (none)',
      'a officers: (none) → Jane, Director',
    ])
  })
})
