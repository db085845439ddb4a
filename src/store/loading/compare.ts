// Finds what an import changes by comparing its rows with the indexes of the listings: fills
// `change` without reading the text of a record.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { after, type Awaitable } from '../awaitable.ts'
import { statementAt } from '../companies/attributes.ts'
import {
  type IndexReader,
  keysOf,
  openInGroups,
  type OpenListing,
  readIndexes,
} from '../listing/open-listings.ts'
import { digestBytes, hasDigest, type SegmentIndex } from '../listing/segment.ts'
import { isShort } from '../listing/merge-listings.ts'
import { attributesShape, comparedParts, type ListingShape } from '../listing/shape.ts'
import { inBatches } from '../listing/in-batches.ts'
import { allCompanies, companiesOfRows, type CompanyRows } from './company-rows.ts'
import type { ImportContext } from './context.ts'
import { dropRefused } from './place-rows.ts'
import { withoutUnchanged } from './unchanged-companies.ts'

/**
 * Fills `change`.
 *
 * @returns how many records the source has: a snapshot is compared with all of them. Undefined for
 * other imports.
 */
export async function findChanges(context: ImportContext): Promise<number | undefined> {
  const { staging, tables, plan, shape, asOf, isFirst } = context
  const onShare = context.parts('comparing')
  onShare(0)
  if (isFirst && staging.isLoaded()) {
    staging.run(takeAll(context))
    return 0
  }
  const comparison = { isGiven: true, held: 0 }
  const given = staging.isLoaded() ? givenRows(context) : undefined
  const batches = plan.isSnapshot
    ? allCompanies(staging, given, (range) => tables.companiesWith(shape.listing, range))
    : companiesOfRows(staging, given)
  let compared = 0
  for await (const batch of batches) {
    await compareBatch(context, batch, comparison)
    for (const { ids } of batch) compared += ids.length
    onShare(compared / Math.max(1, staging.facts.rows))
    await nextTurn()
  }
  if (!staging.isLoaded()) staging.load('select seq, at, length from change where seq is not null')
  if (plan.isSnapshot) staging.run(keepRefused(context))
  if (plan.target.resource === undefined) staging.run(refuseEarlier, { asOf })
  else await carryChanges(context)
  return plan.isSnapshot ? comparison.held : undefined
}

/** What a source says about a company has the source's number as its id. */
const idOf = ({ shape, source }: ImportContext) => (shape === attributesShape ? source : 'id')

const givenRows = (context: ImportContext) => `
  select company_id, ${idOf(context)}, seq, digest, at, length from stage
  where digest is not null order by 1, 2`

/** All rows of a first load are new. */
const takeAll = (context: ImportContext) => `
  insert into change select company_id, ${idOf(context)}, seq, 0, 1, null, null, at, length
  from stage where digest is not null order by 1, 2`

/** A snapshot does not lack the records of refused rows. */
const keepRefused = ({ shape }: ImportContext) => `
  delete from change where seq is null
    and ${shape === attributesShape ? 'company_id' : 'id'} in (
      select id from stage where digest is null
    )`

/** The dates of recorded changes cannot go backwards. */
const refuseEarlier = [
  `insert into refused
    select s.seq, 'as_of', coalesce(s.as_of, $asOf),
      'is before the last day that the registry has for the company'
    from change c join stage s on s.seq = c.seq
    where coalesce(s.as_of, $asOf) < c.was
    on conflict do nothing`,
  dropRefused,
  'delete from change where seq in (select seq from refused)',
]

/** A record that is in `change` for the company was given for it, or carried to it before. */
const insertCarried = `
  insert or ignore into carried select $company, $id, $seq
  where not exists (select 1 from change where company_id = $company and id = $id)`

const carriedRows = `
  select c.company_id, c.id, c.seq, s.digest, s.at, s.length
  from carried c cross join stage s on s.seq = c.seq order by 1, 2`

const idsAtOnce = 1_000

/**
 * A changed record changes in all its listings. Adds the changes in the listings for which the
 * import does not give it. A snapshot removes it from these, unless one of its rows was refused.
 */
async function carryChanges(context: ImportContext): Promise<void> {
  const { staging, tables, plan, shape } = context
  const refusedOnly = plan.isSnapshot
    ? 'where id in (select id from stage where digest is null)'
    : ''
  const ids = staging.iterate(`select id, min(seq) from change ${refusedOnly} group by id`)
  for (const batch of inBatches(ids, idsAtOnce)) {
    const seqs = new Map(batch.map(([id, seq]) => [Number(id), Number(seq)]))
    for (const { id, companyId } of await tables.whereListed(shape.listing, [...seqs.keys()])) {
      staging.run(insertCarried, { company: companyId, id, seq: seqs.get(id) ?? 0 })
    }
  }
  const comparison = { isGiven: false, held: 0 }
  for (const batch of companiesOfRows(staging, carriedRows)) {
    await compareBatch(context, batch, comparison)
    await nextTurn()
  }
  staging.run('delete from carried')
}

interface Comparison {
  /** Whether the import gives the rows for their companies; false if they are carried there. */
  readonly isGiven: boolean
  /** How many records of the source have been compared. */
  held: number
}

