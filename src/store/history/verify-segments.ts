// Verifies segments: their bytes, and each of their records.

import { statementOf } from '../companies/attributes.ts'
import { type GivenName, givenName } from '../companies/keep-names.ts'
import type { DirectoryEntry } from '../listing/directory.ts'
import { compareOrder, keyAt } from '../listing/merge.ts'
import {
  checkSegment as findDamage,
  decodeEntries,
  type ListedRecord,
  type RecordPlace,
  recordsOf,
} from '../listing/segment.ts'
import { attributesShape, type ListingShape, typesOf } from '../listing/shape.ts'
import type { SegmentRow } from '../listing/tables.ts'
import { textIn } from '../record-texts.ts'
import type { VerifiedRegistry } from './verify-companies.ts'
import { type IdSums, sumIds } from './verify-ids.ts'

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
