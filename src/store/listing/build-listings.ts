// Listings of records that come in order, cut into segments as they come, before a store has them:
// in a temporary file, a part for each company. Other rows of an import are staged one by one.
//
// A part: its length, the company, the number of segments and the length of the meta (one more
// than that, 0 for none), the meta; then of each segment the number of its records, the bytes of
// the greatest one, the lengths of its index and texts, these, and the places of its rows.

import { openTemporaryBytes } from '../../files/temporary-folder.ts'
import type { Resource } from '../../resources/resource.ts'
import { metaTypesMax } from '../../resources/resource.ts'
import type { Place, StagedRow } from '../importing.ts'
import { type CutSegment, cutSegments } from './cut.ts'
import { compareOrder } from './merge.ts'
import { digestBytes, decodeEntries, type ListedRecord, recordsOf } from './segment.ts'
import { addToCount, columnValuesOf, metaText, shapeOf, sortOf } from './shape.ts'

/** A listing as it will be stored, and where its rows came from. */
export interface BuiltListing {
  readonly companyId: number
  readonly meta: string | null
  readonly segments: readonly BuiltSegment[]
}

interface BuiltSegment {
  readonly records: number
  /** The bytes of its greatest record. */
  readonly largest: number
  readonly entries: Buffer
  readonly texts: Buffer
  /** Of each record, the number of its row, and the index of its file. */
  readonly places: Buffer
}

/** Builds the listings of a resource. */
export type ListingBuilder = ReturnType<typeof createListingBuilder>

/** A row that names its record and its company by id, and nothing else. */
export interface BuiltRow extends StagedRow {
  readonly id: number
  readonly companyId: number
}

interface PlacedRecord extends ListedRecord {
  readonly place: Place
}

/** Beyond so many rows of a company, or bytes, rows are sorted and merged in another way. */
const rowsMax = 5_000
const bytesMax = 8_388_608

/** The bytes that are read at once. */
const readAtOnce = 2_097_152

const lengthAt = 0
const companyAt = 4
const segmentsAt = 12
const metaAt = 16
const partBytes = 20
const segmentHeadBytes = 16
const placeBytes = 12

/** Makes empty listings of a resource, with records of one source. */
export function createListingBuilder(resource: Resource, source: number) {
  const file = openTemporaryBytes('import')
  const shape = shapeOf(resource)
  const readValues = valueReader(resource)
  const isInOrder = !shape.hasSort && shape.direction === 'ascending'
  const most = shape.metaColumn === undefined ? rowsMax : metaTypesMax
  const memory = createMemory()
  let company = 0
  let records: PlacedRecord[] = []

  function metaOf(): string | null {
    if (shape.metaColumn === undefined) return null
    const types = new Map<string, number>()
    for (const { values } of records) addToCount(types, values[shape.metaColumn] ?? null, 1)
    return metaText(types)
  }

  function finish(): void {
    if (records.length === 0) return
    if (!isInOrder) records.sort((a, b) => compareOrder(shape, a, b))
    const growth = shape.direction === 'descending' ? 'front' : 'end'
    writePart(file, { company, meta: metaOf(), records }, cutSegments(shape, records, growth))
    records = []
    memory.clear()
  }

  return {
    shape,
    source,
    /** Takes the next row; false if its company has too many, and the row was not taken. */
    add(place: Place, row: BuiltRow): boolean {
      if (row.companyId !== company) {
        finish()
        company = row.companyId
      }
      if (records.length === most || memory.size() > bytesMax) return false
      records.push({
        id: row.id,
        sort: sortOf(shape, row.sort),
        source,
        digest: memory.digest(row.digest),
        values: readValues(row),
        text: memory.text(row.id, row.content),
        place: { file: place.file, number: place.number },
      })
      return true
    },
    /** All listings, in the order of companies; their bytes are good until the next ones. */
    *listings(): Generator<readonly BuiltListing[]> {
      finish()
      const memory = Buffer.allocUnsafeSlow(readAtOnce)
      for (const parts of file.parts(memory)) yield parts.map(({ bytes }) => readPart(bytes))
    },
    /** The rows that were taken, in their order. */
    *rows(): Generator<{ readonly place: Place; readonly row: BuiltRow }> {
      finish()
      for (const parts of file.parts()) {
        for (const { bytes } of parts) yield* rowsOf(resource, readPart(bytes))
      }
    },
    close: file.close,
  }
}

/** Reads the values of a record that a segment's index has. */
function valueReader(resource: Resource) {
  const readValues = columnValuesOf(resource)
  const hasId = shapeOf(resource).columns.some(({ field }) => field === 'id')
  return ({ id, fields, content }: BuiltRow) => {
    const known = fields ?? (JSON.parse(content) as NonNullable<typeof fields>)
    return readValues(hasId ? { id, ...known } : known)
  }
}

