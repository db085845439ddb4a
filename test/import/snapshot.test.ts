// Edge cases of snapshots; changes.properties.test.ts checks removals against a model.

import assert from 'node:assert/strict'
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { folderWith } from '../support/import-folder.ts'
import { importInto, type ImportOptions, importRows, query } from '../support/import-rows.ts'
import { readSaid } from '../support/said.ts'
import { makeSoundStore } from '../support/verify-store.ts'

const withRejects: ImportOptions = { isSnapshot: true, onRejected: () => undefined }

const right = (id: number, company = 7, name = `n${id}`) => ({ id, company_id: company, name })

/** A store with these rights. */
async function registryOf(t: TestContext, rows: readonly object[]): Promise<string> {
  const db = makeSoundStore(t)
  await importRows(db, 'rights', rows)
  return db
}

/** The content of the listings: `company/id name`. */
function standing(db: string): string[] {
  return query(db, 'select company_id, id, name from rights_view order by company_id, id').map(
    (row) => `${String(row['company_id'])}/${String(row['id'])} ${String(row['name'])}`,
  )
}

test('a file that is still being written removes nothing', async (t) => {
  const db = await registryOf(t, [right(1), right(2)])
  const path = `${db}.ndjson`
  writeFileSync(path, `${JSON.stringify(right(1))}\n`)
  const onProgress = () => appendFileSync(path, `${JSON.stringify(right(2))}\n`)
  await assert.rejects(importInto(db, 'rights', [path], { isSnapshot: true, onProgress }), {
    name: 'OperatorError',
    message: `${path} has changed while it was read; import it when it is complete`,
  })
  assert.deepEqual(standing(db), ['7/1 n1', '7/2 n2'])
  await importInto(db, 'rights', [path], { isSnapshot: true })
  assert.equal(standing(db).length, 2)
})

test('files of changes become a snapshot as the guide shows', async (t) => {
  const guide = readFileSync(join(import.meta.dirname, '../../docs/mappings.md'), 'utf8')
  const mapping = /^```sql terminals\.sql\n([^]*?)^```$/m.exec(guide)?.[1] ?? ''
  const header = 'operation\tcompany\tterminal\tstatus\n'
  const first = Array.from({ length: 12 }, (_, n) => `A\t${n}\tT${n}\topen\n`).join('')
  const changes = 'U\t2\tT2\tclosed\nD\t3\tT3\t\nU\t9\tT4\topen\nU\t5\tT5\tbusy\nU\t5\tT5\topen\n'
  const { load, records } = folderWith(t, {
    '2024-04-01.tsv': header + first,
    '2024-04-02.tsv': header + changes,
    '2024-04-03.tsv': `${header}A\t3\tT3\tagain\nD\t6\tT6\t\n`,
  })
  const days = ['2024-04-01.tsv', '2024-04-02.tsv', '2024-04-03.tsv']
  const outcomes = []
  for (const count of [1, 2, 3]) {
    const options = { mapping, isSnapshot: true }
    const { counts } = await load('pos_terminals', days.slice(0, count), options)
    outcomes.push([counts.inserted, counts.updated, counts.removed])
  }
  // A record that moves is inserted in one listing and removed from another.
  assert.deepEqual(outcomes, [
    [12, 0, 0],
    [1, 1, 2],
    [1, 0, 1],
  ])
  const status = records('pos_terminals').map((record) => String(record['status']))
  assert.deepEqual(status.sort(), ['again', 'closed', ...Array<string>(9).fill('open')])
})

