// Finds what an import changes, by comparing its rows with the indexes of the listings: fills
// `change` and `removal`, and reads no text of a record.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { metaTypesMax } from '../../resources/resource.ts'
import { parseMeta } from '../listing/meta.ts'
import { openListings, type OpenListing } from '../listing/open-listings.ts'
import type { OnShare } from '../sql/merge-progress.ts'
import { allCompanies, companiesOfRows, type CompanyRows } from './company-rows.ts'
import { carryChanges } from './carry.ts'
import type { ImportContext } from './context.ts'
import { hasDigest, type Indexes, indexesOf, readSmall, typeAt } from './read-indexes.ts'

const insertChange = 'insert into change values ($company, $id, $seq, $isKnown, 1, $was)'
const insertRemoval = 'insert or ignore into removal values ($company, $id, $was)'

/** @returns the companies whose types could become too many (contract 3.7). */
export async function findRecordChanges(
  context: ImportContext,
  onShare: OnShare,
): Promise<number[]> {
  const { staging, tables, plan } = context
  const { name } = plan.target
  const [listed] = await tables.companiesWith(name, { after: -1, limit: 1 })
  if (listed === undefined) return findFirstChanges(context)
  const refusedIds = refusedIdsOf(context)
  const crowded = new Set<number>()
  const total = Number(staging.value('select max(company_id) from placed')) || 1
  const batches = plan.isSnapshot ? allCompanies(staging, tables, name) : companiesOfRows(staging)
  for await (const batch of batches) {
    const companies = batch.map(({ companyId }) => companyId)
    const open = await openListings(tables, name, companies)
    const indexes = await readSmall(context, open)
    for (const rows of batch) {
      const listing = open.get(rows.companyId)
      const found = await compareCompany(context, rows, listing, { indexes, refusedIds })
      if (isCrowded(context, listing, found)) crowded.add(rows.companyId)
    }
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

/** Everything is new in the first load of a resource. */
function findFirstChanges({ staging, shape }: ImportContext): number[] {
  staging.run(`
    insert into change
      select company_id, id, seq, 0, 1, null from placed
      where digest is not null order by company_id, id`)
  if (shape.metaColumn === undefined) return []
  const crowded = `
    select company_id from change group by company_id having count(*) > ${metaTypesMax}`
  return staging.rows(crowded).map(([company]) => Number(company))
}

/** The ids of refused rows, which a snapshot does not lack. */
function refusedIdsOf({ staging, plan }: ImportContext): ReadonlySet<number> {
  if (!plan.isSnapshot) return new Set()
  const ids = staging.rows('select distinct id from placed where digest is null and id is not null')
  return new Set(ids.map(([id]) => Number(id)))
}

interface Known {
  readonly indexes: Indexes
  readonly refusedIds: ReadonlySet<number>
}

/** Compares the rows of a company with its listing; returns the number of changed records. */
async function compareCompany(
  context: ImportContext,
  rows: CompanyRows,
  listing: OpenListing | undefined,
  { indexes, refusedIds }: Known,
): Promise<number> {
  const { staging, plan, source } = context
  const company = rows.companyId
  const change = (at: number, isKnown: number, was: string | null) =>
    staging.run(insertChange, {
      ...{ company, id: rows.ids[at] ?? 0, seq: rows.seqs[at] ?? 0, isKnown, was },
    })
  let changed = 0
  const isListed = new Uint8Array(rows.ids.length)
  if (listing !== undefined && listing.head.total > 0) {
    const places = new Map(rows.ids.map((id, at) => [id, at]))
    for await (const some of indexesOf(context, listing, indexes)) {
      for (const index of some) {
        for (let n = 0; n < index.count; n++) {
          const id = index.ids[n] ?? 0
          const at = places.get(id)
          if (at !== undefined) {
            isListed[at] = 1
            if (hasDigest(index, n, rows.digests[at])) continue
            change(at, 1, typeAt(context, index, n))
            changed += 1
          } else if (plan.isSnapshot && index.sources[n] === source && !refusedIds.has(id)) {
            staging.run(insertRemoval, { company, id, was: typeAt(context, index, n) })
          }
        }
      }
    }
  }
  for (let at = 0; at < isListed.length; at++) {
    if (isListed[at] === 1) continue
    change(at, 0, null)
    changed += 1
  }
  return changed
}

function isCrowded(
  { shape }: ImportContext,
  listing: OpenListing | undefined,
  changed: number,
): boolean {
  if (shape.metaColumn === undefined) return false
  const known = listing === undefined ? 0 : parseMeta(listing.head.meta ?? '[]').size
  return known + changed > metaTypesMax
}
