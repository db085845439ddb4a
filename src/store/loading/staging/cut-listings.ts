// Cuts listings into segments while their rows are staged: those of a first load whose rows are in
// the order of companies and ids.
//
// A part of the file is a listing: its length, company, number of segments, length of the meta plus
// one (0 for none), the meta; then for each segment the number of records, the bytes of the largest
// one, the lengths of the index and of the texts, the index, the texts.

import { openTemporaryBytes } from '../../../files/temporary-folder.ts'
import { columnValuesOf } from '../../../resources/filters.ts'
import { metaTypesMax, type Resource } from '../../../resources/resource.ts'
import type { StagedRow } from '../../importing.ts'
import { type CutSegment, cutSegments, growthOfNew } from '../../listing/cut.ts'
import { compareOrder } from '../../listing/merge.ts'
import type { ListedRecord } from '../../listing/segment.ts'
import { isInIdOrder, metaOf, shapeOf, sortOf, typesOf } from '../../listing/shape.ts'
import { companyIdIn, digestIn, idIn, parseFields, textIn } from './spool.ts'

interface CutListing {
  readonly companyId: number
  readonly meta: string | null
  readonly segments: readonly CutSegment[]
}

/** Cuts and stores the listings of a resource. */
export type ListingCutter = ReturnType<typeof createListingCutter>

/** A company with more rows, or longer ones, is compared and merged in windows. */
const companyMax = { rows: 5_000, bytes: 8_388_608 }

/** @param source the number that the source of the rows probably has. */
export function createListingCutter(resource: Resource, source: number) {
  const file = openTemporaryBytes()
  const shape = shapeOf(resource)
  const readValues = columnValuesOf(resource)
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
    /** Takes the next row. @param staged its bytes, which do not change. */
    add(row: StagedRow, staged: Buffer): void {
      const [id, companyId] = [idIn(staged), companyIdIn(staged)]
      if (companyId !== company) finish()
      company = companyId
      const text = textIn(staged)
      bytes += text.length
      isWhole &&= records.length < companyMax.rows && bytes <= companyMax.bytes
      if (!isWhole) return
      const values = readValues(row.fields ?? parseFields(text))
      const sort = sortOf(shape, row.sort)
      records.push({ id, sort, source, digest: digestIn(staged), values, text })
    },
    /** Whether no company has had too many rows, or types. */
    isWhole(): boolean {
      finish()
      return isWhole
    },
    /** The companies that have listings, in ascending order. */
    *companies(): Generator<number> {
      for (const { bytes } of file.parts()) {
        for (let at = 0; at < bytes.length; at += bytes.readUInt32LE(at)) {
          yield bytes.readDoubleLE(at + companyAt)
        }
      }
    },
    /** The listings in this order, some at a time; their bytes are valid until the next ones. */
    *listings(): Generator<Iterable<CutListing>> {
      for (const { bytes } of file.parts()) yield listingsIn(bytes)
    },
    close: file.close,
  }
}

// Where the parts of a listing begin.
const companyAt = 4
const listingHeadBytes = 20
const segmentHeadBytes = 16

function writeListing(
  file: ReturnType<typeof openTemporaryBytes>,
  { company, meta }: { readonly company: number; readonly meta: string | null },
  segments: readonly CutSegment[],
): void {
  const metaBytes = meta === null ? 0 : Buffer.byteLength(meta)
  let length = listingHeadBytes + metaBytes
  for (const { entries, texts } of segments) {
    length += segmentHeadBytes + entries.length + texts.length
  }
  const { buffer, from } = file.reserve(length)
  let at = buffer.writeUInt32LE(length, from)
  at = buffer.writeDoubleLE(company, at)
  at = buffer.writeUInt32LE(segments.length, at)
  at = buffer.writeUInt32LE(meta === null ? 0 : metaBytes + 1, at)
  if (meta !== null) at += buffer.write(meta, at)
  for (const { count, largest, entries, texts } of segments) {
    const numbers = [count, largest, entries.length, texts.length]
    for (const number of numbers) at = buffer.writeUInt32LE(number, at)
    buffer.set(entries, at)
    buffer.set(texts, (at += entries.length))
    at += texts.length
  }
  file.take(length)
}

function* listingsIn(part: Buffer): Generator<CutListing> {
  let at = 0
  const number = () => part.readUInt32LE((at += 4) - 4)
  const take = (length: number) => part.subarray(at, (at += length))
  while (at < part.length) {
    const companyId = part.readDoubleLE(at + companyAt)
    at += companyAt + 8
    const [segmentCount, metaLength] = [number(), number()]
    const meta = metaLength === 0 ? null : take(metaLength - 1).toString()
    const segments = Array.from({ length: segmentCount }, () => {
      const [count, largest, length, textsLength] = [number(), number(), number(), number()]
      return { count, largest, entries: take(length), texts: take(textsLength) }
    })
    yield { companyId, meta, segments }
  }
}
