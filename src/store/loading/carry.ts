// The indexes of listings that an import is compared with; and changes that are carried on: a
// changed record changes in all its listings, including those that the import does not mention.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { type OpenListing, openListings, keysOf, readIndexes } from '../listing/open-listings.ts'
import type { ImportContext } from './context.ts'
import { inBatches } from '../listing/tables.ts'
import { decodeEntries, digestBytes, type SegmentIndex, valueAt } from '../listing/segment.ts'
import type { ListingShape } from '../listing/shape.ts'

const idsAtOnce = 1_000
const companiesAtOnce = 200

const createCarried = `
  create table if not exists carried (
    company_id integer, id integer, seq integer, primary key (company_id, id)
  ) without rowid`

/** A record that is in `change` is given for that company, or carried to it already. */
const insertCarried = `
  insert or ignore into carried select $company, $id, $seq
  where not exists (select 1 from change where company_id = $company and id = $id)`

/**
 * Adds the changes of records in listings that the import does not give them for. A snapshot
 * removes them from those, unless a row of the record was refused.
 *
 * @param onChange is called for each listing that it changes.
 */
export async function carryChanges(
  context: ImportContext,
  onChange: (listing: OpenListing) => void,
): Promise<void> {
  const { staging, tables, plan } = context
  const { name } = plan.target
  await findHolders(context)
  for (const batch of inBatches(carriedByCompany(context), companiesAtOnce)) {
    const companies = batch.map(({ company }) => company)
    const open = await openListings(tables, name, companies)
    const indexes = await readSmall(context, open)
    for (const carried of batch) {
      const listing = open.get(carried.company)
      if (listing === undefined) continue
      if (await carryTo(context, listing, carried, indexes)) onChange(listing)
    }
    await nextTurn()
  }
  staging.run('delete from carried')
}

/** Fills `carried` with the listings of changed records, beyond those in `change`. */
async function findHolders({ staging, tables, plan }: ImportContext): Promise<void> {
  staging.run(createCarried)
  const refusedOnly = plan.isSnapshot
    ? 'where id in (select id from stage where digest is null)'
    : ''
  const ids = staging.iterate(`select id, min(seq) from change ${refusedOnly} group by id`)
  for (const batch of inBatches(ids, idsAtOnce)) {
    const seqs = new Map(batch.map(([id, seq]) => [Number(id), Number(seq)]))
    for (const { id, companyId } of await tables.whereListed(plan.target.name, [...seqs.keys()])) {
      staging.run(insertCarried, { company: companyId, id, seq: seqs.get(id) ?? 0 })
    }
  }
}

/** Records that change in a listing, by id: the row that changes each, and its digest. */
interface Carried {
  readonly company: number
  readonly rows: Map<number, { readonly seq: number; readonly digest: Uint8Array }>
}

function* carriedByCompany({ staging }: ImportContext): Generator<Carried> {
  let last: Carried | undefined
  for (const [company, id, seq, digest] of staging.iterate(`
    select c.company_id, c.id, c.seq, s.digest
    from carried c cross join stage s on s.seq = c.seq order by c.company_id, c.id`)) {
    if (last === undefined || last.company !== company) {
      if (last !== undefined) yield last
      last = { company: Number(company), rows: new Map() }
    }
    last.rows.set(Number(id), { seq: Number(seq), digest: digest as Uint8Array })
  }
  if (last !== undefined) yield last
}

/** @returns whether the listing changes: it may have what the row says already. */
async function carryTo(
  context: ImportContext,
  listing: OpenListing,
  { company, rows }: Carried,
  known: Indexes,
): Promise<boolean> {
  const { staging } = context
  let isChanged = false
  for await (const indexes of indexesOf(context, listing, known)) {
    for (const index of indexes) {
      for (let n = 0; n < index.count; n++) {
        const id = index.ids[n] ?? 0
        const row = rows.get(id)
        if (row === undefined || hasDigest(index, n, row.digest, 0)) continue
        staging.insert('change', company, id, row.seq, 1, 0, typeAt(context, index, n))
        isChanged = true
      }
    }
  }
  return isChanged
}

/** How many segments of a listing are read at once. */
const segmentsAtOnce = 400

/** The indexes of listings, by company. */
export type Indexes = ReadonlyMap<number, readonly SegmentIndex[]>

/** The indexes of listings of few segments, read at once. */
export const readSmall = (
  { tables, shape }: ImportContext,
  open: ReadonlyMap<number, OpenListing>,
): Promise<Indexes> => readIndexes(tables, shape, open, { each: segmentsAtOnce }, wantedOf(shape))

/** The indexes of a listing, some at a time. */
export async function* indexesOf(
  { tables, shape }: ImportContext,
  { head, leaves }: OpenListing,
  known: Indexes,
): AsyncGenerator<readonly SegmentIndex[]> {
  const read = known.get(head.companyId)
  if (read !== undefined) {
    yield read
    return
  }
  for (const batch of inBatches(leaves, segmentsAtOnce)) {
    const rows = await tables.segments(keysOf(head.companyId, batch), 'entries')
    yield rows.map(({ entries }) => decodeEntries(shape, entries, wantedOf(shape)))
    await nextTurn()
  }
}

/** Comparing needs no column but that of the types that `meta` counts. */
const wantedOf = ({ metaColumn }: ListingShape) => (metaColumn === undefined ? [] : [metaColumn])

/** Whether a record has the digest at a place of others. */
export function hasDigest(
  { digests }: SegmentIndex,
  n: number,
  others: Uint8Array,
  place: number,
): boolean {
  const [from, to] = [n * digestBytes, place * digestBytes]
  for (let at = 0; at < digestBytes; at++) if (digests[from + at] !== others[to + at]) return false
  return true
}

/** The type of a record that `meta` counts. */
export function typeAt({ shape }: ImportContext, index: SegmentIndex, n: number): string | null {
  const column = shape.metaColumn === undefined ? undefined : index.columns[shape.metaColumn]
  return column?.type === 'text' ? (valueAt(column, n) as string | null) : null
}
