// Reads all records of a resource at a version, company by company, a part at a time: in whole
// segments, without looking at their records. Companies are read as changes since nothing was
// known.

import type { Resource } from '../../resources/resource.ts'
import type { HistoryPoint, NamedPoint, NoChanges } from '../changes.ts'
import { findSpan } from '../changes/find-span.ts'
import { readChanges } from '../changes/read-changes.ts'
import { decodeDirectory, findRange } from '../listing/directory.ts'
import { attributesShape, shapeOf } from '../listing/shape.ts'
import { DamagedStoreError, type SegmentKey } from '../listing/tables.ts'
import { splitTexts } from '../record-texts.ts'
import type { Snapshot } from '../sql/database.ts'

export interface CopyRequest {
  /** Undefined for companies. */
  readonly resource: Resource | undefined
  readonly until: NamedPoint
  /** Only what follows this place. */
  readonly after: CopyPlace | undefined
}

/** How many records of a company were read, after all of the companies before it. */
interface CopyPlace {
  readonly companyId: number
  readonly records: number
}

/** Consecutive records of a company. */
export interface CopiedRecords {
  readonly companyId: number
  readonly records: number
  /** As they are served, joined by commas. */
  readonly texts: Uint8Array
}

export interface CopyPart {
  readonly until: HistoryPoint
  readonly copied: readonly CopiedRecords[]
  /** Where the next part begins; undefined if there is none. */
  readonly next: CopyPlace | undefined
}

/** About how many bytes are read at once. */
const bytesMax = 1 << 21
/** How many companies are looked up at once: the shorter their listings, the more. */
const [companiesAtFirst, companiesAtOnce] = [50, 800]
/** How far a directory is followed at once. */
const recordsAtOnce = 2_000

/** How many companies are read at once. */
const companiesLimit = 2_000

/** A part of a copy; or why there is none. */
export async function readCopy(
  snapshot: Snapshot,
  request: CopyRequest,
): Promise<CopyPart | NoChanges> {
  const { resource, until, after } = request
  if (resource === undefined) return readCompanies(snapshot, request)
  const registry = await snapshot.registry()
  const span = await findSpan(snapshot, registry, { since: { version: 0 }, until })
  if ('none' in span) return span
  const { keys, counts, next } = await findSegments(snapshot, resource, span.until.version, after)
  const rows = await snapshot.tables.segments(keys, 'both')
  const copied = rows.map(({ companyId, texts }, n): CopiedRecords => {
    return { companyId, records: counts[n] ?? 0, texts }
  })
  return { until: span.until, copied, next }
}

async function readCompanies(
  snapshot: Snapshot,
  { until, after }: CopyRequest,
): Promise<CopyPart | NoChanges> {
  const { listing } = attributesShape
  const page = await readChanges(snapshot, {
    since: { version: 0, lineage: '' },
    until,
    after: after && { listing, version: 0, companyId: after.companyId, record: undefined },
    hasCompanies: true,
    resources: [],
    companyId: undefined,
    limit: companiesLimit,
  })
  if ('none' in page) return page
  const copied = page.changes.flatMap(({ ids, lengths, texts }) => {
    if (texts === undefined) throw new Error('a company that is gone has no text')
    return splitTexts(texts, lengths).map((text, n): CopiedRecords => {
      return { companyId: ids[n] ?? 0, records: 1, texts: text }
    })
  })
  const next = page.next && { companyId: page.next.companyId, records: 0 }
  return { until: page.until, copied, next }
}

/** The segments of the next part, with the numbers of their records. */
async function findSegments(
  { tables }: Snapshot,
  resource: Resource,
  version: number,
  begin: CopyPlace = { companyId: 0, records: 0 },
) {
  const { listing } = shapeOf(resource)
  const keys: SegmentKey[] = []
  const counts: number[] = []
  let [after, bytes] = [begin.companyId - 1, 0]
  for (let limit = companiesAtFirst; ; limit = Math.min(companiesAtOnce, 2 * limit)) {
    const ids = await tables.companiesWith(listing, { after, limit })
    for (const { companyId, directory, total } of await tables.heads(listing, ids, version)) {
      const all = decodeDirectory(directory)
      const read = (nodes: readonly number[]) => tables.entries(companyId, nodes)
      let records = companyId === begin.companyId ? begin.records : 0
      while (records < total) {
        const { entries } = await findRange(all, records, recordsAtOnce, read)
        if (entries.length === 0) {
          throw new DamagedStoreError(`${listing} of company ${companyId} has too few segments`)
        }
        for (const entry of entries) {
          if (bytes >= bytesMax) return { keys, counts, next: { companyId, records } }
          keys.push({ companyId, segment: entry.segment })
          counts.push(entry.records)
          records += entry.records
          bytes += entry.bytes
        }
      }
    }
    const last = ids.at(-1)
    if (last === undefined) return { keys, counts, next: undefined }
    after = last
  }
}
