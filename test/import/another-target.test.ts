// The target of an import is a value: this file declares a kind that the program does not know,
// and it passes through the usual import. (Its table is not part of any schema.)

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { importFiles } from '../../src/import/import-files.ts'
import type { ImportTarget } from '../../src/import/import-target.ts'
import { companies } from '../../src/import/import-targets.ts'
import { findSourceFiles } from '../../src/import/source-file.ts'
import { resources } from '../../src/resources/index.ts'
import { openStoreInspector, openStoreWriter } from '../../src/store/open-store.ts'
import { placedCompany, placing } from '../../src/store/sql/named-companies.ts'
import { importRows, makeFolder, queryStore } from '../support/import-rows.ts'
import { onCitus, storeAt } from '../support/store-at.ts'

/** A watch list of companies, to which an import adds. */
const watched: ImportTarget = {
  ...companies,
  name: 'watched',
  tables: ['watched'],
  history: undefined,
  merge: (d) => ({
    place: [
      'create table if not exists watched (company_id bigint primary key, version integer)',
      `insert into placed (seq, company_id, id, sort, digest)
        select s.seq, ${placedCompany(d)}, ${placedCompany(d)}, '', s.digest
        from stage s ${placing(d)}`,
    ],
    refuse: [],
    findChanges: [
      `create temp table change as
        select p.seq, p.company_id, w.company_id as position, true as is_staged
        from placed p left join watched w on w.company_id = p.company_id
        where w.company_id is null and p.digest is not null`,
      'create temp table removal (company_id bigint)',
    ],
    apply: () => [
      'insert into watched select company_id, $version from change order by company_id',
    ],
  }),
}

async function importWatched(db: string, rows: readonly object[], onRejected?: () => void) {
  const path = `${db}.watched.ndjson`
  writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  const store = await openStoreWriter(storeAt(db), resources)
  try {
    return await importFiles(store, {
      target: watched,
      files: await findSourceFiles([path]),
      mapping: undefined,
      source: 'list',
      isSnapshot: false,
      isDryRun: false,
      knownCompaniesOnly: true,
      asOf: undefined,
      recordIn: undefined,
      onRejected,
      onProgress: () => undefined,
      onWait: () => undefined,
      signal: new AbortController().signal,
    })
  } finally {
    await store.close()
  }
}

const what =
  'a third kind of import is one value, which is checked, merged, refused and logged like the others'
// Its merge makes a table, which Citus would have to spread.
test(what, { skip: onCitus }, async (t) => {
  const db = join(makeFolder(t), 'registry.db')
  const known = ['1', '2'].map((identifier) => ({ jurisdiction: 'GB', identifier }))
  await importRows(db, 'companies', known)
  const unknown = { jurisdiction: 'GB', identifier: '3' }

  const refused = await importWatched(db, [...known, unknown])
  assert.equal(refused.version, undefined)
  assert.deepEqual(
    refused.problems.map(({ number, field, reason }) => ({ number, field, reason })),
    [{ number: 3, field: 'identifier', reason: 'is not in the registry' }],
  )

  const loaded = await importWatched(db, [...known, unknown, { identifier: 'x' }], () => undefined)
  assert.deepEqual(
    [loaded.version, loaded.counts.inserted, loaded.counts.refused],
    [2, 2, 2],
    JSON.stringify(loaded),
  )
  assert.equal((await importWatched(db, known)).counts.unchanged, 2)
  const rows = await queryStore(db, 'select count(*) as n, max(version) as version from watched')
  assert.deepEqual(
    rows.map((row) => [Number(row['n']), Number(row['version'])]),
    [[2, 2]],
  )

  const inspector = await openStoreInspector(storeAt(db), resources)
  try {
    const log = await inspector.listImports(10)
    assert.deepEqual(
      log.map(({ target, source }) => [target, source]),
      [
        ['watched', 'list'],
        ['watched', 'list'],
        ['companies', 'default'],
      ],
    )
  } finally {
    await inspector.close()
  }
})
