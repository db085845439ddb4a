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
import { readBounds, readIntegers, skipIntegers, writeIntegers } from './integers.ts'
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

export type TextColumn = Extract<IndexColumn, { readonly type: 'text' }>

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
  readonly columns?: boolean
}

const allParts: WantedParts = { ids: true, sorts: true, sources: true, columns: true }

/** @throws DamagedStoreError if the bytes are no index of this shape. */
export function decodeEntries(
  shape: ListingShape,
  entries: Uint8Array,
  wanted = allParts,
): SegmentIndex {
  const reader = openIndex(entries)
  const { source, count } = reader
  const {
    ids: hasIds = false,
    sorts: hasSorts = false,
    sources: hasSources = false,
    columns: hasColumns = false,
  } = wanted
  const numbers = 1 + Number(hasIds) + Number(hasSorts) + Number(hasSources)
  const memory = createLists(numbers + (hasColumns ? shape.columns.length : 0), count)
  const ids = hasIds ? readInto(reader, memory.floats()) : skipList(reader, count, noNumbers)
  let sorts = noNumbers
  if (shape.hasSort && hasSorts) sorts = readInto(reader, memory.floats())
  else if (shape.hasSort) skipIntegers(reader, count)
  const lengths = readInto(reader, memory.words())
  const sources = hasSources ? readInto(reader, memory.words()) : skipList(reader, count, noSources)
  const digestsAt = skip(reader, digestBytes * count)
  const digests = source.subarray(digestsAt, reader.at)
  const columns: IndexColumn[] = []
  for (const { type } of shape.columns) {
    if (hasColumns) columns.push(readColumn(reader, type, memory))
    else skipColumn(reader, type, count)
  }
  checkEnd(reader)
  return { count, bytes: entries.length, ids, sorts, lengths, sources, digests, columns }
}

type OpenIndex = ByteReader & { readonly count: number }

/** Begins to read an index. */
function openIndex(entries: Uint8Array): OpenIndex {
  if (entries[0] !== format)
    throw new DamagedStoreError('an index of records has an unknown format')
  const source = Buffer.from(entries.buffer, entries.byteOffset, entries.length)
  const reader = { source, at: headBytes, count: 0 }
  reader.count = readNumber(reader)
  if (reader.count * digestBytes > entries.length)
    throw new DamagedStoreError('an index of records is too short')
  return reader
}

function checkEnd({ source, at }: ByteReader): void {
  if (at < source.length) throw new DamagedStoreError('an index of records has bytes after its end')
}

function skipColumn(reader: ByteReader, type: ShapeColumn['type'], count: number): void {
  if (type === 'text') skipTexts(reader, count)
  else skipIntegers(reader, count)
}

/** Memory for one list after another: to allocate it for each takes a third of a scan's time. */
export function reuseMemory<List extends Float64Array | Uint32Array | Uint8Array>(type: {
  new (length: number): List
}): (length: number) => List {
  let memory = new type(1_024)
  let list = memory
  return (length) => {
    if (memory.length < length) memory = new type(2 * length)
    if (list.length !== length) list = memory.subarray(0, length) as List
    return list
  }
}

const floats = reuseMemory(Float64Array)
const words = reuseMemory(Uint32Array)

/** The lists that a scan reads of an index; the nth column is at `columns + n`. */
export const lists = { ids: 0, sorts: 1, lengths: 2, columns: 3 }

export type IndexScanner = ReturnType<typeof createIndexScanner>

/**
 * Reads one index after another. A list is decoded when it is asked for, into memory that all such
 * lists share: it has to be used before the next one is asked for.
 */
export function createIndexScanner({ hasSort, columns }: ListingShape) {
  let reader: OpenIndex = { source: Buffer.alloc(0), at: 0, count: 0 }
  const begins: number[] = []

  function beginAt(list: number): ByteReader {
    reader.at = begins[list] ?? 0
    return reader
  }

  return {
    /** Opens the next index; returns the number of its records. */
    open(entries: Uint8Array): number {
      reader = openIndex(entries)
      const { count } = reader
      begins[lists.ids] = reader.at
      skipIntegers(reader, count)
      begins[lists.sorts] = reader.at
      if (hasSort) skipIntegers(reader, count)
      begins[lists.lengths] = reader.at
      skipIntegers(reader, count)
      skipIntegers(reader, count)
      skip(reader, digestBytes * count)
      let list = lists.columns
      for (const { type } of columns) {
        begins[list++] = reader.at
        skipColumn(reader, type, count)
      }
      checkEnd(reader)
      return count
    },
    bounds: (list: number) => readBounds(beginAt(list)),
    /** NaN is null. */
    numbers: (list: number) => readInto(beginAt(list), floats(reader.count)),
    lengths: () => readInto(beginAt(lists.lengths), words(reader.count)),
    texts(list: number): TextColumn {
      const codes = words(reader.count)
      return { type: 'text', values: readTexts(beginAt(list), codes), codes }
    },
  }
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

/** Up to so many lists of an index: one allocation instead of a dozen small ones. */
function createLists(most: number, count: number) {
  const memory = new ArrayBuffer(8 * count * most)
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
