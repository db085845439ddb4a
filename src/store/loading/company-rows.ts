// The staged rows by company, in batches of many companies.

import type { Awaitable } from '../awaitable.ts'
import { digestBytes } from '../listing/segment.ts'
import { inBatches } from '../listing/in-batches.ts'
import type { CompanyRange } from '../listing/tables.ts'
import { companyIdIn, digestAt, idIn } from './staging/spool.ts'
import type { Staging } from './staging/staging.ts'

/** The rows of one company, by ascending id. */
export interface CompanyRows {
  readonly companyId: number
  readonly ids: number[]
  readonly seqs: number[]
  /** 12 bytes each. */
  digests: Uint8Array
  /** Where the rows are in the file, and their lengths. */
  readonly ats: number[]
  readonly lengths: number[]
}

const companiesMax = 1_000
const rowsMax = 20_000

/**
 * The companies that have rows, in ascending order.
 *
 * @param sql selects company, id, number, digest and place of the rows, in the order of the first
 *   two; if undefined, the rows are in that order as read.
 */
export function companiesOfRows(staging: Staging, sql?: string): Generator<CompanyRows[]> {
  return batchesOf(byCompany(staging, sql))
}

const batchesOf = (companies: Iterable<CompanyRows>) =>
  inBatches(companies, companiesMax, ({ ids }) => ids.length, rowsMax)

function* byCompany(staging: Staging, sql?: string): Generator<CompanyRows, undefined> {
  let last: CompanyRows | undefined
  const rows = sql === undefined ? spooledRows(staging) : staging.iterate(sql)
  for (const row of rows as Iterable<PlacedRow>) {
    if (last?.companyId === row[0]) addRow(last, row)
    else {
      if (last !== undefined) yield last
      last = withFirst(row)
    }
  }
  if (last !== undefined) yield last
}

/** A row, by its company, id and number, with its digest, or bytes in which that begins. */
type PlacedRow = readonly [
  companyId: number,
  id: number,
  seq: number,
  digest: Uint8Array,
  at: number,
  length: number,
  digestFrom?: number,
]

function* spooledRows(staging: Staging): Generator<PlacedRow> {
  for (const { seq, at, bytes } of staging.spooled()) {
    yield [companyIdIn(bytes), idIn(bytes), seq, bytes, at, bytes.length, digestAt]
  }
}

const noDigests = Buffer.alloc(0)

function withoutRows(companyId: number): CompanyRows {
  return { companyId, ids: [], seqs: [], digests: noDigests, ats: [], lengths: [] }
}

/** Most companies of a register have one row: lists that grow would take 17 places for it. */
function withFirst([companyId, id, seq, digest, at, length, from = 0]: PlacedRow): CompanyRows {
  const digests = Buffer.copyBytesFrom(digest, from, digestBytes)
  return { companyId, ids: [id], seqs: [seq], digests, ats: [at], lengths: [length] }
}

function addRow(rows: CompanyRows, [, id, seq, digest, at, length, from = 0]: PlacedRow): void {
  const end = rows.ids.length * digestBytes
  if (end === rows.digests.length) {
    const larger = Buffer.allocUnsafe(Math.max(8 * digestBytes, 2 * end))
    larger.set(rows.digests)
    rows.digests = larger
  }
  for (let n = 0; n < digestBytes; n++) rows.digests[end + n] = digest[from + n] ?? 0
  rows.ids.push(id)
  rows.seqs.push(seq)
  rows.ats.push(at)
  rows.lengths.push(length)
}

/**
 * All companies that have rows or a listing.
 *
 * @param sql as for `companiesOfRows`.
 * @param readListed the companies that have or had a listing.
 */
export async function* allCompanies(
  staging: Staging,
  sql: string | undefined,
  readListed: (range: CompanyRange) => Awaitable<readonly number[]>,
): AsyncGenerator<CompanyRows[]> {
  const rows = byCompany(staging, sql)
  let next = rows.next()
  function* upTo(last: number): Generator<CompanyRows> {
    for (; next.done !== true && next.value.companyId <= last; next = rows.next()) yield next.value
  }
  for (let after = -1; after < Infinity;) {
    const listed = await readListed({ after, limit: companiesMax })
    after = listed.length < companiesMax ? Infinity : (listed.at(-1) ?? Infinity)
    const others = new Set(listed)
    for (const batch of batchesOf(upTo(after))) {
      for (const { companyId } of batch) others.delete(companyId)
      yield batch
    }
    yield [...others].map(withoutRows)
  }
}
