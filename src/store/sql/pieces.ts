// How a listing is stored: an index of narrow rows, one for each record, and the records' texts in
// pieces of some kilobytes, each of consecutive records.
//
// A page is a few pieces and not a hundred rows, and a search reads narrow rows and not texts. A
// piece has the texts as they are served, in the order in which they are served, joined by commas.
//
// rights           the index: what finds a record, its place in a piece, and its filter values
// rights_pieces    the pieces
// rights_records   a view of the index with each record's text

import { filterColumns } from '../../resources/filters.ts'
import type { Resource } from '../../resources/resource.ts'
import type { Dialect } from './dialect.ts'

/**
 * The size of a piece in bytes; the last record of a piece may exceed it.
 *
 * A page of 100 records of 370 bytes takes 49 us of processor time to read from SQLite in pieces of
 * 2,000 bytes, 38 of 3,900, and 33 of 7,800; without pieces, 82. Smaller pieces fill the store's
 * pages better, and a changed record rewrites less.
 */
const pieceBytes = 3_600

export const piecesOf = (name: string) => `${name}_pieces`
export const recordsOf = (name: string) => `${name}_records`

/** The types of the columns of an index and its pieces, which differ between databases. */
export interface ColumnTypes {
  readonly id: string
  readonly text: string
}

/** Columns of the index, but for its keys. */
export function indexColumns(resource: Resource, { id, text }: ColumnTypes): string {
  const filters = filterColumns(resource).map(
    ({ column, type }) => `, ${column} ${type === 'text' ? text : id}`,
  )
  return `
      company_id ${id} not null,
      -- From 0 without gaps, oldest first. A listing that is served newest first is read backwards,
      -- so that new records are appended in either order (ARCHITECTURE.md, idea 3).
      position integer not null,
      -- The piece with the record's text, by its first position; where it begins, and its length.
      piece integer not null,
      at integer not null,
      bytes integer not null,
      id ${id} not null,
      -- The value that precedes the id in the order, or empty.
      sort ${text} not null,
      source_id integer not null,
      -- The import that last changed the record.
      version integer not null,
      digest ${text} not null
      ${filters.join('')}`
}

/** The names of a resource's filter columns, each after a comma. */
export function namesOfFilters(resource: Resource, prefix = ''): string {
  return filterColumns(resource)
    .map(({ column }) => `, ${prefix}${column}`)
    .join('')
}

/** Columns of replaced and removed records; the versions between which they were current. */
export function pastColumns({ id, text }: ColumnTypes): string {
  return `
      company_id ${id} not null,
      until integer not null,
      id ${id} not null,
      version integer not null,
      source_id integer not null,
      sort ${text} not null,
      digest ${text} not null,
      record ${text} not null,
      primary key (company_id, until, id)`
}

/** Columns of the pieces: the positions of the first and the last record, and the texts. */
export function pieceColumns({ id, text }: ColumnTypes): string {
  return `
      company_id ${id} not null,
      position integer not null,
      last integer not null,
      texts ${text} not null`
}

/** Creates the view of a resource's records, which looks up the piece of each. */
export function createRecords(d: Dialect, { name }: Resource): string {
  return `
    create view ${recordsOf(name)} as
      select r.*, ${d.slice('p.texts', 'r.at', 'r.bytes')} as record
      from ${name} r
      ${d.orderedJoin} ${piecesOf(name)} p
        on p.company_id = r.company_id and p.position = r.piece`
}

/**
 * Where records are laid: the piece of each, its place in that piece (in the order served), and
 * where its text comes from, a row of `stage` or of `pending`.
 */
export const createLaid = (d: Dialect) =>
  d.sortedTable(
    'laid',
    `company_id bigint, piece integer, place integer, position integer, at integer, bytes integer,
    id bigint, seq bigint, pending bigint`,
    'company_id, piece, place',
  )