describe('under --rejects, a refused row does not count as absent', () => {
  /** Refused lines that identify record 2. */
  const refused: Readonly<Record<string, string>> = {
    'a wrong value': '{"id":2,"company_id":7,"created_at":"soon"}',
    'an unknown column': '{"id":2,"company_id":7,"nmae":"n2"}',
    'no company': '{"id":2,"name":"n2"}',
    'a wrong company': '{"id":2,"company_id":"x","name":"n2"}',
  }
  for (const [what, line] of Object.entries(refused)) {
    test(`its record is kept: ${what}`, async (t) => {
      const db = await registryOf(t, [right(1), right(2), right(3)])
      writeFileSync(`${db}.ndjson`, `${JSON.stringify(right(1))}\n${line}\n`)
      const { counts } = await importInto(db, 'rights', [`${db}.ndjson`], withRejects)
      assert.deepEqual([counts.removed, counts.refused], [1, 1])
      assert.deepEqual(standing(db), ['7/1 n1', '7/2 n2'])
    })
  }

  /** Lines that do not identify their record. */
  const unreadable: Readonly<Record<string, string>> = {
    'invalid JSON': '<html>503 Service Unavailable</html>',
    'truncated JSON': '{"id":2,"company_id":7,"na',
    'broken UTF-8': '{"id":2,"company_id":7,"name":"\xe9"}',
    'no object': '[2]',
    'a wrong id': '{"id":"two","company_id":7}',
    'neither id nor key': '{"company_id":7,"created_at":"soon"}',
    'an overlong line': `{"id":2,"company_id":7,"name":"${'x'.repeat(9 << 20)}"}`,
  }
  for (const [what, line] of Object.entries(unreadable)) {
    test(`if it does not identify its record, nothing is loaded or removed: ${what}`, async (t) => {
      const db = await registryOf(t, [right(1), right(2), right(3)])
      writeFileSync(`${db}.ndjson`, Buffer.from(`${JSON.stringify(right(1))}\n${line}\n`, 'latin1'))
      await assert.rejects(importInto(db, 'rights', [`${db}.ndjson`], withRejects), {
        name: 'OperatorError',
        message: /: line 2: [^]* does not identify its record/,
      })
      assert.deepEqual(standing(db), ['7/1 n1', '7/2 n2', '7/3 n3'])
    })
  }

  test('the record of a refused key is kept', async (t) => {
    const row = (key: string, name: unknown) => ({ key, company_id: 7, name })
    const db = await registryOf(t, [row('a', 'a'), row('b', 'b')])
    await importRows(db, 'rights', [row('a', 'a'), row('b', 1)], withRejects)
    const told = standing(db).map((line) => line.slice(-1))
    assert.deepEqual(told, ['a', 'b'])
  })

  test('a key is compared without its blanks if texts are trimmed', async (t) => {
    const trimmed: ImportOptions = { ...withRejects, texts: { isTrimmed: true, nulls: ['-'] } }
    const row = (key: string, name: unknown) => ({ key, company_id: 7, name })
    const db = makeSoundStore(t)
    await importRows(db, 'rights', [row('a ', 'a'), row('b ', 'b')], trimmed)
    const { counts } = await importRows(db, 'rights', [row('a ', 'a'), row('b ', 1)], trimmed)
    assert.deepEqual([counts.removed, counts.refused], [0, 1])
    const unnamed = importRows(db, 'rights', [row('a ', 'a'), row('-', 'b')], trimmed)
    await assert.rejects(unnamed, /does not identify its record/)
  })

  test('of two contradictory rows, the first stands', async (t) => {
    const db = await registryOf(t, [right(1), right(2)])
    await importRows(db, 'rights', [right(1, 7, 'x'), right(1, 7, 'y'), right(2)], withRejects)
    assert.deepEqual(standing(db), ['7/1 x', '7/2 n2'])
  })

  test('a record has the same content in all the listings that it keeps', async (t) => {
    const db = await registryOf(t, [right(1, 7, 'old'), right(1, 8, 'old')])
    const rows = [right(1, 7, 'new'), { ...right(1, 8, 'new'), created_at: 'soon' }]
    await importRows(db, 'rights', rows, withRejects)
    const names = query(db, 'select distinct name from rights_view where id = 1')
    assert.equal(names.length, 1, standing(db).join(', '))
  })

  test('the attributes of a refused company are kept', async (t) => {
    const db = makeSoundStore(t)
    const company = (id: number, note: unknown) => {
      return { id, jurisdiction: 'GB', identifier: String(id), note }
    }
    await importRows(db, 'companies', [company(1, 'a'), company(2, 'b'), company(3, 'c')])
    const rows = [company(1, 'a'), company(2, 'NUL \0')]
    const { counts } = await importRows(db, 'companies', rows, withRejects)
    assert.deepEqual([counts.removed, counts.refused], [1, 1])
    assert.deepEqual(
      (await readSaid(db)).filter((said) => said.is_present).map((said) => said.company_id),
      [1, 2],
    )
    const count = query(db, 'select 1 from companies').length
    assert.equal(count, 3, 'a company itself is never removed')
  })

  test('a company that a refused row names with another id stays present', async (t) => {
    const db = makeSoundStore(t)
    const company = (id: number, identifier: string) => ({ id, jurisdiction: 'GB', identifier })
    await importRows(db, 'companies', [company(1, '1'), company(2, '2'), company(3, '3')])
    // One of these names the company 2 by its number, the other the company 3 by its id.
    const rows = [company(1, '1'), company(9, '2'), company(3, '4')]
    const { counts } = await importRows(db, 'companies', rows, withRejects)
    assert.deepEqual([counts.removed, counts.refused], [0, 2])
  })

  test('a row that identifies no record, such as a sum, can be left out', async (t) => {
    const { load } = folderWith(t, { 'a.csv': 'jurisdiction,identifier\nGB,1\nTotal,\n' })
    const says = /out with a mapping \(where …\)/
    await assert.rejects(load('companies', ['a.csv'], withRejects), says)
    const mapping = 'select * from source where identifier is not null'
    const { counts } = await load('companies', ['a.csv'], { ...withRejects, mapping })
    assert.equal(counts.inserted, 1)
  })

  test('the attributes of a company that a refused row names incompletely are kept', async (t) => {
    const db = makeSoundStore(t)
    const company = { jurisdiction: 'GB', note: 'a' }
    const rows = [
      { ...company, id: 1, identifier: '1' },
      { ...company, id: 2, identifier: '2' },
    ]
    await importRows(db, 'companies', rows)
    for (const identifier of [2, ' ', ' 2']) {
      const next = [...rows.slice(0, 1), { ...company, id: 2, identifier }]
      await assert.rejects(importRows(db, 'companies', next, withRejects), /does not identify/)
    }
    const present = (await readSaid(db)).map((said) => said.is_present)
    assert.deepEqual(present, [true, true])
  })
})
