// After the same imports, both stores give byte-identical answers.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import fc from 'fast-check'
import inject from 'light-my-request'
import { pino } from 'pino'
import { buildApp } from '../../src/http/app.ts'
import { createLoad } from '../../src/http/wire/load.ts'
import type { ImportReport } from '../../src/import/import-files.ts'
import { resources } from '../../src/resources/index.ts'
import { openStoreReader } from '../../src/store/open-store.ts'
import { withSession } from '../../src/store/postgres/connect.ts'
import { anyRecords } from '../support/arbitrary-record.ts'
import { recordedOn } from '../support/history.ts'
import { importInto, importRows, makeFolder } from '../support/import-rows.ts'
import { keyRecord } from '../support/key-record.ts'
import { pathOf } from '../support/make-app.ts'
import { queryServer } from '../support/query-server.ts'
import { patientBounds, storeAt, type StoreKind, storeKinds } from '../support/store-at.ts'
import type { Scope } from '../support/temp-store.ts'

const data = resolve(import.meta.dirname, '../../../shared/data')
const skip = existsSync(data) ? false : 'the real data (../shared/data) is not beside this checkout'
const mappings = resolve(import.meta.dirname, '../../mappings')
// DOSSIER_TEST_DATA=all for the long form: all files, and several times the pages.
const isLong = process.env['DOSSIER_TEST_DATA'] === 'all'

/** Replaces random and time-dependent values: lineages and commit times. */
const settle = `
  update imports set lineage = 'same' || version,
    committed_at = 1700000000000 + version * 1000`

async function settleStores(path: string): Promise<void> {
  using file = new DatabaseSync(path)
  file.exec(settle)
  await withSession(storeAt(path, 'postgres'), (client) => client.query(settle))
}

type Ask = (url: string, headers?: Record<string, string>) => Promise<string>

/** Sends a request to the application; an answer is status line, header fields and body. */
async function askOver(t: Scope, db: string): Promise<Ask> {
  const store = await openStoreReader(db, patientBounds)
  const logger = pino({ level: 'silent' })
  const app = buildApp({
    store,
    resources,
    authenticate: () => keyRecord,
    load: createLoad({ requestsMax: 100, delayMsMax: Number.MAX_VALUE }, logger),
    limits: { connectionsMax: 100 },
    cacheBytesMax: 0,
    logger,
  })
  t.after(async () => {
    await app.close()
    await store.close()
  })
  return async (url, headers = {}) => {
    const answer = await inject(app.handle, {
      url,
      headers: { 'x-request-id': 'same', ...headers },
    })
    const fields = Object.entries(answer.headers).filter(([name]) => name !== 'date')
    return `${answer.statusCode} ${JSON.stringify(fields)}\n${answer.rawPayload.toString('latin1')}`
  }
}

/** Shows where two long answers differ, rather than all of both; bodies first. */
function checkSame(one: string, other: string, url: string): void {
  if (one === other) return
  for (const part of [1, 0]) {
    const [left = '', right = ''] = [one, other].map((text) => text.split('\n')[part])
    const at = Array.from(left).findIndex((character, n) => character !== right[n])
    const around = (text: string) => text.slice(Math.max(0, at - 300), at + 300)
    assert.equal(around(right), around(left), url)
  }
}

/** Compares every page of every listing of both stores; returns their number. */
async function compareAll(t: Scope, path: string, companies: readonly number[]): Promise<number> {
  await settleStores(path)
  const [file, server] = await Promise.all(
    storeKinds.map((kind) => askOver(t, storeAt(path, kind))),
  )
  assert.ok(file && server)
  let pages = 0
  const compare = async (url: string, headers?: Record<string, string>): Promise<string> => {
    const [one, other] = await Promise.all([file(url, headers), server(url, headers)])
    checkSame(one, other, url)
    pages += 1
    return one
  }
  for (const company of companies) {
    for (const resource of resources) {
      const listing = pathOf(resource, company)
      const first = await compare(listing)
      const total = Number(/"total":(\d+),"pagination_total"/.exec(first)?.[1] ?? 0)
      for (let page = 2; page <= Math.ceil(total / 100); page++) {
        await compare(`${listing}?page=${page}`)
      }
      const tag = /\["etag","(.*?[^\\])"\]/.exec(first)?.[1]?.replaceAll('\\', '')
      if (tag) await compare(listing, { 'if-none-match': tag })
    }
  }
  const [some = 1] = companies
  for (const resource of resources) {
    for (const end of ['?page=2&limit=7', '?limit=1000', '?page=9007199254740991', '?page=0']) {
      await compare(pathOf(resource, some) + end)
    }
    await compare(`${pathOf(resource, some)}?limit=all`, { accept: 'application/x-ndjson' })
    await compare(pathOf(resource, 8_999_999_999))
    await compare(pathOf(resource, 'x'))
  }
  return pages
}

/** The companies of a store by their ids. */
function companiesOf(path: string): number[] {
  using file = new DatabaseSync(path, { readOnly: true })
  const rows = file.prepare('select id from companies order by id').all()
  return rows.map(({ id }) => Number(id))
}

