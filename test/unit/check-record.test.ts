// A row that is written as it is stored keeps its bytes; any other one is written anew. Both make
// the same record.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkRecord } from '../../src/import/rows/check-record.ts'
import { jobs } from '../../src/resources/jobs.ts'
import { Refusal, type SourceRow } from '../../src/files/refusal.ts'

const stored = {
  company_id: 7,
  id: 12,
  title: 'Ein „Titel“: 会社',
  description: null,
  salary_from: 1_000,
  salary_to: null,
  currency: 'EUR',
  location: 'a, "b"',
  created_at: '2021-01-14T00:06:22.439Z',
  updated_at: null,
}
const check = checkRecord(jobs)

function checked(row: SourceRow, text?: Buffer) {
  const found = check(row, text)
  assert.ok(!(found instanceof Refusal), JSON.stringify(found))
  const { content, ...others } = found
  return { ...others, fields: undefined, content: content.toString() }
}

const text = (row: SourceRow) => Buffer.from(JSON.stringify(row))

test('the text of a stored row is not written again', () => {
  const bytes = text({ ...stored, location: 'b' })
  const found = check({ ...stored, location: 'b' }, bytes)
  assert.ok(!(found instanceof Refusal) && Buffer.isBuffer(found.content))
  assert.equal(found.content.buffer, bytes.buffer)
})

test('a row has the same record with its text as without it', () => {
  const { company_id: company, id, ...fields } = stored
  const { title, ...rest } = fields
  const rows: SourceRow[] = [
    stored,
    { ...stored, id: 9_007_199_254_740_991, company_id: 1 },
    { ...stored, id: '12' },
    { ...stored, company_id: '7' },
    { id, company_id: company, ...fields },
    { company_id: company, id, ...rest, title },
    { company_id: company, id, title },
    { ...stored, description: '' },
    { ...stored, salary_from: '1000' },
    { ...stored, created_at: '2021-01-14' },
    { ...stored, key: null },
    { company_id: company, key: 'k', ...fields },
  ]
  for (const row of rows) assert.deepEqual(checked(row, text(row)), checked(row))
})
