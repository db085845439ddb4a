// Verifies in which listings records are (`record_ids`), against the present listings.
//
// Listings are noted while they are verified; then the table is read beside their sums.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Resource } from '../../resources/resource.ts'
import { keysOf, openListings } from '../listing/open-listings.ts'
import { decodeEntries, digestBytes, type SegmentIndex } from '../listing/segment.ts'
import { type ListingShape, shapeOf } from '../listing/shape.ts'
import { inBatches } from '../listing/tables.ts'
import { companiesListed } from '../loading/company-rows.ts'
import { type RegistryDatabase, readNumbers } from '../sql/database.ts'
import type { Report } from './verify.ts'
import { createSums, findDiffering, type Side } from './verify-sums.ts'

export type IdCheck = Awaited<ReturnType<typeof createIdCheck>>

export async function createIdCheck(
  db: RegistryDatabase,
  resources: readonly Resource[],
  report: Report,
) {
  const shapes = resources.map(shapeOf)
  const sums = new Map(shapes.map(({ listing }) => [listing, createSums()]))
  const repeated = new Map<string, Repeated>()
  for (const { listing } of shapes) repeated.set(listing, await readRepeated(db, listing))
  return {
    /** Notes records of a present listing. */
    note(listing: string, companyId: number, { count, ids, sources, digests }: SegmentIndex): void {
      const own = sums.get(listing)
      const several = repeated.get(listing)
      if (own === undefined || several === undefined) return
      for (let n = 0; n < count; n++) {
        const id = ids[n] ?? 0
        own.add(companyId, hashOf(id, companyId, sources[n] ?? 0), 1)
        if (several.hasOther(id, digests, n * digestBytes)) {
          report(`${listing} identities`, `${listing}: the record ${id} has more than one content`)
        }
      }
    },
    async finish(onStep: (step: string) => void): Promise<void> {
      for (const shape of shapes) {
        const own = sums.get(shape.listing)
        await eachId(db, shape.listing, onStep, ({ id, companyId, source }) =>
          own?.add(companyId, hashOf(id, companyId, source), -1),
        )
        const isDiffering = own?.differing(sumsShownMax)
        if (isDiffering !== undefined) await findWrong(db, shape, isDiffering, report, onStep)
      }
    },
  }
}

interface IdRow {
  readonly id: number
  readonly companyId: number
  readonly source: number
}

function hashOf(id: number, companyId: number, source: number): number {
  return ((id % 2_147_483_629) * 31 + (companyId % 65_521) * 7 + source) % 2_147_483_629
}

async function eachId(
  db: RegistryDatabase,
  listing: string,
  onStep: (step: string) => void,
  look: (row: IdRow) => void,
): Promise<void> {
  const sql = `select id, company_id, source_id from record_ids where listing = '${listing}'`
  for await (const rows of db.batches(sql)) {
    for (const row of rows) {
      const [id, companyId] = [Number(row['id']), Number(row['company_id'])]
      look({ id, companyId, source: Number(row['source_id']) })
    }
    onStep('ids')
    await nextTurn()
  }
}

/** How many differing sums are looked into; more say the same. */
const sumsShownMax = 64

/** Finds the companies whose records differ, among those whose sums do. */
async function findWrong(
  db: RegistryDatabase,
  shape: ListingShape,
  isDiffering: (companyId: number) => boolean,
  report: Report,
  onStep: (step: string) => void,
): Promise<void> {
  const { listing } = shape
  const unreadable = new Set<number>()
  const kept: Side = (look) =>
    eachId(db, listing, onStep, ({ id, companyId, source }) => {
      if (isDiffering(companyId)) look(companyId, `${id} ${source}`)
    })
  const listed: Side = async (look) => {
    for await (const companyId of companiesListed(db.tables, listing)) {
      if (!isDiffering(companyId)) continue
      const records = await readRecords(db, shape, companyId)
      if (records === undefined) unreadable.add(companyId)
      for (const record of records ?? []) look(companyId, record)
      onStep('ids')
    }
  }
  for (const companyId of await findDiffering(kept, listed)) {
    if (unreadable.has(companyId)) continue
    report(`${listing} ids`, `${listing} of company ${companyId}: its ids are not kept as they are`)
  }
}

/** The ids and sources of a present listing; undefined if they cannot be read. */
async function readRecords(
  { tables }: RegistryDatabase,
  shape: ListingShape,
  companyId: number,
): Promise<ReadonlySet<string> | undefined> {
  const found = new Set<string>()
  try {
    const open = (await openListings(tables, shape.listing, [companyId])).get(companyId)
    for (const some of inBatches(keysOf(companyId, open?.leaves ?? []), 200)) {
      for (const { entries } of await tables.segments(some, 'entries')) {
        const { count, ids, sources } = decodeEntries(shape, entries, [])
        for (let n = 0; n < count; n++) found.add(`${ids[n] ?? 0} ${sources[n] ?? 0}`)
      }
    }
    return found
  } catch (error) {
    // What is missing or damaged is reported as such.
    if (!(error instanceof Error) || 'code' in error) throw error
    return undefined
  }
}

interface Repeated {
  /** Whether a record with this id has another digest than the one before. */
  hasOther(id: number, digests: Uint8Array, at: number): boolean
}

/** The records that are in several listings: they have one content. */
async function readRepeated(db: RegistryDatabase, listing: string): Promise<Repeated> {
  const sql = `
    select id from record_ids where listing = '${listing}'
    group by id having count(*) > 1 order by id`
  const ids = Float64Array.from(await readNumbers(db, sql))
  // Four bytes of each digest tell all but a few of 10 billion contents apart; 0 is none yet.
  const known = new Uint32Array(ids.length)
  return {
    hasOther(id, digests, at) {
      const place = ids.length === 0 ? -1 : placeOf(ids, id)
      if (place < 0) return false
      const [a = 0, b = 0, c = 0, d = 0] = digests.subarray(at, at + 4)
      const digest = ((a << 24) | (b << 16) | (c << 8) | d) >>> 0 || 1
      const before = known[place] ?? 0
      known[place] = digest
      return before !== 0 && before !== digest
    },
  }
}

/** The place of a number among ascending ones; -1 if it is none of them. */
function placeOf(numbers: Float64Array, number: number): number {
  let low = 0
  let high = numbers.length - 1
  while (low <= high) {
    const middle = (low + high) >>> 1
    const found = numbers[middle] ?? 0
    if (found === number) return middle
    if (found < number) low = middle + 1
    else high = middle - 1
  }
  return -1
}