/** Runs an import on both stores and compares the reports. */
async function importBoth(work: (kind: StoreKind) => Promise<ImportReport>): Promise<void> {
  const [file, server] = [await work('sqlite'), await work('postgres')]
  const told = ({ version, counts, problems }: ImportReport) => ({ version, counts, problems })
  assert.deepEqual(told(server), told(file))
}

test('random imports: both stores report and serve the same', async (t) => {
  const folder = makeFolder(t)
  let runs = 0
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(...resources.map((resource) => anyRecords(resource))),
      fc.array(fc.boolean(), { minLength: 15, maxLength: 15 }),
      async (records, snapshots) => {
        const path = join(folder, `${(runs += 1)}.db`)
        for (const [at, resource] of resources.entries()) {
          for (const batch of [0, 1, 2]) {
            const rows = (records[at] ?? [])
              .filter((one) => one.batch <= batch)
              // Companies by id and by name, and ids by key, which the stores have to resolve.
              .map(({ record: { id, ...rest } }) => ({
                ...rest,
                ...(id % 3 === 0 ? { key: `key ${id % 50}` } : { id: 1 + (id % 100) }),
                ...(id % 2 === 0
                  ? { company_id: 1 + (id % 7) }
                  : { company_jurisdiction: 'Ñ', company_identifier: `é${id % 5}` }),
              }))
            if (rows.length === 0) continue
            await importBoth((kind) =>
              importRows(path, resource.name, rows, {
                kind,
                source: batch === 2 ? 'b' : 'a',
                isSnapshot: snapshots[at * 3 + batch] ?? false,
                onRejected: () => undefined,
              }),
            )
          }
        }
        compareKept(path)
        assert.ok((await compareAll(t, path, companiesOf(path))) > 0)
      },
    ),
    { numRuns: isLong ? 6 : 1 },
  )
})

/** Extracts in the order of their days, with their recording options. */
const extracts: readonly (readonly [target: string, day: string, file: string, mapping: string])[] =
  [
    ...(isLong ? ['2021-12-26', '2023-01-31', '2025-02-28'] : []).map((day) => {
      const file = `sec_company_tickers/tickers-${day}.csv`
      return ['companies', day, file, 'sec-company-tickers'] as const
    }),
    ...['2020-12-31', ...(isLong ? ['2022-12-30'] : []), '2026-07-21'].map((day) => {
      const file = `datenanfragen_companies/companies-${day}.ndjson.gz`
      return ['companies', day, file, 'datenanfragen-companies'] as const
    }),
    ...['2012', '2016'].map((year) => {
      const file = `us_plum_book/positions-${year}.csv.gz`
      return ['employees', `${year}-12-01`, file, 'us-plum-book'] as const
    }),
  ]

/** All segments: in PostgreSQL, heads hold some of them. */
const segments = {
  sqlite: 'segments',
  postgres: `(
    select company_id, segment, entries, texts from segments
    union all select company_id, segment, entries, texts from heads where texts is not null
  ) s`,
}

/** The whole store, present and past: the same text for the same rows on both stores. */
const kept = [
  'select record from events_records order by id',
  `select company_id, listing, version, total, meta, largest, directory, segment
   from heads order by company_id, listing, version`,
  'select company_id, segment, entries, texts from SEGMENTS order by segment',
  'select listing, id, company_id, source_id from record_ids order by listing, id, company_id',
  'select listing, source_id, key, id from record_keys order by listing, source_id, key',
  'select * from company_states order by company_id, version',
  'select version, resource, source_id, is_snapshot, as_of, recorded, removed from imports order by version',
  'select past_from from store',
]

function keptText(path: string, kind: StoreKind, sql: string): string[] {
  const file = kind === 'sqlite' ? new DatabaseSync(path, { readOnly: true }) : undefined
  const asked = sql.replace('SEGMENTS', segments[kind])
  const rows = file ? file.prepare(asked).all() : queryServer(storeAt(path, kind), asked)
  file?.close()
  return rows.map((row) => JSON.stringify(Object.values(row).map(plain)))
}

/** SQLite has 1 and 0 for true and false. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  return typeof value === 'boolean' ? +value : value
}

/** Returns how many rows each query has. */
function compareKept(path: string): [sql: string, rows: number][] {
  return kept.map((sql) => {
    const file = keptText(path, 'sqlite', sql)
    const server = keptText(path, 'postgres', sql)
    const at = file.findIndex((row, n) => row !== server[n])
    assert.equal(server[at], file[at], `${sql}: row ${at}`)
    assert.equal(server.length, file.length, sql)
    return [sql, file.length]
  })
}

test('successive real extracts: both stores have the same history', { skip }, async (t) => {
  const path = join(makeFolder(t), 'history.db')
  for (const [target, day, file, mapping] of extracts) {
    await importBoth((kind) =>
      importInto(path, target, [join(data, file)], {
        kind,
        source: file.split('/')[0] ?? '',
        mapping: readFileSync(join(mappings, `${mapping}.sql`), 'utf8'),
        isSnapshot: true,
        ...recordedOn(day),
      }),
    )
  }
  for (const [sql, rows] of compareKept(path)) {
    t.diagnostic(`${rows} rows: ${sql}`)
    assert.ok(rows > 0, sql)
  }
  const companies = companiesOf(path).filter((_, n) => n % (isLong ? 16 : 128) === 0)
  await compareAll(t, path, companies)
})
