// Finds what an import changes, by comparing its rows with the indexes of the listings, or with
// what its source says about companies: fills `change` and `removal`, and reads no record's text.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { metaTypesMax } from '../../resources/resource.ts'
import { parseMeta } from '../listing/shape.ts'
import { openListings, type OpenListing } from '../listing/open-listings.ts'
import { digestBytes, type SegmentIndex, type ListedRecord } from '../listing/segment.ts'
import type { OnShare } from '../work-watch.ts'
import {
  allCompanies,
  companiesOfRows,
  type CompanyRows,
  lastCompanyOf,
  placesOf,
} from './company-rows.ts'
import { carryChanges, hasDigest, type Indexes, indexesOf, readSmall, typeAt } from './carry.ts'
import type { ImportContext } from './context.ts'
import { readAttributes, statementOf } from '../companies/attributes.ts'

/** @returns the companies whose types could become too many (contract 3.7). */
export async function findRecordChanges(
  context: ImportContext,
  onShare: OnShare,
): Promise<number[]> {
  const { staging, tables, plan } = context
  const { name } = plan.target
  const refusedIds = refusedIdsOf(context)
  const crowded = new Set<number>()
  const total = lastCompanyOf(staging)
  const batches = plan.isSnapshot ? allCompanies(staging, tables, name) : companiesOfRows(staging)
  for await (const batch of batches) {
    const companies = batch.map(({ companyId }) => companyId)
    const open = await openListings(tables, name, companies)
    const indexes = await readSmall(context, open)
    const changed: (readonly [CompanyRows, readonly number[]])[] = []
    for (const rows of batch) {
      const listing = open.get(rows.companyId)
      const found = await compareCompany(context, rows, listing, { indexes, refusedIds })
      if (isCrowded(context, listing, found.length)) crowded.add(rows.companyId)
      if (rows.ats.length > 0) changed.push([rows, found])
    }
    staging.load(placesOf(changed))
    onShare(Math.min(1, (companies.at(-1) ?? 0) / total))
    await nextTurn()
  }
  await carryChanges(context, (listing) => {
    const { companyId } = listing.head
    const found = staging.value('select count(*) from change where company_id = ?', companyId)
    if (isCrowded(context, listing, Number(found))) crowded.add(companyId)
  })
  return [...crowded].sort((a, b) => a - b)
}

/** The ids of refused rows, which a snapshot does not lack. */
function refusedIdsOf({ staging, plan }: ImportContext): ReadonlySet<number> {
  if (!plan.isSnapshot) return new Set()
  const ids = staging.rows('select distinct id from stage where digest is null and id is not null')
  return new Set(ids.map(([id]) => Number(id)))
}

interface Known {
  readonly indexes: Indexes
  readonly refusedIds: ReadonlySet<number>
}

/** Compares the rows of a company with its listing; returns the places of those that change it. */
async function compareCompany(
  context: ImportContext,
  rows: CompanyRows,
  listing: OpenListing | undefined,
  { indexes, refusedIds }: Known,
): Promise<number[]> {
  const { staging, plan, source } = context
  const { companyId, ids, seqs, digests } = rows
  const changed: number[] = []
  const change = (at: number, isKnown: number, was: string | null) => {
    staging.insert('change', companyId, ids[at] ?? 0, seqs[at] ?? 0, isKnown, 1, was)
    changed.push(at)
  }
  const isListed = new Uint8Array(ids.length)
  const same = recordedBefore(context)
  if (listing !== undefined && listing.head.total > 0) {
    const places = new Map(ids.map((id, at) => [id, at]))
    for await (const some of indexesOf(context, listing, indexes)) {
      for (const index of some) {
        for (let n = 0; n < index.count; n++) {
          const id = index.ids[n] ?? 0
          const at = places.get(id)
          same?.note(index, n)
          if (at !== undefined) {
            isListed[at] = 1
            if (!hasDigest(index, n, digests, at)) change(at, 1, typeAt(context, index, n))
          } else if (plan.isSnapshot && index.sources[n] === source && !refusedIds.has(id)) {
            staging.insert('removal', companyId, id, typeAt(context, index, n))
          }
        }
      }
    }
  }
  for (let at = 0; at < isListed.length; at++) {
    if (isListed[at] === 0 && same?.has(digests, at) !== true) change(at, 0, null)
  }
  return changed
}

