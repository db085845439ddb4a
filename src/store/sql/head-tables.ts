// Heads and segments.
//
// In PostgreSQL, a head holds its only segment if that was written with it, so that a short listing
// is one row to read and to write. Other heads may name the segment, too, and find it by its
// number. The segment gets a row of its own when the head that holds it is dropped, or when the
// listing gets so few more segments that its head names them all: a statement reads these from one
// table.

import { after } from '../awaitable.ts'
import { decodeDirectory, firstSegment, onlySegment } from '../listing/directory.ts'
import { inBatches } from '../listing/in-batches.ts'
import type { FirstTexts } from '../listing/read-page.ts'
import { isIntact } from '../listing/segment.ts'
import {
  DamagedStoreError,
  type HeadRow,
  type ListingLookups,
  type ListingTables,
  MissingSegmentError,
  type SegmentKey,
  type SegmentRow,
} from '../listing/tables.ts'
import {
  comparable,
  type Dialect,
  lookup,
  onlyNumber,
  type RowReader,
  type RowWriter,
} from './dialect.ts'
import { numberIn } from './database.ts'

/** The columns of heads, which `headOf` takes. */
export const headColumns = 'h.company_id, h.version, h.total, h.meta, h.largest, h.directory'

export type HeadColumns = readonly [
  companyId: number,
  version: number,
  total: number,
  meta: string | null,
  largest: number,
  directory: string,
]

/** A row of `headSql`. */
export type ReadHead = readonly [...HeadColumns, texts?: Uint8Array | null]

/** @param row begins with `headColumns`. */
export function headOf(row: readonly [...HeadColumns, ...unknown[]]): HeadRow {
  const [companyId, version, total, meta, largest, directory] = row
  return { companyId, version, total, meta, largest, directory }
}

/** The texts that were read with a head, if any: of its first segment, or of all. */
export const firstTexts = (
  texts: Uint8Array | null | undefined,
  isWhole = false,
): FirstTexts | undefined => (texts ? { texts, isWhole } : undefined)

/** The first segment of a head `h`, as SQL: its columns, and what joins them. */
export interface FirstSegment {
  readonly texts: string
  readonly entries: string
  readonly join: string
}

/** The segment that a head holds itself; null if it holds none. */
export const heldByHead: FirstSegment = { texts: 'h.texts', entries: 'h.entries', join: '' }

/** Reads a head; texts may be in the same row, since a second statement costs as much again. */
export const headSql = (first?: Pick<FirstSegment, 'texts' | 'join'>) => `
  select ${headColumns}${first === undefined ? '' : `, ${first.texts}`} from heads h
  ${first?.join ?? ''}
  where h.company_id = $1 and h.listing = $2 and h.version <= $3 order by h.version desc limit 1`

/** @param company an expression of the company's id. */
export function firstSegmentOf({ holdsSegments }: Dialect, company: string): FirstSegment {
  if (!holdsSegments) {
    const join = `left join segments s on s.company_id = ${company} and s.segment = h.segment`
    return { texts: 's.texts', entries: 's.entries', join }
  }
  const column = (name: string) => `coalesce(h.${name}, ${ofSegment(name, company, 'h.segment')})`
  return { texts: column('texts'), entries: column('entries'), join: '' }
}

/**
 * A column of a segment in PostgreSQL: of its own row, else of a head that holds it; null if
 * neither is there. Not by joins: for these, PostgreSQL might read all segments of a company.
 *
 * @param company an expression of the company's id, as `segment` of the segment's number.
 */
export const ofSegment = (column: string, company: string, segment: string) => `
  coalesce(
    (select s.${column} from segments s where s.company_id = ${company} and s.segment = ${segment}),
    ${ofHolder(column, company, segment)}
  )`

/** A column of the head that holds a segment; null if none does. The arguments are as above. */
export const ofHolder = (column: string, company: string, segment: string) => `
  (
    select o.${column} from heads o
    where o.company_id = ${company} and o.segment = ${segment} and o.texts is not null limit 1
  )`

/** The tables that have segments, each with a condition. */
export const segmentTablesOf = ({ holdsSegments }: Dialect): readonly string[] =>
  holdsSegments ? ['segments where true', holdingHeads] : ['segments where true']

const holdingHeads = 'heads where texts is not null'

