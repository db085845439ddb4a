// Scans of the indexes of a listing: which records pass the filters, and by what they are ordered.
//
// The caller passes the segments one after another, so that it decides when to pause. In a text
// column, each distinct value of a segment is tested once. Of a list of numbers, the bounds are
// tested first: they mostly tell that all of its records pass, or that none does.

import type { Filter, Interval, SortOrder } from '../selection.ts'
import { byCodePoint } from '../record-texts.ts'
import { stringEnd, stringText } from '../../text/member-scan.ts'
import {
  createIndexScanner,
  reuseMemory,
  type IndexScanner,
  lists,
  type TextColumn,
} from './segment.ts'
import type { ListingShape } from './shape.ts'
import { extentOf, type View } from './view.ts'

/** How the fields of a listing are found in an index. */
interface IndexedFields {
  readonly shape: ListingShape
  /** The field that the shape has as its order value; `id` if there is none. */
  readonly orderBy: string
}

/** The records that pass, in the order of the listing, and the values that order them otherwise. */
export interface Scanned {
  readonly view: View
  /** Empty if they stay in that order. */
  readonly ids: Float64Array
  /** As `ids`: numbers, or the place of a text in `texts`; NaN is null. */
  readonly keys: Float64Array
  /** The distinct texts by which records are ordered, in no order. */
  readonly texts: readonly string[]
}

/** The list of an index that has the values of a field. */
function listOf({ shape, orderBy }: IndexedFields, field: string): number | undefined {
  if (field === 'id') return lists.ids
  if (shape.hasSort && field === orderBy) return lists.sorts
  const at = shape.columns.findIndex((column) => column.field === field)
  return at < 0 ? undefined : lists.columns + at
}

/** Whether a view is ordered as the listing is, forwards or backwards. */
export function isListingOrder(fields: IndexedFields, sort: SortOrder): boolean {
  return listOf(fields, sort.field) === (fields.shape.hasSort ? lists.sorts : lists.ids)
}

/** Marks of the records of a segment, and of the distinct values of a column. */
const marks = reuseMemory(Uint8Array)
const passing = reuseMemory(Uint8Array)

/** @param sort undefined for the order of the listing. */
export function createScan(
  fields: IndexedFields,
  filters: readonly Filter[],
  sort: SortOrder | undefined,
) {
  const tests = filters.map((filter) => createTest(fields, filter))
  const isBeyond = createEnd(fields, filters)
  let isOver = false
  const order = sort === undefined || isListingOrder(fields, sort) ? undefined : sort.field
  const keyed = order === undefined ? undefined : createKeys(fields, order)
  const places = createPlaces()
  const ids = createFloats()
  const index = createIndexScanner(fields.shape)
  return {
    /** Whether `add` needs the texts. */
    readsTexts: keyed?.readsTexts ?? false,
    /**
     * @param entries the index of a segment.
     * @param segment its number.
     * @param texts those of the segment, if `readsTexts`.
     */
    add(entries: Uint8Array, segment: number, texts?: Uint8Array): void {
      const kept = marks(index.open(entries)).fill(1)
      isOver ||= isBeyond(index)
      for (const test of tests) if (!test(index, kept)) return
      places.add(index.lengths(), segment, kept)
      if (keyed === undefined) return
      addNumbers(ids, kept, index.numbers(lists.ids))
      keyed.add(index, kept, texts)
    },
    /** Whether no record of later segments can pass. */
    isOver: () => isOver,
    finish: (): Scanned => ({
      view: places.take(),
      ids: ids.take(),
      keys: keyed === undefined ? noNumbers : keyed.keys.take(),
      texts: keyed === undefined ? [] : keyed.texts(),
    }),
  }
}

/** Whether all records of later segments are beyond the bounds of the listing's own order. */
function createEnd(
  { shape, orderBy }: IndexedFields,
  filters: readonly Filter[],
): (index: IndexScanner) => boolean {
  const isAscending = shape.direction === 'ascending'
  const ends = filters
    .filter(({ field }) => shape.hasSort && field === orderBy)
    .map(({ anyOf }) => anyOf.filter((one) => one !== null))
    .map((some) => (isAscending ? Math.max(...some.map(mostOf)) : Math.min(...some.map(leastOf))))
  if (ends.length === 0) return () => false
  // The least number of a list is exact, if it is known. In ascending order, it comes first.
  return (index) => {
    const { least } = index.bounds(lists.sorts)
    return least > -Infinity && ends.some((end) => (isAscending ? least > end : least < end))
  }
}

