// Scans of the indexes of a listing: which records pass the filters, and by what they are ordered.
//
// The caller passes the segments one after another, so that it decides when to pause. In a text
// column, each distinct value of a segment is tested once.

import type { Filter, Interval, SortOrder } from '../selection.ts'
import { byCodePoint } from '../record-texts.ts'
import type { IndexColumn, SegmentIndex } from './segment.ts'
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

/** A place in an index: the ids, the order values, or the nth column. */
type Place = 'id' | 'sort' | number

function placeOf({ shape, orderBy }: IndexedFields, field: string): Place | undefined {
  if (field === 'id') return 'id'
  if (shape.hasSort && field === orderBy) return 'sort'
  const at = shape.columns.findIndex((column) => column.field === field)
  return at < 0 ? undefined : at
}

/** Whether a view is ordered as the listing is, forwards or backwards. */
export function isListingOrder(fields: IndexedFields, sort: SortOrder): boolean {
  return placeOf(fields, sort.field) === (fields.shape.hasSort ? 'sort' : 'id')
}

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
  const ordering = order === undefined ? undefined : placeOf(fields, order)
  const keyed = order === undefined ? undefined : createKeys(ordering)
  const places = createPlaces()
  const ids = createFloats()
  const used = [...filters.map(({ field }) => placeOf(fields, field)), ordering]
  return {
    /** What has to be decoded of an index. */
    wanted: {
      ids: keyed !== undefined || used.includes('id'),
      sorts: used.includes('sort'),
      columns: used.filter((place) => typeof place === 'number'),
    },
    /** Whether `add` needs values of the texts. */
    readsTexts: keyed?.readsTexts ?? false,
    /**
     * @param segment its number.
     * @param values the values of the order's field, one for each record, if `readsTexts`.
     */
    add(index: SegmentIndex, segment: number, values?: readonly unknown[]): void {
      isOver ||= isBeyond(index)
      const kept = findPassing(tests, index)
      if (kept === undefined) return
      places.add(index, segment, kept)
      if (keyed === undefined) return
      addNumbers(ids, kept, index.ids)
      keyed.add(index, kept, values)
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

/** Whether all records after those of an index are beyond the bounds of the listing's own order. */
function createEnd(
  { shape, orderBy }: IndexedFields,
  filters: readonly Filter[],
): (index: SegmentIndex) => boolean {
  const isAscending = shape.direction === 'ascending'
  const ends = filters
    .filter(({ field }) => shape.hasSort && field === orderBy)
    .map(({ anyOf }) => anyOf.filter((one) => one !== null))
    .map((some) => (isAscending ? Math.max(...some.map(mostOf)) : Math.min(...some.map(leastOf))))
  return ({ sorts }) => {
    const last = sorts.at(-1) ?? NaN
    return ends.some((end) => (isAscending ? last > end : last < end))
  }
}

const leastOf = ({ from }: Interval) => (from === undefined ? -Infinity : Number(from))
const mostOf = ({ to }: Interval) => (to === undefined ? Infinity : Number(to))

/** Collects where records are. */
function createPlaces() {
  const segments = createFloats()
  const places = createWords()
  let holder = 0
  return {
    add({ lengths }: SegmentIndex, segment: number, kept: Uint8Array): void {
      let start = 0
      for (let n = 0; n < kept.length; n++) {
        const end = start + (lengths[n] ?? 0)
        if (kept[n] === 1) {
          places.add(holder)
          places.add(extentOf(start, encodeEnd(start, end, kept.length)))
        }
        start = end + 1
      }
      segments.add(segment)
      segments.add(start - 1)
      holder += 1
    },
    take: (): View => ({ segments: segments.take(), places: places.take() }),
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
type Test = (index: SegmentIndex, kept: Uint8Array) => boolean

/** A mark for each record; undefined if none passes all tests. */
function findPassing(tests: readonly Test[], index: SegmentIndex): Uint8Array | undefined {
  const kept = new Uint8Array(index.count).fill(1)
  return tests.every((test) => test(index, kept)) ? kept : undefined
}

function createTest(fields: IndexedFields, { field, anyOf }: Filter): Test {
  const place = placeOf(fields, field)
  if (place === undefined) throw new Error(`${fields.shape.listing} has no index of ${field}`)
  const takesNull = anyOf.includes(null)
  const intervals = anyOf.filter((one) => one !== null)
  return (index, kept) => {
    const column = columnOf(index, place)
    return column.type === 'integer'
      ? markNumbers(column.numbers, kept, intervals, takesNull)
      : markTexts(column, kept, intervals, takesNull)
  }
}

function columnOf({ ids, sorts, columns }: SegmentIndex, place: Place): IndexColumn {
  if (place === 'id') return { type: 'integer', numbers: ids }
  if (place === 'sort') return { type: 'integer', numbers: sorts }
  const column = columns[place]
  if (column === undefined) throw new Error('an index lacks a column')
  return column
}

function markNumbers(
  numbers: Float64Array,
  kept: Uint8Array,
  intervals: readonly Interval[],
  takesNull: boolean,
): boolean {
  const least = intervals.map(leastOf)
  const most = intervals.map(mostOf)
  let isAny = false
  for (let n = 0; n < numbers.length; n++) {
    if (kept[n] === 0) continue
    const number = numbers[n] ?? NaN
    // NaN is within no bounds.
    let passes = takesNull && Number.isNaN(number)
    for (let at = 0; !passes && at < least.length; at++) {
      passes = number >= (least[at] ?? NaN) && number <= (most[at] ?? NaN)
    }
    if (passes) isAny = true
    else kept[n] = 0
  }
  return isAny
}

function markTexts(
  { values, codes }: IndexColumn & { readonly type: 'text' },
  kept: Uint8Array,
  intervals: readonly Interval[],
  takesNull: boolean,
): boolean {
  const passes = new Uint8Array(values.length + 1)
  passes[0] = Number(takesNull)
  let isPossible = takesNull
  for (const [n, value] of values.entries()) {
    if (!intervals.some((one) => isIn(value, one))) continue
    passes[n + 1] = 1
    isPossible = true
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

function isIn(value: string, { from, to }: Interval): boolean {
  if (from !== undefined && from === to) return value === from
  return (
    (from === undefined || byCodePoint(value, String(from)) >= 0) &&
    (to === undefined || byCodePoint(value, String(to)) <= 0)
  )
}

/** Collects the values by which records are ordered; without a place, the texts have them. */
function createKeys(place: Place | undefined) {
  const keys = createFloats()
  const codes = new Map<string, number>()
  return {
    keys,
    texts: () => [...codes.keys()],
    readsTexts: place === undefined,
    add(index: SegmentIndex, kept: Uint8Array, values: readonly unknown[] = []) {
      if (place === undefined) return addValues(keys, codes, kept, values)
      const column = columnOf(index, place)
      if (column.type === 'integer') return addNumbers(keys, kept, column.numbers)
      const ownCodes = column.values.map((value) => codeOf(codes, value))
      for (let n = 0; n < kept.length; n++) {
        if (kept[n] === 1) keys.add(ownCodes[(column.codes[n] ?? 0) - 1] ?? NaN)
      }
    },
  }
}

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

/** The number of a text among distinct ones. */
function codeOf(codes: Map<string, number>, text: string): number {
  let code = codes.get(text)
  if (code === undefined) codes.set(text, (code = codes.size))
  return code
}

type Floats = ReturnType<typeof createFloats>
const createFloats = () => createList(Float64Array)
const createWords = () => createList(Uint32Array)

const startLength = 256

/**
 * Makes a list of numbers that grows. Its memory moves with it: if former lists were left to the
 * garbage collector, every few views would make it collect everything.
 */
function createList<List extends Float64Array<ArrayBuffer> | Uint32Array<ArrayBuffer>>(type: {
  new (numbers: number | ArrayBuffer): List
  readonly BYTES_PER_ELEMENT: number
}) {
  let list = new type(startLength)
  let length = 0
  const resize = (count: number) => new type(list.buffer.transfer(count * type.BYTES_PER_ELEMENT))
  return {
    add(value: number): void {
      if (length === list.length) list = resize(length * 2)
      list[length++] = value
    },
    /** The numbers; the list is not used again. */
    take: () => resize(length),
  }
}
