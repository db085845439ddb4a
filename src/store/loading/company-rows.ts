// The staged rows by company, in batches of some hundred companies.

import type { ListingTables } from '../listing/tables.ts'
import { digestBytes } from '../listing/segment.ts'
import { companyIdIn, digestAt, idIn, type SpoolPlace } from './staging/spool.ts'
import type { Staging } from './staging/staging.ts'

/** The rows of one company, by ascending id. */
export interface CompanyRows {
  readonly companyId: number
  readonly ids: number[]
  readonly seqs: number[]
  /** 12 bytes each. */
  digests: Buffer
  /** Where the rows begin in the file, if they are not in the table `stage`; and their end. */
  readonly ats: number[]
  end: number
}

const companiesMax = 1_000
const rowsMax = 20_000

const stagedRows = `
  select company_id, id, seq, digest from stage
  where digest is not null order by company_id, id`

/** The companies that have rows, in ascending order; one with many rows has a batch to itself. */
export function* companiesOfRows(staging: Staging): Generator<CompanyRows[]> {
  let batch: CompanyRows[] = []
  let rows = 0
  let last: CompanyRows | undefined
  for (const { companyId, id, seq, digest, digestFrom, at } of rowsOf(staging)) {
    if (last === undefined || last.companyId !== companyId) {
      if (batch.length === companiesMax || rows > rowsMax) {
        yield batch
        batch = []
        rows = 0
      }
      last = withoutRows(companyId)
      batch.push(last)
    }
    addDigest(last, digest, digestFrom)
    last.ids.push(id)
    last.seqs.push(seq)
    if (at !== undefined) {
      last.ats.push(at)
      last.end = at + digest.length
    }
    rows += 1
  }
  if (batch.length > 0) yield batch
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

/** Where some rows of companies are in the file. */
export function* placesOf(
  chosen: Iterable<readonly [CompanyRows, readonly number[]]>,
): Generator<SpoolPlace> {
  for (const [{ seqs, ats, end }, places] of chosen) {
    for (const n of places) {
      const at = ats[n] ?? 0
      yield { seq: seqs[n] ?? 0, at, length: (ats[n + 1] ?? end) - at }
    }
  }
}

interface PlacedRow {
  readonly companyId: number
  readonly id: number
  readonly seq: number
  /** The bytes of the digest, or those of the row, in which it is. */
  readonly digest: Uint8Array
  readonly digestFrom: number
  readonly at: number | undefined
}

/** The rows by company and id: from the table, or as they were read if they have that order. */
function* rowsOf(staging: Staging): Generator<PlacedRow> {
  if (!staging.isLoaded()) {
    for (const rows of staging.spooled()) {
      for (const { seq, at, bytes } of rows) {
        const [companyId, id] = [companyIdIn(bytes), idIn(bytes)]
        yield { companyId, id, seq, digest: bytes, digestFrom: digestAt, at }
      }
    }
    return
  }
  for (const [companyId, id, seq, digest] of staging.iterate(stagedRows)) {
    yield {
      ...{ companyId: companyId as number, id: id as number, seq: seq as number },
      ...{ digest: digest as Uint8Array, digestFrom: 0, at: undefined },
    }
  }
}

/** The last company that has rows; at least 1. */
export function lastCompanyOf(staging: Staging): number {
  return staging.isLoaded()
    ? Number(staging.value('select max(company_id) from stage')) || 1
    : staging.facts.ids.companyId
}

/** All companies that have rows or a listing, in ascending order. */
export async function* allCompanies(
  staging: Staging,
  tables: ListingTables,
  listing: string,
): AsyncGenerator<CompanyRows[]> {
  const listed = companiesListed(tables, listing)
  let next = await listed.next()
  for (const batch of companiesOfRows(staging)) {
    const end = batch.at(-1)?.companyId ?? 0
    const known = new Map(batch.map((rows) => [rows.companyId, rows]))
    let others: CompanyRows[] = []
    for (; next.done !== true && next.value <= end; next = await listed.next()) {
      if (known.has(next.value)) continue
      others.push(withoutRows(next.value))
      if (others.length < companiesMax) continue
      yield others
      others = []
    }
    yield [...batch, ...others].sort((a, b) => a.companyId - b.companyId)
  }
  let rest: CompanyRows[] = []
  for (; next.done !== true; next = await listed.next()) {
    rest.push(withoutRows(next.value))
    if (rest.length < companiesMax) continue
    yield rest
    rest = []
  }
  if (rest.length > 0) yield rest
}

const noDigests = Buffer.alloc(0)

function withoutRows(companyId: number): CompanyRows {
  return { companyId, ids: [], seqs: [], digests: noDigests, ats: [], end: 0 }
}

/** Every company that has or had a listing, in ascending order. */
export async function* companiesListed(
  tables: ListingTables,
  listing: string,
): AsyncGenerator<number, undefined> {
  const limit = 1_000
  for (let after = -1; ;) {
    const companies = await tables.companiesWith(listing, { after, limit })
    yield* companies
    if (companies.length < limit) return undefined
    after = companies.at(-1) ?? Infinity
  }
}
