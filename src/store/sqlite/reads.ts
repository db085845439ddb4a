// The reads of listings that serve requests from SQLite. What is the same until another process
// commits is kept.

import type { DatabaseSync } from 'node:sqlite'
import { LRUCache } from 'lru-cache'
import { type HeadRow, type ListingReads, MissingSegmentError } from '../listing/tables.ts'
import type { RegistryState } from '../reading.ts'
import type { Change, ServingReads } from '../serving/reads.ts'
import { registryOf, type RegistryRow, registrySql } from '../sql/find-companies.ts'
import { type HeadColumns, headColumns, headOf } from '../sql/tables.ts'
import { prepareRow } from './statements.ts'

/** How many imports are kept. */
const changesMax = 10_000

/** Reads of listings, at once. */
interface FileListingReads extends ListingReads {
  readonly head: (listing: string, company: number, version: number) => HeadRow | undefined
  readonly texts: ReadColumn
  readonly entries: ReadColumn
}

/** The reads besides `now`. */
export interface FileReads extends FileListingReads, Pick<ServingReads, 'headIn' | 'knownSince'> {
  readonly change: (version: number) => Change
  readonly registry: () => RegistryState
  /** Forgets what is kept. */
  readonly forget: () => void
}

type ReadColumn = (companyId: number, segments: readonly number[]) => Uint8Array[]

const whereAtVersion =
  'where h.company_id = ? and h.listing = ? and h.version <= ? order by h.version desc limit 1'

/** In one statement, since a second one costs as much as what it reads. */
const headWithTextsSql = `
  select ${headColumns}, s.texts
  from heads h left join segments s on s.segment = h.segment and s.company_id = h.company_id
  ${whereAtVersion}`

const knownSinceSql = `
  select coalesce(
    (select version from companies where id = ?1 and version <= ?2),
    (select version from companies_past where company_id = ?1 and version <= ?2 and until > ?2)
  )`

/** Reads listings over a connection. */
export function listingReadsOf(db: DatabaseSync): FileListingReads {
  const headRow = prepareRow(db, `select ${headColumns} from heads h ${whereAtVersion}`)
  return {
    head(listing, company, version) {
      const row = headRow.get(company, listing, version) as unknown as HeadColumns | undefined
      return row && headOf(row)
    },
    texts: readColumn(db, 'texts'),
    entries: readColumn(db, 'entries'),
  }
}

export function createReads(db: DatabaseSync): FileReads {
  const registryRow = prepareRow(db, registrySql)
  const headWithTextsRow = prepareRow(db, headWithTextsSql)
  const changeRow = prepareRow(db, 'select lineage, committed_at from imports where version = ?')
  const sinceRow = prepareRow(db, knownSinceSql)
  const changes = new LRUCache<number, Change>({ max: changesMax })
  let kept: RegistryState | undefined

  const registry = () =>
    (kept ??= registryOf(registryRow.get() as unknown as RegistryRow | undefined))

  const reads = listingReadsOf(db)

  return {
    ...reads,
    registry,
    headIn(listing, company, version, beside) {
      const state = registry()
      const most = version === undefined ? state.version : Math.min(version, state.version)
      if (beside === 'nothing') {
        return { registry: state, head: reads.head(listing, company, most) }
      }
      const row = headWithTextsRow.get(company, listing, most) as unknown as HeadColumns | undefined
      return { registry: state, head: row && headOf(row), texts: row?.[6] ?? undefined }
    },
    change(version) {
      const known = changes.get(version)
      if (known !== undefined) return known
      const row = changeRow.get(version) as readonly [string, number] | undefined
      if (row === undefined) throw new Error(`version ${version} is not in the log of imports`)
      const change = { lineage: row[0], committedAt: row[1] }
      changes.set(version, change)
      return change
    },
    knownSince(company, version) {
      const [since] = sinceRow.get(company, version) as unknown as [number | null]
      return since ?? undefined
    },
    forget() {
      kept = undefined
      changes.clear()
    },
  }
}

type SegmentColumn = readonly [bytes: Uint8Array | null]

/** Reads a column of a company's segments; those with consecutive numbers by one statement. */
function readColumn(db: DatabaseSync, column: 'texts' | 'entries'): ReadColumn {
  const select = `select ${column} from segments where company_id = ?1 and segment`
  const single = prepareRow(db, `${select} = ?2`)
  const range = prepareRow(db, `${select} between ?2 and ?3`)

  function run(company: number, first: number, last: number): readonly SegmentColumn[] {
    if (first < last) return range.all(company, first, last) as unknown as SegmentColumn[]
    const row = single.get(company, first) as unknown as SegmentColumn | undefined
    return row === undefined ? [] : [row]
  }

  return (company, segments) => {
    const found: Uint8Array[] = []
    for (let at = 0; at < segments.length;) {
      const start = at
      const first = segments[at] ?? 0
      at += 1
      while (segments[at] === first + at - start) at += 1
      const last = first + at - start - 1
      for (const [bytes] of run(company, first, last)) if (bytes !== null) found.push(bytes)
      if (found.length < at) throw new MissingSegmentError({ companyId: company, segment: first })
    }
    return found
  }
}
