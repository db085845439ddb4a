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
  digests: Buffer
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
    const [companyId, id, seq, digest, at, length, digestFrom = 0] = row
    if (last?.companyId !== companyId) {
      if (last !== undefined) yield last
      last = withoutRows(companyId)
    }
    addDigest(last, digest, digestFrom)
    last.ids.push(id)
    last.seqs.push(seq)
    last.ats.push(at)
    last.lengths.push(length)
  }
  if (last !== undefined) yield last
}

/** A row, by its company, id and number, with its digest, or bytes in which that begins. */
type PlacedRow = readonly [
  ...[companyId: number, id: number, seq: number, digest: Uint8Array],
  ...[at: number, length: number, digestFrom?: number],
]

function* spooledRows(staging: Staging): Generator<PlacedRow> {
  for (const rows of staging.spooled()) {
    for (const { seq, at, bytes } of rows) {
      yield [companyIdIn(bytes), idIn(bytes), seq, bytes, at, bytes.length, digestAt]
    }
  }
}

const noDigests = Buffer.alloc(0)

function withoutRows(companyId: number): CompanyRows {
  return { companyId, ids: [], seqs: [], digests: noDigests, ats: [], lengths: [] }
}

function addDigest(rows: CompanyRows, digest: Uint8Array, from: number): void {
  const at = rows.ids.length * digestBytes
  if (at === rows.digests.length) {
    const larger = Buffer.allocUnsafe(Math.max(8 * digestBytes, 2 * at))
    rows.digests.copy(larger)
    rows.digests = larger
  }
  for (let n = 0; n < digestBytes; n++) rows.digests[at + n] = digest[from + n] ?? 0
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