/**
 * A change that the source has told already, be it recorded by an import of its companies or given
 * as a record, is not another one: the digests of those that a listing has; undefined if the
 * records are no changes.
 */
function recordedBefore({ plan, source, sources }: ImportContext) {
  if (plan.target.resource?.changeFields === undefined) return undefined
  const known = new Set<string>()
  const own = new Set([source])
  for (const [id, { name }] of sources) if (name.startsWith(`${plan.source}/`)) own.add(id)
  if (own.size === 1) return undefined
  return {
    note({ digests, sources: having }: SegmentIndex, n: number): void {
      if (own.has(having[n] ?? 0)) known.add(digestAt(digests, n))
    },
    has: (digests: Uint8Array, at: number) => known.has(digestAt(digests, at)),
  }
}

const digestAt = (digests: Uint8Array, n: number) =>
  Buffer.from(digests.buffer, digests.byteOffset + n * digestBytes, digestBytes).toString('latin1')

function isCrowded(
  { shape }: ImportContext,
  listing: OpenListing | undefined,
  changed: number,
): boolean {
  if (shape.metaColumn === undefined) return false
  const known = listing === undefined ? 0 : parseMeta(listing.head.meta ?? '[]').size
  return known + changed > metaTypesMax
}

/** Rows whose attributes differ from the source's last ones, or whose company was absent. */
export const createDiffering = `
  create table if not exists differing (
    seq integer primary key, company_id integer, is_known integer, is_present integer,
    is_same integer, as_of text
  )`

/** Compares the rows with what their source has said. */
export async function findDiffering(context: ImportContext, onShare: OnShare): Promise<void> {
  const { staging, tables, plan, source } = context
  staging.run([createDiffering, 'delete from differing', 'delete from removal'])
  const total = lastCompanyOf(staging)
  const refusedIds = new Set(
    staging
      .rows('select company_id from stage where digest is null and company_id is not null')
      .map(([id]) => Number(id)),
  )
  const name = plan.target.name
  const batches = plan.isSnapshot ? allCompanies(staging, tables, name) : companiesOfRows(staging)
  for await (const batch of batches) {
    const companies = batch.map(({ companyId }) => companyId)
    const said = await readAttributes(tables, companies)
    for (const { companyId: company, seqs, digests } of batch) {
      const record = said.get(company)?.find((one) => one.source === source)
      for (const [at, seq] of seqs.entries()) {
        const digest = digests.subarray(at * digestBytes, (at + 1) * digestBytes)
        noteDiffering(context, { company, seq, digest, record })
      }
      const isGone = seqs.length === 0 && !refusedIds.has(company)
      if (isGone && record !== undefined && statementOf(record).isPresent) {
        staging.insert('removal', company, company, null)
      }
    }
    onShare(Math.min(1, (companies.at(-1) ?? 0) / total))
    await nextTurn()
  }
}

function noteDiffering(
  { staging }: ImportContext,
  row: {
    readonly company: number
    readonly seq: number
    readonly digest: Uint8Array
    readonly record: ListedRecord | undefined
  },
): void {
  const { company, seq, digest, record } = row
  const known = record && statementOf(record)
  const isSame = record !== undefined && Buffer.compare(record.digest, digest) === 0
  if (isSame && known?.isPresent === true) return
  const [isKnown, isPresent] = [Number(known !== undefined), Number(known?.isPresent ?? false)]
  staging.insert('differing', seq, company, isKnown, isPresent, Number(isSame), known?.asOf ?? null)
}

/** A history cannot record changes whose dates go backwards. */
export const refuseEarlier = `
  insert into refused
    select s.seq, 'as_of', coalesce(s.as_of, $asOf),
      'is before ' || d.as_of || ', the date of the data in the registry'
    from differing d join stage s on s.seq = d.seq
    where $asOf is not null and coalesce(s.as_of, $asOf) < d.as_of and d.is_known and not d.is_same
    on conflict do nothing`

/** Those that were not refused; a company that returns counts as new. */
export const changeDiffering = `
  insert into change
    select d.company_id, d.company_id, d.seq, d.is_present, 1, null
    from differing d
    where exists (select 1 from stage s where s.seq = d.seq and s.digest is not null)`