const leastOf = ({ from }: Interval) => (from === undefined ? -Infinity : Number(from))
const mostOf = ({ to }: Interval) => (to === undefined ? Infinity : Number(to))

/** Collects where records are. */
function createPlaces() {
  const segments = createFloats()
  let places = new Uint32Array(2 * startLength)
  let length = 0
  let holder = 0
  const resize = (count: number) => new Uint32Array(places.buffer.transfer(4 * count))
  return {
    add(lengths: Uint32Array, segment: number, kept: Uint8Array): void {
      const most = length + 2 * kept.length
      if (most > places.length) places = resize(2 * most)
      let start = 0
      for (let n = 0; n < kept.length; n++) {
        const end = start + (lengths[n] ?? 0)
        if (kept[n] === 1) {
          places[length++] = holder
          places[length++] = extentOf(start, encodeEnd(start, end, kept.length))
        }
        start = end + 1
      }
      segments.add(segment)
      segments.add(start - 1)
      holder += 1
    },
    take: (): View => ({ segments: segments.take(), places: resize(length) }),
  }
}

/** As in `View.places`. Only a record with a segment of its own is that large. */
function encodeEnd(start: number, end: number, count: number): number {
  if (end <= 0xffff) return end
  if (start > 0 || count > 1) throw new Error('a segment of several records is too large')
  return 0
}

const noNumbers = new Float64Array(0)

/** Clears the marks of the records that do not pass; false if none passes. */
type Test = (index: IndexScanner, kept: Uint8Array) => boolean

function createTest(fields: IndexedFields, { field, anyOf }: Filter): Test {
  const list = listOf(fields, field)
  if (list === undefined) throw new Error(`${fields.shape.listing} has no index of ${field}`)
  const takesNull = anyOf.includes(null)
  const intervals = anyOf.filter((one) => one !== null)
  if (isText(fields, list)) {
    return (index, kept) => markTexts(index.texts(list), kept, intervals, takesNull)
  }
  const ranges = intervals.map((one) => ({ from: leastOf(one), to: mostOf(one) }))
  return (index, kept) => {
    const { least, most, hasNull } = index.bounds(list)
    if ((takesNull || !hasNull) && ranges.some(({ from, to }) => from <= least && most <= to)) {
      return true
    }
    const canPass = ranges.some(({ from, to }) => from <= most && least <= to)
    if (!canPass && !(takesNull && hasNull)) return false
    return markNumbers(index.numbers(list), kept, ranges, takesNull)
  }
}

const isText = ({ shape }: IndexedFields, list: number): boolean =>
  shape.columns[list - lists.columns]?.type === 'text'

/** Numbers from one to another, both included. */
type Range = Readonly<Record<'from' | 'to', number>>

function markNumbers(
  numbers: Float64Array,
  kept: Uint8Array,
  ranges: readonly Range[],
  takesNull: boolean,
): boolean {
  let isAny = false
  for (let n = 0; n < numbers.length; n++) {
    if (kept[n] === 0) continue
    const number = numbers[n] ?? NaN
    // NaN is within no bounds.
    let passes = takesNull && Number.isNaN(number)
    for (let at = 0; !passes && at < ranges.length; at++) {
      const range = ranges[at]
      passes = range !== undefined && number >= range.from && number <= range.to
    }
    if (passes) isAny = true
    else kept[n] = 0
  }
  return isAny
}