/** Keys of segments as lists of their columns. */
const listsOf = (keys: readonly SegmentKey[]) =>
  [keys.map(({ companyId }) => companyId), keys.map(({ segment }) => segment)] as const

const allVersions = { since: -1, until: Number.MAX_SAFE_INTEGER }

export function headLookups(db: RowReader) {
  const { dialect: d } = db
  const inForce = lookup(db, d.headsInForce(headColumns), headOf)
  const all = `
    select ${headColumns} from heads h
    where ${d.isOneOf('company_id', '$2', 'bigint')} and listing = $1
      and version > $3 and version <= $4
    order by company_id, version`
  const ofSpan = lookup(db, all, headOf)
  // Without an order, PostgreSQL would look for the first one among those of all listings.
  const first = 'select 1 from heads where listing = $1 order by version limit 1'
  const hasHeads = lookup(db, first, onlyNumber)
  // Not an equation: with one, SQLite would use the index of versions, and sort each time.
  const companies = `
    select distinct company_id from heads
    where company_id > $1 and not listing <> $2 order by company_id limit $3`
  const companiesWith = lookup(db, companies, onlyNumber)
  return {
    heads: (listing, companies, version) => inForce(listing, companies, comparable(version)),
    headsOf: (listing, companies, { since, until } = allVersions) =>
      ofSpan(listing, companies, since, comparable(until)),
    hasHeads: (listing) => after(hasHeads(listing), ({ length }) => length > 0),
    companiesWith: (listing, { after: last, limit }) => companiesWith(last, listing, limit),
  } satisfies Partial<ListingTables>
}

export function segmentLookup(db: RowReader): ListingLookups['segments'] {
  type Columns = readonly [number, number, Uint8Array, Uint8Array | null]
  // The table that last had the most comes first: a statement costs as much as some rows.
  let tables = segmentTablesOf(db.dialect)
  const sqlOf = (texts: string, table: string) => `
    select company_id, segment, entries, ${texts} from ${table} and ${db.dialect.isOfSegments}`
  return async (keys, what) => {
    const texts = what === 'entries' ? 'cast(null as bytea)' : 'texts'
    const bySegment = new Map<number, Columns>()
    for (const table of tables) {
      const missing = keys.filter(({ segment }) => !bySegment.has(segment))
      if (missing.length === 0) break
      const found = await db.rows<Columns>(sqlOf(texts, table), ...listsOf(missing))
      for (const row of found) bySegment.set(row[1], row)
      if (found.length * 2 > keys.length) tables = [table, ...tables.filter((t) => t !== table)]
    }
    return keys.map((key) => {
      const [companyId, segment, entries, texts = null] = bySegment.get(key.segment) ?? []
      if (companyId !== key.companyId || segment === undefined || entries === undefined) {
        throw new MissingSegmentError(key)
      }
      if (what === 'both' && (texts === null || !isIntact(entries, texts))) {
        throw new DamagedStoreError(
          `segment ${segment} of company ${companyId} does not match its checksum`,
        )
      }
      return { companyId, segment, entries, texts } satisfies SegmentRow as never
    })
  }
}

export function textRangeLookup(db: RowReader): ListingLookups['textRanges'] {
  return async (ranges) => {
    if (ranges.length === 0) return []
    const asked = ranges.map(({ companyId, segment, from, length }) => {
      return [companyId, segment, from + 1, length]
    })
    type Columns = readonly [place: number, bytes: Uint8Array | null]
    const found = await db.rows<Columns>(db.dialect.textRanges, JSON.stringify(asked))
    const byPlace = new Map(found)
    return ranges.map((range, place) => {
      const bytes = byPlace.get(place)
      if (!(bytes instanceof Uint8Array)) throw new MissingSegmentError(range)
      return bytes
    })
  }
}

