// Segments that a prune moves out of heads, under a reader.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSession } from '../../src/store/postgres/connect.ts'
import { listingReads, type Rows, writerOf } from '../../src/store/postgres/tables.ts'
import { importRows, makeFolder } from '../support/import-rows.ts'
import { mustRun } from '../support/run-command.ts'
import { schemaUrl } from '../support/store-at.ts'

test('a segment is found that a prune moves while it is looked for (9.3)', async (t) => {
  const [db, folder] = [schemaUrl('moved'), makeFolder(t)]
  for (const name of ['former', 'latter']) {
    await importRows('unused', 'rights', [{ id: 1, company_id: 7, name }], { at: db })
  }
  // The head of the third version names the segment that the first one holds.
  await mustRun(folder, ['revert', '2', '--db', db])
  const client = await openSession(db)
  t.after(() => client.end())
  const { rows } = writerOf(client, false)
  let statements = 0
  const pruneAfterFirst: Rows = async (...statement) => {
    const found = await rows<never>(...statement)
    statements += 1
    if (statements === 1) await mustRun(folder, ['prune', '--keep', '0d', '--yes', '--db', db])
    return found
  }
  const [texts] = await listingReads(pruneAfterFirst).texts(7, [1])
  assert.match(String(texts), /"name":"former"/)
})
