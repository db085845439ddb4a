// Verifies segments: their bytes, each of their records, and that a head names them.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { statementOf } from '../companies/attributes.ts'
import { compareOrder } from '../listing/merge.ts'
import { countTypes } from '../listing/shape.ts'
import {
  checkSegment,
  decodeEntries,
  type ListedRecord,
  recordsOf,
  type SegmentIndex,
} from '../listing/segment.ts'
import type { DirectoryEntry } from '../listing/directory.ts'
import {
  inBatches,
  type ListingTables,
  type SegmentKey,
  type SegmentRow,
} from '../listing/tables.ts'
import type { RegistryDatabase } from '../sql/database.ts'
import { textIn } from '../record-texts.ts'
import type { Report } from './verify.ts'
import type { HeadChecks } from './verify-heads.ts'
import type { CheckedKind } from './verify-listings.ts'

/** What heads have to know of a segment. */
export interface SegmentSummary {
  readonly count: number
  readonly bytes: number
  readonly largest: number
  readonly first: Place
  readonly last: Place
  /** How many of its records have each type. */
  readonly types: ReadonlyMap<string, number>
  /** What sources say about a company; undefined for records of a resource. */
  readonly records: readonly ListedRecord[] | undefined
}

type Place = Pick<ListedRecord, 'id' | 'sort'>

const segmentsAtOnce = 200

export function createSegmentCheck(tables: ListingTables, context: HeadChecks) {
  const { report, named } = context
  /** Undefined for a segment that is missing or damaged. */
  let summaries = new Map<number, SegmentSummary | undefined>()

  function check(row: SegmentRow, kind: CheckedKind, isPresent: boolean): void {
    named.add(row.segment)
    const place = `segment ${row.segment} of company ${row.companyId}`
    const { shape } = kind
    const fault =
      row.texts === null ? 'it has no texts' : checkSegment(shape, row.entries, row.texts)
    if (fault !== undefined || row.texts === null) {
      report('segments', `${place}: ${fault ?? ''}`)
      return
    }
    const index = decodeEntries(shape, row.entries)
    if (index.count === 0) report('segments', `${place}: it has no records`)
    else summaries.set(row.segment, summarise(kind, index, row.texts))
    if (isPresent) context.ids.note(shape.listing, row.companyId, index)
    checkRecords(context, kind, index, { ...row, texts: row.texts, isPresent })
  }

  return {
    find: (segment: number) => summaries.get(segment),
    forget: () => void (summaries = new Map()),
    /** Leaves out the segments of listings of which nothing is known. */
    skip(leaves: readonly DirectoryEntry[] | undefined): void {
      for (const { segment } of leaves ?? []) named.add(segment)
    },
    /** Checks those segments that were not read yet. */
    async read(keys: readonly SegmentKey[], kind: CheckedKind, isPresent: boolean): Promise<void> {
      const unread = new Map(
        keys.filter(({ segment }) => !summaries.has(segment)).map((key) => [key.segment, key]),
      )
      for (const some of inBatches(unread.values(), segmentsAtOnce)) {
        for (const { segment } of some) summaries.set(segment, undefined)
        for (const row of await readRows(tables, some, context)) check(row, kind, isPresent)
      }
    },
  }
}

/** Reads segments at once, or one after another if one is missing. */
async function readRows(
  tables: ListingTables,
  keys: readonly SegmentKey[],
  { report }: HeadChecks,
): Promise<readonly SegmentRow[]> {
  try {
    return await tables.segments(keys, 'both')
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  const rows: SegmentRow[] = []
  for (const key of keys) {
    try {
      rows.push(...(await tables.segments([key], 'both')))
    } catch (error) {
      if (!isMissing(error)) throw error
      report('segments', error.message)
    }
  }
  return rows
}

/** Errors of a database have a code. */
export function isMissing(error: unknown): error is Error {
  return error instanceof Error && !('code' in error)
}

function summarise(
  { shape, resource }: CheckedKind,
  index: SegmentIndex,
  texts: Uint8Array,
): SegmentSummary {
  const last = index.count - 1
  const placeAt = (n: number) => ({ id: index.ids[n] ?? 0, sort: index.sorts[n] ?? 0 })
  return {
    count: index.count,
    bytes: texts.length,
    largest: Math.max(...index.lengths),
    first: placeAt(0),
    last: placeAt(last),
    types: countTypes(shape, index),
    records: resource === undefined ? [...recordsOf(index, texts)] : undefined,
  }
}

interface CheckedRow extends SegmentRow {
  readonly texts: Uint8Array
  readonly isPresent: boolean
}

function checkRecords(
  { checks, report, known }: HeadChecks,
  { shape, resource }: CheckedKind,
  index: SegmentIndex,
  { companyId, texts, isPresent }: CheckedRow,
): void {
  const { listing } = shape
  const state = isPresent ? '' : ', past state'
  let before: ListedRecord | undefined
  for (const record of recordsOf(index, texts)) {
    const place =
      resource === undefined
        ? `attributes of company ${companyId}${state}`
        : `${listing} of company ${companyId}, record ${record.id}${state}`
    const fault = (sentence: string) => report(`${listing} records`, `${place}: ${sentence}`)
    if (before !== undefined && compareOrder(shape, before, record) >= 0) {
      fault(`the record ${record.id} is out of order`)
    }
    before = record
    if (!known.hasSource(record.source)) fault(`the source ${record.source} is not known`)
    const text = textIn(record.text)
    const reason =
      resource === undefined
        ? (checkStatement(record, known) ?? checks.checkAttributes(text, record.digest))
        : checks.checkRecord(resource, { ...record, text })
    if (reason !== undefined) fault(reason)
  }
}

/** What is kept beside a source's attributes. */
function checkStatement(
  record: ListedRecord,
  { hasVersion }: HeadChecks['known'],
): string | undefined {
  const { version } = statementOf(record)
  if (record.id !== record.source) return 'is not in the place of its source'
  return hasVersion(version) ? undefined : `is of version ${version}, which is not known`
}

export type NumberSet = ReturnType<typeof createNumberSet>

/** A set of the numbers of segments, of which there may be many millions: a bit each. */
export function createNumberSet() {
  let bits = new Uint8Array(1_024)
  return {
    add(number: number): void {
      const at = Math.floor(number / 8)
      if (at >= bits.length) {
        const larger = new Uint8Array(2 * at)
        larger.set(bits)
        bits = larger
      }
      bits[at] = (bits[at] ?? 0) | (1 << (number % 8))
    },
    has: (number: number) => ((bits[Math.floor(number / 8)] ?? 0) & (1 << (number % 8))) !== 0,
  }
}

/** Compares the segments that are there with those that heads name. */
export async function checkOrphans(
  db: RegistryDatabase,
  named: NumberSet,
  report: Report,
  onStep: (step: string) => void,
): Promise<void> {
  const last = await db.tables.lastSegment()
  for await (const rows of db.batches('select segment, company_id from segments')) {
    onStep('segments')
    for (const row of rows) {
      const [segment, company] = [Number(row['segment']), String(row['company_id'])]
      const place = `segment ${segment} of company ${company}`
      if (!named.has(segment)) report('segments', `${place}: no head names it`)
      if (segment > last) report('segments', `${place}: its number is above the last one, ${last}`)
    }
    await nextTurn()
  }
}
