// Cuts listings into segments as their rows are read: those of a first load whose rows are in the
// order of companies and ids. The rows are in no other file, but can be read back from this one.
//
// A part of the file is a listing: its length, company, number of segments, length of the meta plus
// one (0 for none), the meta; then for each segment the number of records, the bytes of the largest
// one, the lengths of the index and of the texts, the index, the texts; then the places of the rows
// in the order read, as doubles: the index of the file, and the number.

import { openTemporaryBytes } from '../../../files/temporary-folder.ts'
import { columnValuesOf } from '../../../resources/filters.ts'
import { metaTypesMax, type Resource } from '../../../resources/resource.ts'
import type { Place, StagedRow } from '../../importing.ts'
import { type CutSegment, cutSegments, growthOfNew } from '../../listing/cut.ts'
import { compareOrder } from '../../listing/merge.ts'
import { decodeEntries, digestBytes, type ListedRecord, recordsOf } from '../../listing/segment.ts'
import { isInIdOrder, metaOf, shapeOf, sortOf, typesOf } from '../../listing/shape.ts'
import { latin1In } from '../../record-texts.ts'
import { parseFields, textBytesMax, writeDigest, writeText } from './spool.ts'

interface CutListing {
  readonly companyId: number
  readonly meta: string | null
  readonly segments: readonly CutSegment[]
  /** The file and the number of each row, in the order read. */
  readonly places: Float64Array
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
  const memory = createMemory()
  let isWhole = true
  let company = 0
  let bytes = 0
  let records: ListedRecord[] = []
  let places: number[] = []

  function finish(): void {
    if (records.length === 0) return
    const types = typesOf(shape, records)
    isWhole &&= types.size <= metaTypesMax
    const meta = metaOf(shape, types)
    if (!isInIdOrder(shape)) records.sort((a, b) => compareOrder(shape, a, b))
    const segments = cutSegments(shape, records, growthOfNew(shape))
    writeListing(file, { companyId: company, meta, segments, places: Float64Array.from(places) })
    bytes = 0
    records = []
    places = []
    memory.clear()
  }

  /** The listings in this order, some at a time; their bytes are valid until the next ones. */
  function* listings(): Generator<Iterable<CutListing>> {
    for (const { bytes } of file.parts()) yield listingsIn(bytes)
  }

  return {
    source,
    /** Takes the next row, which has the id of a company and its own. */
    add({ file, number }: Place, row: StagedRow): void {
      const { id, companyId } = row
      if (id === null || companyId === null) throw new Error('a row in order has ids')
      if (companyId !== company) finish()
      company = companyId
      const { text, digest } = memory.keep(id, row)
      const values = readValues(row.fields ?? parseFields(text))
      records.push({ id, sort: sortOf(shape, row.sort), source, digest, values, text })
      places.push(file, number)
      bytes += text.length
      isWhole &&= records.length <= companyMax.rows && bytes <= companyMax.bytes
    },
    /** Whether no company has had too many rows, or types. */
    isWhole: () => isWhole,
    /** Ends the last listing. */
    finish,
    /** The companies that have listings, in ascending order. */
    *companies(): Generator<number> {
      for (const { bytes } of file.parts()) {
        for (let at = 0; at < bytes.length; at += bytes.readUInt32LE(at)) {
          yield bytes.readDoubleLE(at + companyAt)
        }
      }
    },
    listings,
    /** The rows in the order read. */
    *rows(): Generator<readonly [Place, StagedRow]> {
      finish()
      for (const some of listings()) for (const one of some) yield* rowsOf(resource, one)
    },
    close: file.close,
  }
}

/** Memory for the records of one listing, which is used again for the next one. */
function createMemory() {
  let memory = Buffer.allocUnsafeSlow(65_536)
  let end = 0
  return {
    /** Keeps the text and the digest of a row. */
    keep(id: number, { content, digest }: StagedRow) {
      const most = digestBytes + textBytesMax(content)
      if (end + most > memory.length) {
        // The records so far keep their memory.
        memory = Buffer.allocUnsafeSlow(Math.max(2 * memory.length, most))
        end = 0
      }
      const textAt = end + digestBytes
      writeDigest(memory, digest, end)
      const kept = { digest: memory.subarray(end, textAt) }
      end = textAt + writeText(memory, textAt, id, content)
      return { ...kept, text: memory.subarray(textAt, end) }
    },
    clear: () => void (end = 0),
  }
}

/** The rows of a listing as they were staged, in the order read. */
function* rowsOf(
  resource: Resource,
  { companyId, segments, places }: CutListing,
): Generator<readonly [Place, StagedRow]> {
  const shape = shapeOf(resource)
  const records = segments.flatMap(({ entries, texts }) => [
    ...recordsOf(decodeEntries(shape, entries), texts),
  ])
  records.sort((a, b) => a.id - b.id)
  let n = 0
  for (const record of records) {
    const place = { file: places[n++] ?? 0, number: places[n++] ?? 0 }
    yield [place, { companyId, ...rowOf(resource, record) }]
  }
}

function rowOf({ order }: Resource, { id, digest, text }: ListedRecord) {
  const bytes = Buffer.from(text)
  const content = bytes.subarray(bytes.indexOf(comma))
  const sort = order.by === 'id' ? '' : (parseFields(bytes)[order.by] as string)
  // The text without its id begins where this has a comma.
  content[0] = brace
  const named = { companyJurisdiction: null, companyIdentifier: null, key: null, asOf: null }
  return { ...named, id, sort, digest: latin1In(digest), content }
}

const [comma, brace] = [0x2c, 0x7b]

// Where the parts of a listing begin.
const companyAt = 4
const listingHeadBytes = 20
const segmentHeadBytes = 16

function writeListing(
  file: ReturnType<typeof openTemporaryBytes>,
  { companyId, meta, segments, places }: CutListing,
): void {
  const metaBytes = meta === null ? 0 : Buffer.byteLength(meta)
  let length = listingHeadBytes + metaBytes + places.byteLength
  for (const { entries, texts } of segments) {
    length += segmentHeadBytes + entries.length + texts.length
  }
  const { buffer, from } = file.reserve(length)
  let at = buffer.writeUInt32LE(length, from)
  at = buffer.writeDoubleLE(companyId, at)
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
  buffer.set(Buffer.from(places.buffer), at)
  file.take(length)
}

function* listingsIn(part: Buffer): Generator<CutListing> {
  let at = 0
  const number = () => part.readUInt32LE((at += 4) - 4)
  const take = (length: number) => part.subarray(at, (at += length))
  while (at < part.length) {
    const end = at + part.readUInt32LE(at)
    const companyId = part.readDoubleLE(at + companyAt)
    at += companyAt + 8
    const [segmentCount, metaLength] = [number(), number()]
    const meta = metaLength === 0 ? null : take(metaLength - 1).toString()
    const segments = Array.from({ length: segmentCount }, () => {
      const [count, largest, length, textsLength] = [number(), number(), number(), number()]
      return { count, largest, entries: take(length), texts: take(textsLength) }
    })
    const places = new Float64Array(Uint8Array.from(take(end - at)).buffer)
    yield { companyId, meta, segments, places }
  }
}
