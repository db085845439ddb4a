// Verifies segments: their bytes, and each of their records; sums up their ids.

import { statementOf } from '../companies/attributes.ts'
import { type GivenName, givenName } from '../companies/keep-names.ts'
import type { DirectoryEntry } from '../listing/directory.ts'
import { compareOrder, keyAt } from '../listing/merge.ts'
import {
  checkSegment as findDamage,
  decodeEntries,
  digestBytes,
  type ListedRecord,
  type RecordPlace,
  recordsOf,
  type SegmentIndex,
} from '../listing/segment.ts'
import { attributesShape, type ListingShape, typesOf } from '../listing/shape.ts'
import type { SegmentRow } from '../listing/tables.ts'
import { textIn } from '../record-texts.ts'
import type { RegistryDatabase } from '../sql/database.ts'
import type { VerifiedRegistry } from './verify-companies.ts'

/** What the checks of heads need to know about a segment. */
export interface SegmentSummary extends DirectoryEntry {
  readonly first: RecordPlace
  readonly last: RecordPlace
  /** How many of its records have each type. */
  readonly types: ReadonlyMap<string, number>
  readonly ids: IdSums
  /** The names that sources give a company now; none for records of a resource, or of the past. */
  readonly names: readonly GivenName[]
}

/** Checks a segment and its records; undefined if it is damaged. */
export function checkSegment(
  registry: VerifiedRegistry,
  shape: ListingShape,
  { segment, companyId, entries, texts }: SegmentRow,
  isPresent: boolean,
): SegmentSummary | undefined {
  const { listing } = shape
  const fault = (sentence: string): undefined => {
    registry.report('segments', `segment ${segment} of company ${companyId}: ${sentence}`)
  }
  if (texts === null) return fault('it has no texts')
  const damage = findDamage(shape, entries, texts)
  if (damage !== undefined) return fault(damage)
  const index = decodeEntries(shape, entries)
  const records = [...recordsOf(index, texts)]
  if (index.count === 0) return fault('it has no records')
  checkRecords(registry, shape, records, { companyId, isPresent })
  if (isPresent) {
    for (const id of registry.shared.differing(listing, index)) {
      registry.report(
        `${listing} identities`,
        `${listing}: the record ${id} has more than one content`,
      )
    }
  }
  return {
    segment,
    records: records.length,
    bytes: texts.length,
    largest: Math.max(...index.lengths),
    first: keyAt(index, 0),
    last: keyAt(index, -1),
    types: typesOf(shape, records),
    ids: sumIds(index),
    // A company may have as many past states as there are versions.
    names: shape === attributesShape && isPresent ? namesIn(records, registry) : [],
  }
}

function namesIn(
  records: readonly ListedRecord[],
  { sources }: VerifiedRegistry,
): readonly GivenName[] {
  return records.flatMap((record) => {
    try {
      return givenName(record, sources) ?? []
    } catch {
      // Attributes that are not JSON are reported as such.
      return []
    }
  })
}

function checkRecords(
  { checks, report, versions, sources, resources }: VerifiedRegistry,
  shape: ListingShape,
  records: Iterable<ListedRecord>,
  { companyId, isPresent }: { readonly companyId: number; readonly isPresent: boolean },
): void {
  const { listing } = shape
  const resource = resources.get(listing)
  const state = isPresent ? '' : ', past state'
  let before: ListedRecord | undefined
  for (const record of records) {
    const place =
      resource === undefined
        ? `attributes of company ${companyId}${state}`
        : `${listing} of company ${companyId}, record ${record.id}${state}`
    const fault = (sentence: string) => report(`${listing} records`, `${place}: ${sentence}`)
    if (before !== undefined && compareOrder(shape, before, record) >= 0) {
      fault(`the record ${record.id} is out of order`)
    }
    before = record
    if (!sources.has(record.source)) fault(`the source ${record.source} is not known`)
    const text = textIn(record.text)
    const reason =
      resource === undefined
        ? (checkStatement(record, versions) ?? checks.checkAttributes(text, record.digest))
        : checks.checkRecord(resource, { ...record, text })
    if (reason !== undefined) fault(reason)
  }
}

/** Checks what is stored along with a source's attributes. */
function checkStatement(record: ListedRecord, versions: ReadonlySet<number>): string | undefined {
  const { version } = statementOf(record)
  if (record.id !== record.source) return 'is not in the place of its source'
  return versions.has(version) ? undefined : `is of version ${version}, which does not exist`
}

/**
 * Of the records of a listing, their number, and sums of their ids, and of ids with sources. The
 * database computes them over `record_ids`, since a listing may have millions of ids.
 */
export type IdSums = readonly [records: number, ids: number, pairs: number]

export const noIds: IdSums = [0, 0, 0]

/** The columns of a query on `record_ids`; the remainders keep the sums exact in JavaScript. */
export const idSums = `
  count(*), cast(sum(id % 16777213) as bigint),
  cast(sum((id % 8191 + 1) * (id % 8179 + source_id)) as bigint)`

/** The same sums over the records of a segment. */
function sumIds({ count, ids, sources }: SegmentIndex): IdSums {
  let [all, pairs] = [0, 0]
  for (const [n, id] of ids.entries()) {
    all += id % 16_777_213
    pairs += ((id % 8_191) + 1) * ((id % 8_179) + (sources[n] ?? 0))
  }
  return [count, all, pairs]
}

export const addSums = (a: IdSums, b: IdSums): IdSums => [a[0] + b[0], a[1] + b[1], a[2] + b[2]]

export type SharedRecords = Awaited<ReturnType<typeof readShared>>

/** Reads which records are in several listings, where they have one content. */
export async function readShared(db: Pick<RegistryDatabase, 'batches'>) {
  const contents = new Map<string, Map<number, number | undefined>>()
  const sql = 'select listing, id from record_ids group by listing, id having count(*) > 1'
  for await (const rows of db.batches<[listing: string, id: number]>(sql)) {
    for (const [listing, id] of rows) {
      const own = contents.get(listing) ?? new Map<number, undefined>()
      contents.set(listing, own.set(id, undefined))
    }
  }
  return {
    /** The ids of the records of a segment that have different content elsewhere. */
    *differing(listing: string, { ids, digests }: SegmentIndex): Generator<number> {
      const own = contents.get(listing)
      if (own === undefined) return
      for (const [n, id] of ids.entries()) {
        if (!own.has(id)) continue
        // 48 bits of a digest tell any two contents apart.
        const [content, before] = [digests.readUIntLE(n * digestBytes, 6), own.get(id)]
        own.set(id, content)
        if (before !== undefined && before !== content) yield id
      }
    },
  }
}