async function compareBatch(
  context: ImportContext,
  all: readonly CompanyRows[],
  comparison: Comparison,
): Promise<void> {
  const { tables, shape } = context
  const areCompanies = shape === attributesShape
  const batch = areCompanies ? await withoutUnchanged(context, all, comparison) : all
  if (batch.length === 0) return
  const rowsOf = new Map(batch.map((rows) => [rows.companyId, rows]))
  const groups = openInGroups(tables, shape.listing, [...rowsOf.keys()])
  for await (const { companies, open } of groups) {
    const group = companies.flatMap((companyId) => rowsOf.get(companyId) ?? [])
    const unread = await findAllNew(context, group, open, comparison)
    const leavesOf = (companyId: number) =>
      unread.has(companyId) ? [] : (open.get(companyId)?.leaves ?? [])
    const keys = companies.flatMap((companyId) => keysOf(companyId, leavesOf(companyId)))
    const read = readIndexes(tables, shape, keys, comparedParts(shape))
    for (const rows of group) {
      const done = compareCompany(context, rows, leavesOf(rows.companyId).length, read, comparison)
      // Awaiting nothing costs as much as comparing a company with one row.
      if (done instanceof Promise) await done
    }
  }
}

/** How many segments a listing has at least for each row, if the row's id is looked up first. */
const segmentsPerRow = 1 / 4

/**
 * Finds the companies whose long listings have none of the rows: there is nothing to compare there
 * unless records can be missing, or recorded changes be reported again.
 */
async function findAllNew(
  context: ImportContext,
  batch: readonly CompanyRows[],
  open: ReadonlyMap<number, OpenListing>,
  { isGiven }: Comparison,
): Promise<ReadonlySet<number>> {
  const { tables, plan, shape } = context
  const found = new Set<number>()
  if (plan.isSnapshot || !isGiven || shape === attributesShape || recordedBefore(context))
    return found
  for (const { companyId, ids } of batch) {
    const leaves = open.get(companyId)?.leaves ?? []
    if (isShort(leaves) || leaves.length < ids.length * segmentsPerRow) continue
    found.add(companyId)
    for (const some of inBatches(ids, idsAtOnce)) {
      const listed = await tables.whereListed(shape.listing, some)
      if (!listed.some((one) => one.companyId === companyId)) continue
      found.delete(companyId)
      break
    }
  }
  return found
}

/** Compares the rows of a company with its listing. */
function compareCompany(
  context: ImportContext,
  { companyId, ids, seqs, digests, ats, lengths }: CompanyRows,
  segments: number,
  read: IndexReader,
  comparison: Comparison,
): Awaitable<void> {
  const { isGiven } = comparison
  const { staging, plan, source, shape } = context
  let leaf = 0
  const change = (row: number, isKnown: boolean, was: string | null) => {
    const flags = [Number(isKnown), Number(isGiven), was, isKnown ? leaf : null] as const
    const place = [ats[row] ?? 0, lengths[row] ?? 0] as const
    staging.insert('change', companyId, ids[row] ?? 0, seqs[row] ?? 0, ...flags, ...place)
  }
  /** Marks the rows whose records the listing has. */
  const listed = new Uint8Array(ids.length)
  const recorded = recordedBefore(context)
  function compare(index: SegmentIndex, n: number): void {
    const id = index.ids[n] ?? 0
    const row = findId(ids, id)
    const isPresent = isPresentAt(shape, index, n)
    recorded?.note(index, n)
    if (isPresent && index.sources[n] === source) comparison.held += 1
    if (row !== undefined) {
      listed[row] = 1
      const isSame = hasDigest(index, n, digests, row)
      // A company that returns unchanged may have an earlier day.
      if (!isSame || !isPresent) change(row, isPresent, isSame ? null : dayAt(shape, index, n))
    } else if (isGiven && plan.isSnapshot && isPresent && index.sources[n] === source) {
      staging.insert('change', companyId, id, null, 1, 0, null, leaf, null, 0)
    }
  }
  const compared = read(segments, (index) => {
    for (let n = 0; n < index.count; n++) compare(index, n)
    leaf += 1
  })
  return after(compared, () => {
    if (!isGiven) return
    for (const [row, isListed] of listed.entries()) {
      if (isListed === 0 && recorded?.has(digests, row) !== true) change(row, false, null)
    }
  })
}

/** Where an id is in a list of ascending ones, which takes less memory than a map of them. */
function findId(ids: readonly number[], id: number): number | undefined {
  let [from, to] = [0, ids.length]
  while (from < to) {
    const middle = (from + to) >>> 1
    if ((ids[middle] ?? 0) < id) from = middle + 1
    else to = middle
  }
  return ids[from] === id ? from : undefined
}

/**
 * Finds changes that Dossier has recorded from the source already: records that report them again
 * are not further changes. Undefined if there are none.
 */
function recordedBefore({ plan, sources }: ImportContext) {
  if (plan.target.resource?.changeFields === undefined) return undefined
  const known = new Set<string>()
  const recording = new Set<number>()
  for (const [id, { name }] of sources) if (name.startsWith(`${plan.source}/`)) recording.add(id)
  if (recording.size === 0) return undefined
  return {
    note({ digests, sources }: SegmentIndex, n: number): void {
      if (recording.has(sources[n] ?? 0)) known.add(digestOf(digests, n))
    },
    has: (digests: Uint8Array, row: number) => known.has(digestOf(digests, row)),
  }
}

const digestOf = (digests: Uint8Array, n: number) =>
  digests.subarray(n * digestBytes, (n + 1) * digestBytes).join()

/** Records are present; a company may be listed although its source no longer has it. */
export function isPresentAt(shape: ListingShape, index: SegmentIndex, n: number): boolean {
  return shape !== attributesShape || statementAt(index, n).isPresent
}

/** The day of what a source said about a company. */
function dayAt(shape: ListingShape, index: SegmentIndex, n: number): string | null {
  return shape === attributesShape ? statementAt(index, n).asOf : null
}