/**
 * Lays records one after another, and cuts them into pieces.
 *
 * @param records SQL for `company_id`, `run` (the position of the first of several consecutive
 *   records, with which a piece begins), `sort`, `id`, `bytes`, `seq` and `pending`.
 */
export function lay({ order }: Resource, records: string): string {
  const isBackwards = order.direction === 'descending'
  const place = isBackwards ? '-numbered.position' : 'numbered.position'
  const at = isBackwards
    ? 'max(before + bytes) over piece - before - bytes'
    : 'before - min(before) over piece'
  return `
  insert into laid
    select company_id, min(position) over piece, ${place}, position, ${at}, bytes, id, seq, pending
    from (
      select placed.*, before / ${pieceBytes} as number
      from (
        select n.company_id, n.run, n.id, n.bytes, n.seq, n.pending,
          n.run - 1 + row_number() over listing as position,
          sum(n.bytes + 1) over (listing rows unbounded preceding) - n.bytes - 1 as before
        from (${records}) n
        window listing as (partition by n.company_id, n.run order by n.sort, n.id)
      ) placed
    ) numbered
    window piece as (partition by company_id, run, number)`
}

/** A record to be written: its values, as SQL over `laid l` and the tables in `from`. */
export interface LaidRecord {
  readonly from: string
  readonly sort: string
  readonly source: string
  readonly version: string
  readonly digest: string
  readonly record: string
  /** In the order of `filterColumns`. */
  readonly filters: readonly string[]
}

/** Writes the laid records: the rows of the index, then the pieces. */
export function writeLaid(d: Dialect, resource: Resource, laid: LaidRecord): readonly string[] {
  const { name } = resource
  return [
    `insert into ${name} (company_id, position, piece, at, bytes, id, sort, source_id, version,
        digest${namesOfFilters(resource)})
      select l.company_id, l.position, l.piece, l.at, l.bytes, l.id, ${laid.sort}, ${laid.source},
        ${laid.version}, ${laid.digest}${laid.filters.map((value) => `, ${value}`).join('')}
      from laid l ${laid.from}
      order by l.company_id, l.piece, l.place`,
    `insert into ${piecesOf(name)} (company_id, position, last, texts)
      select l.company_id, l.piece, max(l.position), ${d.joined(laid.record, 'l.place')}
      from laid l ${laid.from}
      group by l.company_id, l.piece
      order by l.company_id, l.piece`,
  ]
}

/**
 * Rewrites listings of an earlier format, in which each record's row had its text.
 *
 * @param rows the table of that format.
 */
export function convertRows(d: Dialect, resource: Resource, rows: string): readonly string[] {
  const source = `
    select company_id, 0 as run, sort, id, octet_length(record) as bytes, position as seq,
      cast(null as bigint) as pending
    from ${rows}`
  return [
    createLaid(d),
    lay(resource, source),
    ...d.filled('laid'),
    ...writeLaid(d, resource, {
      from: `${d.orderedJoin} ${rows} o on o.company_id = l.company_id and o.position = l.position`,
      sort: 'o.sort',
      source: 'o.source_id',
      version: 'o.version',
      digest: 'o.digest',
      record: 'o.record',
      filters: filterColumns(resource).map(({ field }) => filterOf(d, resource, field, 'o.record')),
    }),
    `drop table ${d.temporary}.laid`,
  ]
}

/** A record's value of a filter, as `filterValuesOf` in src/resources/filters.ts computes it. */
export function filterOf(d: Dialect, { fields }: Resource, field: string, record: string): string {
  const value = d.jsonValue(record, field)
  const kind = fields[field]?.kind
  if (kind === 'timestamp') return d.unixSeconds(value)
  if (kind === 'timestamp_ms') {
    const seconds = d.unixSeconds(`substr(${value}, 1, 19) || 'Z'`)
    return `${seconds} * 1000 + cast(substr(${value}, 21, 3) as integer)`
  }
  return kind === 'integer' ? `cast(${value} as bigint)` : value
}
