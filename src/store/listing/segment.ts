// Segments: consecutive records of a listing, as their texts and an index of them.
//
// The texts are as served, joined by commas. The index has what finds, orders, filters and compares
// the records, so that only answers need the texts:
//
// format, CRC-32 of all the rest, number of records; ids, order values, lengths of the texts and
// sources, each as a list of integers; digests; then column by column.

import { crc32 } from 'node:zlib'
import {
  type ByteReader,
  createWriter,
  readNumber,
  readTexts,
  skip,
  skipTexts,
  writeTexts,
} from './bytes.ts'
import { reasonOf } from '../../config/operator-error.ts'
import type { ShapeColumn } from '../../resources/filters.ts'
import { readIntegers, skipIntegers, writeIntegers } from './integers.ts'
import type { ListingShape } from './shape.ts'
import { DamagedStoreError } from './tables.ts'

export type ColumnValue = string | number | null

/** A record with everything that is stored of it. */
export interface ListedRecord {
  readonly id: number
  /** The value before the id in the order; 0 if there is none. */
  readonly sort: number
  /** The number of its source. */
  readonly source: number
  /** 12 bytes, by which the next import recognises an unchanged record. */
  readonly digest: Uint8Array
  /** In the order of the shape's columns. */
  readonly values: readonly ColumnValue[]
  readonly text: Uint8Array
}

/** The place of a record in the order of its listing. */
export type RecordPlace = Pick<ListedRecord, 'id' | 'sort'>

/** The index of a segment, decoded: lists with an element for each record. */
export interface SegmentIndex {
  readonly count: number
  /** The bytes of the index when encoded. */
  readonly bytes: number
  readonly ids: Float64Array
  /** Empty if the shape has no order value. */
  readonly sorts: Float64Array
  /** The bytes of each text. */
  readonly lengths: Uint32Array
  readonly sources: Uint32Array
  /** 12 bytes each. */
  readonly digests: Buffer
  readonly columns: readonly IndexColumn[]
}

export type IndexColumn =
  /** Codes: 0 is null, n is the nth of the values, which are distinct. */
  | { readonly type: 'text'; readonly values: readonly string[]; readonly codes: Uint32Array }
  /** NaN is null. */
  | { readonly type: 'integer'; readonly numbers: Float64Array }

export interface EncodedSegment {
  readonly entries: Buffer
  readonly texts: Buffer
}

export const digestBytes = 12
const format = 1
/** The bytes before what the checksum covers. */
export const headBytes = 5
const comma = 0x2c
const writer = createWriter()
/** The numbers of the column that is being written. */
let column = new Float64Array(1_024)

export function encodeSegment(
  shape: ListingShape,
  records: readonly ListedRecord[],
): EncodedSegment {
  const count = records.length
  if (column.length < count) column = new Float64Array(2 * count)
  writer.reserve(headBytes)
  writer.number(count)
  writeNumbers(records, (record) => record.id)
  if (shape.hasSort) writeNumbers(records, (record) => record.sort)
  writeNumbers(records, (record) => record.text.length)
  writeNumbers(records, (record) => record.source)
  writeDigests(records)
  shape.columns.forEach(({ type }, at) => {
    if (type === 'integer') writeNumbers(records, ({ values }) => numberOf(values[at]))
    else writeTexts(writer, count, (n) => textOf(records[n]?.values[at]))
  })
  const texts = joinTexts(records)
  const entries = writer.take()
  entries[0] = format
  entries.writeUInt32LE(checksum(entries.subarray(headBytes), texts), 1)
  return { entries, texts }
}

function checksum(index: Uint8Array, texts: Uint8Array): number {
  return crc32(texts, crc32(index))
}

function writeNumbers(
  records: readonly ListedRecord[],
  numberIn: (record: ListedRecord) => number,
): void {
  let n = 0
  for (const record of records) column[n++] = numberIn(record)
  writeIntegers(writer, column, n)
}

function numberOf(value: ColumnValue | undefined): number {
  return typeof value === 'number' ? value : NaN
}

function textOf(value: ColumnValue | undefined): string | null {
  return typeof value === 'string' ? value : null
}

function writeDigests(records: readonly ListedRecord[]): void {
  let at = writer.reserve(digestBytes * records.length)
  const memory = writer.memory()
  for (const { digest } of records) {
    for (let n = 0; n < digestBytes; n++) memory[at++] = digest[n] ?? 0
  }
}

/** Joins the texts of records with commas. */
function joinTexts(records: readonly ListedRecord[]): Buffer {
  let size = Math.max(0, records.length - 1)
  for (const { text } of records) size += text.length
  const texts = Buffer.allocUnsafe(size)
  let at = 0
  for (const { text } of records) {
    texts.set(text, at)
    at += text.length
    if (at < size) texts[at++] = comma
  }
  return texts
}

/** What is decoded of an index besides the lengths and digests; all else is left empty. */
export interface WantedParts {
  readonly ids?: boolean
  readonly sorts?: boolean
  readonly sources?: boolean
  /** The places of columns in the shape. */
  readonly columns?: readonly number[]
}

const allLists: WantedParts = { ids: true, sorts: true, sources: true }

/** Returns memory of at least so many bytes, in which an index is decoded. */
type IndexMemory = (bytes: number) => ArrayBuffer

const newMemory: IndexMemory = (bytes) => new ArrayBuffer(bytes)

/** Memory for one index at a time: to allocate it for each takes a third of the time of a scan. */
export function reuseMemory(): IndexMemory {
  let memory = new ArrayBuffer(16_384)
  return (bytes) => (memory.byteLength < bytes ? (memory = new ArrayBuffer(2 * bytes)) : memory)
}

