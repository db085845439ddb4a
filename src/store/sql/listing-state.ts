// The state of a listing at a version of the registry: from its head, or from a former one.

import type { Resource } from '../../resources/resource.ts'
import { boundedMeta, pageBytesMax, roomForRecords, widestRecord } from '../page-size.ts'
import type { ListedState, OutsideHistory } from '../reading.ts'
import type { Selection } from '../selection.ts'
import type { Row } from './database.ts'
import { type FrameRow, headOf } from './listing.ts'
import { findOutside, versionToRead } from './outside-history.ts'
import { pastHeadsOf } from './past-heads.ts'

/** A listing at a version: what its head said then. */
export interface ListingState extends ListedState {
  readonly meta: string | undefined
  /** The most bytes of a record and a comma, and the bytes that a page has for its records. */
  readonly widest: number
  readonly room: number
  /** Whether the listing has not changed since. */
  readonly isPresent: boolean
  /** The lineage and the total of the listing's present state. */
  readonly presentLineage: string
  readonly presentTotal: number
}

/** SQL for `stateOf`: one row. Its parameters are `$company` and `$version`. */
export function stateSql(resource: Resource): string {
  const { name, metaOf } = resource
  const metaIn = (head: string) => (metaOf === undefined ? 'null' : boundedMeta(head))
  const formerCompany = `
    select o.version from companies_past o
    where o.company_id = $company and o.version <= $version and o.until > $version`
  const firstVersion = `case when c.version <= $version then c.version else (${formerCompany}) end`
  return `
    select s.*, i.lineage, i.committed_at, n.lineage as present_lineage
    from (
      select (select max(version) from imports) as latest,
        (select past_from from store) as earliest,
        c.version as company_version, ${firstVersion} as first_version,
        h.version as head_version, h.total, ${metaIn('h')} as meta, ${widestRecord} as widest,
        ${roomForRecords('h')} as room,
        p.version as former_version, p.total as former_total, ${metaIn('p')} as former_meta,
        ${roomForRecords('p')} as former_room
      from (select 1 as one) o
      left join companies c on c.id = $company
      left join heads h on h.company_id = $company and h.resource = '${name}'
      left join ${pastHeadsOf(name)} p on p.company_id = $company and p.until = (
        select min(q.until) from ${pastHeadsOf(name)} q
        where q.company_id = $company and q.until > $version
      ) and p.version <= $version
    ) s
    left join imports i on i.version = case
      when coalesce(s.head_version, s.company_version) <= $version
        then coalesce(s.head_version, s.company_version)
      else coalesce(s.former_version, s.first_version) end
    left join imports n on n.version = coalesce(s.head_version, s.company_version)`
}

/** The state of a listing that is what it was at the selection's version. */
export function presentState(frame: FrameRow, { version }: Selection): ListingState {
  const head = headOf(frame)
  return {
    ...head,
    dataVersion: version ?? head.dataVersion,
    latestVersion: head.dataVersion,
    meta: frame[5] ?? undefined,
    widest: frame[6],
    room: frame[7],
    isPresent: true,
    presentLineage: head.lineage,
    presentTotal: head.total,
  }
}

/**
 * The state that a row of `stateSql` describes; undefined if the company was not in the registry.
 */
export function stateOf(
  row: Row,
  { resource, version }: Selection,
): ListingState | OutsideHistory | undefined {
  const number = (name: string) => Number(row[name] ?? 0)
  const text = (name: string) => (row[name] === null ? undefined : String(row[name]))
  const latest = number('latest')
  const outside = findOutside(version, { latest, pastFrom: number('earliest') })
  if (outside !== undefined) return outside
  const changedIn = row['head_version'] ?? row['company_version'] ?? null
  const isPresent = changedIn !== null && Number(changedIn) <= versionToRead(version)
  const state = {
    lineage: text('lineage') ?? '',
    changedAt: number('committed_at'),
    dataVersion: version ?? latest,
    latestVersion: latest,
    presentLineage: text('present_lineage') ?? '',
    presentTotal: number('total'),
    widest: number('widest'),
    isPresent,
  }
  const of = isPresent ? '' : 'former_'
  if (isPresent || row['former_version'] !== null) {
    return {
      ...state,
      version: isPresent ? Number(changedIn) : number('former_version'),
      total: number(`${of}total`),
      meta: text(`${of}meta`),
      room: number(`${of}room`),
    }
  }
  if (row['first_version'] === null) return undefined
  // Known then, without a record.
  const meta = resource.metaOf === undefined ? undefined : '[]'
  return { ...state, version: number('first_version'), total: 0, meta, room: pageBytesMax }
}