function markTexts(
  { values, codes }: TextColumn,
  kept: Uint8Array,
  intervals: readonly Interval[],
  takesNull: boolean,
): boolean {
  const passes = passing(values.length + 1)
  passes[0] = Number(takesNull)
  let isPossible = takesNull
  for (let n = 0; n < values.length; n++) {
    const passed = isInOne(values[n] ?? '', intervals)
    passes[n + 1] = Number(passed)
    if (passed) isPossible = true
  }
  if (!isPossible) return false
  let isAny = 0
  for (let n = 0; n < codes.length; n++) {
    const passed = (kept[n] ?? 0) & (passes[codes[n] ?? 0] ?? 0)
    kept[n] = passed
    isAny |= passed
  }
  return isAny === 1
}

function isInOne(value: string, intervals: readonly Interval[]): boolean {
  for (const one of intervals) if (isIn(value, one)) return true
  return false
}

function isIn(value: string, { from, to }: Interval): boolean {
  if (from !== undefined && from === to) return value === from
  return (
    (from === undefined || byCodePoint(value, String(from)) >= 0) &&
    (to === undefined || byCodePoint(value, String(to)) <= 0)
  )
}

/** Collects the values by which records are ordered; without a list of them, those of the texts. */
function createKeys(fields: IndexedFields, order: string) {
  const list = listOf(fields, order)
  const keys = createFloats()
  const codes = new Map<string, number>()
  return {
    keys,
    texts: () => [...codes.keys()],
    readsTexts: list === undefined,
    add(index: IndexScanner, kept: Uint8Array, texts: Uint8Array = noBytes) {
      if (list === undefined) {
        return addValues(keys, codes, kept, valuesOf(texts, index.lengths(), order))
      }
      if (!isText(fields, list)) return addNumbers(keys, kept, index.numbers(list))
      const column = index.texts(list)
      const ownCodes = column.values.map((value) => codeOf(codes, value))
      for (let n = 0; n < kept.length; n++) {
        if (kept[n] === 1) keys.add(ownCodes[(column.codes[n] ?? 0) - 1] ?? NaN)
      }
    },
  }
}

const noBytes = new Uint8Array()

function addNumbers(keys: Floats, kept: Uint8Array, numbers: Float64Array): void {
  for (let n = 0; n < kept.length; n++) if (kept[n] === 1) keys.add(numbers[n] ?? NaN)
}

function addValues(
  keys: Floats,
  codes: Map<string, number>,
  kept: Uint8Array,
  values: readonly unknown[],
): void {
  for (let n = 0; n < kept.length; n++) {
    if (kept[n] === 0) continue
    const value = values[n]
    if (typeof value === 'number') keys.add(value)
    else keys.add(typeof value === 'string' ? codeOf(codes, value) : NaN)
  }
}

/**
 * The values of a field in the records of a segment. The name of a member, from the comma to the
 * colon, cannot be within a string, where a quotation mark follows a backslash; so a record is only
 * parsed if its value is no text.
 */
function valuesOf(texts: Uint8Array, lengths: Uint32Array, field: string): unknown[] {
  const bytes = Buffer.from(texts.buffer, texts.byteOffset, texts.length)
  const name = Buffer.from(`,"${field}":"`)
  let next = bytes.indexOf(name)
  let end = -1
  return Array.from(lengths, (length) => {
    const start = end + 1
    end = start + length
    if (next !== -1 && next < end) {
      const from = next + name.length
      next = bytes.indexOf(name, from)
      return stringText(bytes.subarray(from, stringEnd(bytes, from)))
    }
    const record: unknown = JSON.parse(bytes.toString('utf8', start, end))
    return (record as Readonly<Record<string, unknown>>)[field]
  })
}

/** The number of a text among distinct ones. */
function codeOf(codes: Map<string, number>, text: string): number {
  let code = codes.get(text)
  if (code === undefined) codes.set(text, (code = codes.size))
  return code
}

type Floats = ReturnType<typeof createFloats>

const startLength = 256

/**
 * Makes a list of numbers that grows. Its memory moves with it: if former lists were left to the
 * garbage collector, every few views would make it collect everything.
 */
function createFloats() {
  let list = new Float64Array(startLength)
  let length = 0
  const resize = (count: number) => new Float64Array(list.buffer.transfer(8 * count))
  return {
    add(value: number): void {
      if (length === list.length) list = resize(length * 2)
      list[length++] = value
    },
    /** The numbers; the list is not used again. */
    take: () => resize(length),
  }
}