/** Memory for the texts and digests of a company's records, used again for the next one's. */
function createMemory() {
  let buffer = Buffer.allocUnsafeSlow(65_536)
  let filled = 0
  let taken = 0
  function reserve(bytes: number): void {
    if (filled + bytes <= buffer.length) return
    buffer = Buffer.allocUnsafeSlow(Math.max(bytes, 2 * buffer.length))
    filled = 0
  }
  function take(bytes: number): Uint8Array {
    filled += bytes
    taken += bytes
    return buffer.subarray(filled - bytes, filled)
  }
  return {
    size: () => taken,
    digest(base64: string): Uint8Array {
      reserve(digestBytes)
      buffer.write(base64, filled, 'base64')
      return take(digestBytes)
    },
    /** The text of a record with its id, which takes the place of the opening brace. */
    text(id: number, content: string): Uint8Array {
      const start = `{"id":${id},`
      reserve(start.length + 3 * content.length)
      const written = buffer.write(content, filled + start.length - 1)
      buffer.write(start, filled, 'latin1')
      return take(start.length - 1 + written)
    },
    clear(): void {
      filled = 0
      taken = 0
      if (buffer.length > bytesMax) buffer = Buffer.allocUnsafeSlow(65_536)
    },
  }
}

interface Part {
  readonly company: number
  readonly meta: string | null
  readonly records: readonly PlacedRecord[]
}

function writePart(
  file: ReturnType<typeof openTemporaryBytes>,
  { company, meta, records }: Part,
  segments: readonly CutSegment[],
): void {
  const metaBytes = meta === null ? 0 : Buffer.byteLength(meta)
  let length = partBytes + metaBytes + records.length * placeBytes
  for (const { encoded } of segments) {
    length += segmentHeadBytes + encoded.entries.length + encoded.texts.length
  }
  const { buffer, from } = file.reserve(length)
  buffer.writeUInt32LE(length, from + lengthAt)
  buffer.writeDoubleLE(company, from + companyAt)
  buffer.writeUInt32LE(segments.length, from + segmentsAt)
  buffer.writeUInt32LE(meta === null ? 0 : metaBytes + 1, from + metaAt)
  let at = from + partBytes
  if (meta !== null) at += buffer.write(meta, at)
  let n = 0
  for (const { encoded, count, largest } of segments) {
    const { entries, texts } = encoded
    for (const number of [count, largest, entries.length, texts.length]) {
      at = buffer.writeUInt32LE(number, at)
    }
    at += entries.copy(buffer, at)
    at += texts.copy(buffer, at)
    for (const { place } of records.slice(n, (n += count))) {
      at = buffer.writeDoubleLE(place.number, at)
      at = buffer.writeUInt32LE(place.file, at)
    }
  }
  file.take(length)
}

function readPart(bytes: Buffer): BuiltListing {
  const metaLength = bytes.readUInt32LE(metaAt)
  let at = partBytes
  const take = (length: number) => bytes.subarray(at, (at += length))
  const meta = metaLength === 0 ? null : take(metaLength - 1).toString()
  const segments: BuiltSegment[] = []
  for (let n = bytes.readUInt32LE(segmentsAt); n > 0; n -= 1) {
    const head = take(segmentHeadBytes)
    const records = head.readUInt32LE(0)
    const entries = take(head.readUInt32LE(8))
    const texts = take(head.readUInt32LE(12))
    const places = take(records * placeBytes)
    segments.push({ records, largest: head.readUInt32LE(4), entries, texts, places })
  }
  return { companyId: bytes.readDoubleLE(companyAt), meta, segments }
}

/** The rows of a listing in the order in which they came: that of their ids. */
function rowsOf(resource: Resource, { companyId, segments }: BuiltListing) {
  const shape = shapeOf(resource)
  const rows = segments.flatMap(({ entries, texts, places }) =>
    [...recordsOf(decodeEntries(shape, entries), texts)].map((record, n) => ({
      place: {
        number: places.readDoubleLE(n * placeBytes),
        file: places.readUInt32LE(n * placeBytes + 8),
      },
      row: rowOf(resource, companyId, record),
    })),
  )
  return rows.sort((a, b) => a.row.id - b.row.id)
}

function rowOf({ order }: Resource, companyId: number, record: ListedRecord): BuiltRow {
  const { id, text, digest } = record
  const bytes = Buffer.from(text.buffer, text.byteOffset, text.length)
  const content = `{${bytes.toString('utf8', `{"id":${id},`.length)}`
  const isById = order.by === 'id'
  const sort = isById ? '' : String((JSON.parse(content) as Record<string, unknown>)[order.by])
  return {
    ...{ companyId, companyJurisdiction: null, companyIdentifier: null, id, key: null, sort },
    ...{ digest: Buffer.from(digest).toString('base64'), content, asOf: null },
  }
}