/**
 * @param wanted everything if undefined.
 * @param memoryOf what it returns has to stay as it is while the index is used.
 *
 * @throws DamagedStoreError if the bytes are no index of this shape.
 */
export function decodeEntries(
  shape: ListingShape,
  entries: Uint8Array,
  wanted?: WantedParts,
  memoryOf = newMemory,
): SegmentIndex {
  if (entries[0] !== format)
    throw new DamagedStoreError('an index of records has an unknown format')
  const source = Buffer.from(entries.buffer, entries.byteOffset, entries.length)
  const reader = { source, at: headBytes }
  const count = readNumber(reader)
  if (count * digestBytes > entries.length)
    throw new DamagedStoreError('an index of records is too short')
  const {
    ids: hasIds = false,
    sorts: hasSorts = false,
    sources: hasSources = false,
  } = wanted ?? allLists
  const lists = 1 + Number(hasIds) + Number(hasSorts) + Number(hasSources)
  const chosen = wanted === undefined ? undefined : (wanted.columns ?? noColumns)
  const bytes = 8 * count * (lists + (chosen ?? shape.columns).length)
  const memory = createLists(memoryOf(bytes), count)
  const ids = hasIds ? readInto(reader, memory.floats()) : skipList(reader, count, noNumbers)
  let sorts = noNumbers
  if (shape.hasSort && hasSorts) sorts = readInto(reader, memory.floats())
  else if (shape.hasSort) skipIntegers(reader, count)
  const lengths = readInto(reader, memory.words())
  const sources = hasSources ? readInto(reader, memory.words()) : skipList(reader, count, noSources)
  const digestsAt = skip(reader, digestBytes * count)
  const digests = source.subarray(digestsAt, reader.at)
  const columns: IndexColumn[] = []
  for (const [at, { type }] of shape.columns.entries()) {
    if (chosen === undefined || chosen.includes(at)) columns[at] = readColumn(reader, type, memory)
    else if (type === 'text') skipTexts(reader, count)
    else skipIntegers(reader, count)
  }
  if (reader.at < source.length)
    throw new DamagedStoreError('an index of records has bytes after its end')
  return { count, bytes: entries.length, ids, sorts, lengths, sources, digests, columns }
}

function readInto<List extends Float64Array | Uint32Array>(reader: ByteReader, list: List): List {
  readIntegers(reader, list)
  return list
}

function skipList<List>(reader: ByteReader, count: number, none: List): List {
  skipIntegers(reader, count)
  return none
}

const noNumbers = new Float64Array(0)
const noSources = new Uint32Array(0)
const noColumns: readonly number[] = []

/** The lists of an index in its memory: one allocation instead of a dozen small ones. */
function createLists(memory: ArrayBuffer, count: number) {
  let at = 0
  const next = () => (at += 8 * count) - 8 * count
  return {
    floats: () => new Float64Array(memory, next(), count),
    words: () => new Uint32Array(memory, next(), count),
  }
}

function readColumn(
  reader: ByteReader,
  type: ShapeColumn['type'],
  memory: ReturnType<typeof createLists>,
): IndexColumn {
  if (type === 'integer') return { type, numbers: readInto(reader, memory.floats()) }
  const codes = memory.words()
  return { type, values: readTexts(reader, codes), codes }
}

export function valueAt(column: IndexColumn, n: number): ColumnValue {
  if (column.type === 'integer') {
    const value = column.numbers[n] ?? NaN
    return Number.isNaN(value) ? null : value
  }
  const code = column.codes[n] ?? 0
  return code === 0 ? null : (column.values[code - 1] ?? null)
}

/** Whether a record's digest equals the one at a place in a list. */
export function hasDigest(
  { digests }: Pick<SegmentIndex, 'digests'>,
  n: number,
  others: Uint8Array,
  place: number,
): boolean {
  const [from, to] = [n * digestBytes, place * digestBytes]
  for (let at = 0; at < digestBytes; at++) if (digests[from + at] !== others[to + at]) return false
  return true
}

/** The records of a segment, in their order. */
export function* recordsOf(index: SegmentIndex, texts: Uint8Array): Generator<ListedRecord> {
  let at = 0
  for (let n = 0; n < index.count; n++) {
    const end = at + (index.lengths[n] ?? 0)
    yield {
      id: index.ids[n] ?? 0,
      sort: index.sorts[n] ?? 0,
      source: index.sources[n] ?? 0,
      digest: index.digests.subarray(n * digestBytes, (n + 1) * digestBytes),
      values: index.columns.map((column) => valueAt(column, n)),
      text: texts.subarray(at, end),
    }
    at = end + 1
  }
}

/** Whether the bytes of a segment match their checksum. */
export function isIntact(entries: Uint8Array, texts: Uint8Array): boolean {
  const stored = Buffer.from(entries.buffer, entries.byteOffset, entries.length)
  return (
    stored.length >= headBytes &&
    stored.readUInt32LE(1) === checksum(stored.subarray(headBytes), texts)
  )
}

/** What is wrong with a segment; undefined if nothing is. */
export function checkSegment(
  shape: ListingShape,
  entries: Uint8Array,
  texts: Uint8Array,
): string | undefined {
  if (entries.length < headBytes || entries[0] !== format) return 'its index has an unknown format'
  if (!isIntact(entries, texts)) return 'its bytes do not match their checksum'
  try {
    const { count, lengths } = decodeEntries(shape, entries)
    const bytes = lengths.reduce((sum, length) => sum + length, Math.max(0, count - 1))
    return bytes === texts.length ? undefined : 'its texts are not as long as its index says'
  } catch (error) {
    return reasonOf(error)
  }
}
