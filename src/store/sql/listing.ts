// The statements that serve a listing, over the SQL in which the stores differ, and their rows.

import type { Resource } from '../../resources/resource.ts'
import { boundedMeta, greatestLimit, roomForRecords, widestRecord } from '../page-size.ts'
import type { Head, Page } from '../reading.ts'
import { recordSeparator } from '../record-texts.ts'
import { piecesOf } from './pieces.ts'

// A listing without records has the version of its company, and no meta.
const headColumns = `
  coalesce(h.total, 0) as total, coalesce(h.version, c.version) as version,
  i.committed_at, (select max(version) from imports) as data_version, i.lineage`

/** @param company is the parameter with the company's id. */
const headTables = ({ name }: Resource, company: string) => `
  from companies c
  left join heads h on h.company_id = ${company} and h.resource = '${name}'
  join imports i on i.version = coalesce(h.version, c.version)
  where c.id = ${company}`

/** SQL that returns the head of a listing, as a `HeadRow`. */
export function headSql(resource: Resource, company: string): string {
  return `select ${headColumns} ${headTables(resource, company)}`
}

/** SQL that returns what a page has besides its records, as a `FrameRow`. */
export function frameSql(resource: Resource, company: string): string {
  const meta = resource.metaOf === undefined ? 'null' : boundedMeta('h')
  return `select ${headColumns}, ${meta} as meta, ${widestRecord} as widest,
      ${roomForRecords('h')} as room ${headTables(resource, company)}`
}

/** The SQL in which the stores' statements for a page's records differ. */
export interface RangeSql {
  readonly company: string
  /** A range of positions: the first one, and the one after the last. */
  readonly first: string
  readonly end: string
  /** Whether the page fits, however large the records of the listing are. */
  readonly isSmall: string
  /** `room` of the `FrameRow`. */
  readonly room: string
}

/**
 * SQL that returns the pieces with the records of a range, as `PieceRow`s in the order served; none
 * if they do not fit into a page (`page-size.ts`).
 */
export function piecesSql({ name, order }: Resource, range: RangeSql): string {
  const { company, first, end, isSmall, room } = range
  const pieces = piecesOf(name)
  return `
    select position, last, texts from ${pieces}
    where company_id = ${company} and position < ${end} and position >= (
      select max(position) from ${pieces} where company_id = ${company} and position <= ${first}
    ) and (${isSmall} or ${room} >= (
      select sum(bytes + 1) from ${name}
      where company_id = ${company} and position >= ${first} and position < ${end}
    ))
    order by position ${order.direction === 'descending' ? 'desc' : 'asc'}`
}

/** The columns of a head, in order. */
export type HeadRow = [
  total: number,
  version: number,
  changedAt: number,
  dataVersion: number,
  lineage: string,
]

/** The columns of `frameSql`, in order. */
export type FrameRow = [...HeadRow, meta: string | null, widest: number, room: number]

/** A piece: the positions of its first and last record, and its texts. */
export type PieceRow = [first: number, last: number, texts: string]

export function headOf(row: readonly [...HeadRow, ...unknown[]]): Head {
  return {
    total: row[0],
    version: row[1],
    lineage: row[4],
    changedAt: row[2],
    dataVersion: row[3],
  }
}

/** A range of positions: the first one, and the one after the last. */
export interface Range {
  readonly first: number
  readonly end: number
}

/** The positions of a page; a listing that is served newest first is read backwards. */
export function rangeOf(
  { order }: Resource,
  total: number,
  offset: number,
  limit: number,
): Range | undefined {
  const start = Math.min(offset, total)
  const length = Math.min(limit, total - start)
  if (length === 0) return undefined
  const first = order.direction === 'descending' ? total - start - length : start
  return { first, end: first + length }
}

/** Whether a page fits, however large the records of its listing are (contract 3.10). */
export function isSmall(frame: FrameRow, limit: number): boolean {
  return limit * frame[6] <= frame[7]
}

/**
 * A page from its pieces, which are empty if its records do not fit.
 *
 * @param range is undefined if no position is in the page.
 */
export function pageOf(
  frame: FrameRow,
  resource: Resource,
  { range, pieces, limit }: { range: Range | undefined; pieces: PieceRow[]; limit: number },
): Page {
  const meta = frame[5]
  const widest = frame[6]
  const room = frame[7]
  const isLeftOut = room < 0 || (range !== undefined && pieces.length === 0)
  return {
    ...headOf(frame),
    meta: meta ?? undefined,
    records: range === undefined || isLeftOut ? [] : trim(pieces, range, resource),
    greatestLimit: isLeftOut ? greatestLimit(widest, room, limit) : undefined,
  }
}

/** The texts of the pieces, without the records at their ends that are not in the range. */
function trim(pieces: readonly PieceRow[], { first, end }: Range, { order }: Resource): string[] {
  const texts = pieces.map((piece) => piece[2])
  const isBackwards = order.direction === 'descending'
  const [lowest, highest] = isBackwards ? [pieces.length - 1, 0] : [0, pieces.length - 1]
  const tooLow = first - (pieces[lowest]?.[0] ?? first)
  const tooHigh = (pieces[highest]?.[1] ?? end) - end + 1
  // The last piece first: both ends may be those of one piece.
  const [before, after] = isBackwards ? [tooHigh, tooLow] : [tooLow, tooHigh]
  const last = pieces.length - 1
  texts[last] = withoutLast(texts[last] ?? '', after)
  texts[0] = withoutFirst(texts[0] ?? '', before)
  return texts
}

function withoutFirst(texts: string, records: number): string {
  let at = 0
  for (let n = 0; n < records; n++) at = texts.indexOf(recordSeparator, at) + 1
  return at === 0 ? texts : texts.slice(at)
}

function withoutLast(texts: string, records: number): string {
  let end = texts.length
  for (let n = 0; n < records; n++) end = texts.lastIndexOf(recordSeparator, end - 1)
  return end === texts.length ? texts : texts.slice(0, end)
}

/** The last import of each source. */
export const lastImportsSql = `
  select s.name as source, i.version, i.committed_at as "committedAt"
  from imports i join sources s on s.id = i.source_id
  where i.version in (
    select max(version) from imports where reverts is null and reverted_by is null
    group by source_id
  )
  order by i.version desc limit 100`