export function headTables(db: RowWriter) {
  const { holdsSegments } = db.dialect
  const columns = [
    'company_id',
    'version',
    'total',
    'meta',
    'largest',
    'directory',
    'segment',
    ...(holdsSegments ? ['entries', 'texts'] : []),
  ]
  return {
    async dropHeads(listing, heads) {
      if (holdsSegments) await moveHeld(db, heads.flatMap(onlyKeyOf))
      await db.drop(
        { table: 'heads', fixed: { listing }, columns: ['company_id', 'version'] },
        heads.map(({ companyId, version }) => [companyId, version]),
      )
    },
    async putHeads(listing, heads, segments = []) {
      const apart = new Map(segments.map((row) => [row.segment, row]))
      if (holdsSegments) {
        const grown = heads.flatMap((head) => grownKeyOf(head, apart))
        await moveHeld(db, grown)
      }
      const rows = heads.map(({ companyId, version, total, meta, largest, directory }) => {
        const row = [companyId, version, total, meta, largest, directory, firstSegment(directory)]
        if (!holdsSegments) return row
        const held = apart.get(onlySegment(directory) ?? NaN)
        if (held !== undefined) apart.delete(held.segment)
        return [...row, held?.entries ?? null, held?.texts ?? null]
      })
      await insertSegments(db, [...apart.values()])
      await db.insert({ table: 'heads', fixed: { listing }, columns }, rows)
    },
  } satisfies Partial<ListingTables>
}

/** The key of the only segment of a head, if it has just one. */
function onlyKeyOf({ companyId, directory }: HeadRow): SegmentKey[] {
  const segment = onlySegment(directory)
  return segment === null ? [] : [{ companyId, segment }]
}

/** The key of what may have been the only segment of a listing that gets more of them. */
function grownKeyOf(
  { companyId, directory }: HeadRow,
  added: ReadonlyMap<number, unknown>,
): SegmentKey[] {
  if (onlySegment(directory) !== null || firstSegment(directory) === null) return []
  const { entries } = decodeDirectory(directory)
  const kept = entries.filter(({ segment }) => !added.has(segment))
  return kept.length === 1 ? kept.map(({ segment }) => ({ companyId, segment })) : []
}

/** Moves segments out of the heads that hold them, into rows of their own. */
async function moveHeld(db: RowWriter, keys: readonly SegmentKey[]): Promise<void> {
  if (keys.length === 0) return
  const columns = 'company_id, segment, entries, texts'
  const sql = `
    insert into segments (${columns})
      select ${columns} from ${holdingHeads} and ${db.dialect.isOfSegments}
    returning 1`
  const moved = await db.rows(sql, ...listsOf(keys))
  // Not all of these heads may be dropped.
  if (moved.length > 0) await emptyHeads(db, keys)
}

/** Takes segments out of the heads that hold them. */
async function emptyHeads(db: RowWriter, keys: readonly SegmentKey[]): Promise<void> {
  const sql = `
    update heads set entries = null, texts = null
    where texts is not null and ${db.dialect.isOfSegments}`
  await db.rows(sql, ...listsOf(keys))
}

const insertSegments = (db: RowWriter, rows: readonly SegmentRow[]) =>
  db.insert(
    { table: 'segments', columns: ['company_id', 'segment', 'entries', 'texts'] },
    rows.map(({ companyId, segment, entries, texts }) => [companyId, segment, entries, texts]),
  )

/** How many texts are searched for with one reading of all segments. */
const needlesAtOnce = 100

export function segmentTables(db: RowWriter) {
  const { holdsSegments, placeOfBytes } = db.dialect
  const withTexts = segmentTablesOf(db.dialect).map(
    (table) => `select company_id, texts from ${table}`,
  )
  const holding = (needles: readonly Uint8Array[]) => `
    select distinct company_id from (${withTexts.join(' union all ')}) s
    where ${needles.map((_, n) => `${placeOfBytes}(texts, $${n + 1}) > 0`).join(' or ')}`
  return {
    async companiesHolding(needles) {
      const companies = new Set<number>()
      for (const some of inBatches(needles, needlesAtOnce)) {
        const found = await db.rows<readonly [number]>(holding(some), ...some)
        for (const [company] of found) companies.add(company)
      }
      return companies
    },
    async dropSegments(keys) {
      if (holdsSegments) await emptyHeads(db, keys)
      await db.drop(
        { table: 'segments', columns: ['company_id', 'segment'] },
        keys.map(({ companyId, segment }) => [companyId, segment]),
      )
    },
    lastSegment: () => numberIn(db, 'select segments from store'),
    async noteLastSegment(segment) {
      await db.rows('update store set segments = $1', segment)
    },
  } satisfies Partial<ListingTables>
}
