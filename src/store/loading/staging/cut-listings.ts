// Listings that are cut into segments while their rows are staged: those of a first load, whose
// rows come in the order of companies and ids. Only the indexes of segments are kept here; the
// texts of their records are in the rows.
//
// A part of the file is a listing: its length, company, number of segments, length of the meta and
// one, 0 for none, the meta; then of each segment the number of records, the bytes of the greatest
// one, the length of the index, the index.

import { openTemporaryBytes } from '../../../files/temporary-folder.ts'
import { columnValuesOf } from '../../../resources/filters.ts'
import { metaTypesMax, type Resource } from '../../../resources/resource.ts'
import type { StagedRow } from '../../importing.ts'
import { type CutSegment, cutSegments, growthOfNew } from '../../listing/cut.ts'
import { compareOrder } from '../../listing/merge.ts'
import type { ListedRecord } from '../../listing/segment.ts'
import { isInIdOrder, metaOf, shapeOf, sortOf, typesOf } from '../../listing/shape.ts'
import { companyIdIn, digestIn, idIn, parseFields, textIn } from './spool.ts'

/** A listing that lacks only the texts of its records. */
export interface CutListing {
  readonly companyId: number
  readonly meta: string | null
  readonly records: number
  readonly segments: readonly Omit<CutSegment, 'texts'>[]
}

/** Cuts the listings of a resource. */
export type ListingCutter = ReturnType<typeof createListingCutter>

/** A company with more rows, or longer ones, is compared and merged in windows. */
const companyMax = { rows: 5_000, bytes: 8_388_608 }

/** @param source the number that the source of the rows probably has. */
export function createListingCutter(resource: Resource, source: number) {
  const file = openTemporaryBytes('import')
  const shape = shapeOf(resource)
  const readValues = columnValuesOf(resource)
  const isIdIndexed = shape.columns.some(({ field }) => field === 'id')
  let isWhole = true
  let company = 0
  let bytes = 0
  let records: ListedRecord[] = []

  function finish(): void {
    if (records.length === 0) return
    const types = typesOf(shape, records)
    isWhole &&= types.size <= metaTypesMax
    const meta = metaOf(shape, types)
    if (!isInIdOrder(shape)) records.sort((a, b) => compareOrder(shape, a, b))
    writeListing(file, { company, meta }, cutSegments(shape, records, growthOfNew(shape)))
    records = []
    bytes = 0
  }

  return {
    source,
    /** Takes the next row. @param staged its bytes, with its ids, which stay as they are. */
    add(row: StagedRow, staged: Buffer): void {
      const [id, companyId] = [idIn(staged), companyIdIn(staged)]
      if (companyId !== company) finish()
      company = companyId
      const text = textIn(staged)
      bytes += text.length
      isWhole &&= records.length < companyMax.rows && bytes <= companyMax.bytes
      if (!isWhole) return
      const fields = row.fields ?? parseFields(text)
      const values = readValues(isIdIndexed ? { ...fields, id } : fields)
      const sort = sortOf(shape, row.sort)
      records.push({ id, sort, source, digest: digestIn(staged), values, text })
    },
    /** Whether no company has had too many rows, or types. */
    isWhole(): boolean {
      finish()
      return isWhole
    },
    /** The listings, in the order of companies. */
    *listings(): Generator<CutListing, undefined> {
      for (const { bytes: part } of file.parts()) yield* listingsIn(part)
      return undefined
    },
    close: file.close,
  }
}

function writeListing(
  file: ReturnType<typeof openTemporaryBytes>,
  { company, meta }: { readonly company: number; readonly meta: string | null },
  segments: readonly CutSegment[],
): void {
  const metaBytes = meta === null ? 0 : Buffer.byteLength(meta)
  let length = 20 + metaBytes
  for (const { entries } of segments) length += 12 + entries.length
  const { buffer, from } = file.reserve(length)
  let at = buffer.writeUInt32LE(length, from)
  at = buffer.writeDoubleLE(company, at)
  at = buffer.writeUInt32LE(segments.length, at)
  at = buffer.writeUInt32LE(meta === null ? 0 : metaBytes + 1, at)
  if (meta !== null) at += buffer.write(meta, at)
  for (const { entries, count, largest } of segments) {
    for (const number of [count, largest, entries.length]) at = buffer.writeUInt32LE(number, at)
    buffer.set(entries, at)
    at += entries.length
  }
  file.take(length)
}

function* listingsIn(part: Buffer): Generator<CutListing> {
  let at = 0
  const number = () => part.readUInt32LE((at += 4) - 4)
  while (at < part.length) {
    const companyId = part.readDoubleLE(at + 4)
    at += 12
    const [segmentCount, metaLength] = [number(), number()]
    const metaEnd = at + Math.max(0, metaLength - 1)
    const meta = metaLength === 0 ? null : part.toString('utf8', at, metaEnd)
    at = metaEnd
    let records = 0
    const segments = Array.from({ length: segmentCount }, () => {
      const [count, largest, length] = [number(), number(), number()]
      records += count
      // A copy: the next listings are read into this memory.
      return { count, largest, entries: Buffer.from(part.subarray(at, (at += length))) }
    })
    yield { companyId, meta, records, segments }
  }
}
