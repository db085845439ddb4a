// The staged rows by company, in batches of some hundred companies.

import type { ListingTables } from '../listing/tables.ts'
import type { Staging } from './staging.ts'

/** The rows of one company, by ascending id. */
export interface CompanyRows {
  readonly companyId: number
  readonly ids: number[]
  readonly seqs: number[]
  readonly digests: Uint8Array[]
}

const companiesMax = 300
const rowsMax = 20_000

const placedRows = `
  select company_id, id, seq, digest from placed
  where digest is not null order by company_id, id`

/** The companies that have rows, in ascending order; one with many rows has a batch to itself. */
export function* companiesOfRows(staging: Staging): Generator<CompanyRows[]> {
  let batch: CompanyRows[] = []
  let rows = 0
  let last: CompanyRows | undefined
  for (const [company, id, seq, digest] of staging.iterate(placedRows)) {
    if (last === undefined || last.companyId !== company) {
      if (batch.length === companiesMax || rows > rowsMax) {
        yield batch
        batch = []
        rows = 0
      }
      last = { companyId: company as number, ids: [], seqs: [], digests: [] }
      batch.push(last)
    }
    last.ids.push(id as number)
    last.seqs.push(seq as number)
    last.digests.push(digest as Uint8Array)
    rows += 1
  }
  if (batch.length > 0) yield batch
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

function withoutRows(companyId: number): CompanyRows {
  return { companyId, ids: [], seqs: [], digests: [] }
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
