// A withholding is a version: the log has it, and traces tell those who follow the registry.

import { attributesShape } from '../listing/shape.ts'
import { inBatches, type ListingTables, type TraceRow } from '../listing/tables.ts'
import type { ImportConnection } from '../sql/database.ts'
import { logVersion, sourceId } from '../sql/import-log.ts'
import type { Applied } from './apply.ts'
import type { Wanted } from './work.ts'

/** The source under which withholdings are logged; operators cannot choose such a name. */
const ownSource = 'dossier/withheld'

interface Logged {
  readonly version: number
  readonly wanted: Wanted
  readonly applied: Applied
  readonly startedAt: number
  readonly lineage: string
}

/** Adds the version to the log, as one that takes nothing back: it counts as no import. */
export async function logWithholding(
  db: ImportConnection,
  { version, wanted, applied, startedAt, lineage }: Logged,
): Promise<void> {
  const { subject } = wanted
  const target = 'resource' in subject ? subject.resource : 'companies'
  const own = applied.touched.filter(({ listing, isPresent }) => listing === target && isPresent)
  const removed = own.filter(({ isGone }) => isGone).length
  const counts = { read: 0, inserted: 0, updated: own.length - removed, unchanged: 0 }
  await logVersion(
    db,
    { version, source: await sourceId(db, ownSource), asOf: null },
    {
      ...{ target, isSnapshot: false, startedAt, files: [], recorded: {}, reverts: [], lineage },
      counts: { ...counts, refused: 0, removed, companiesCreated: 0 },
    },
  )
  await leaveTraces(db.tables, version, applied)
}

const rowsAtOnce = 1_000

/** Tells those who follow what heads do not show, since former ones are others now. */
async function leaveTraces(
  tables: ListingTables,
  version: number,
  { touched, erased }: Applied,
): Promise<void> {
  const companies = new Map<number, TraceRow>()
  const records = new Map<string, TraceRow[]>()
  for (const { listing, companyId, id, sort, isPresent, isGone } of touched) {
    const kind = isGone ? 'erase' : 'put'
    if (listing === attributesShape.listing) {
      companies.set(companyId, { companyId, version, id: companyId, sort: 0, kind: 'put' })
    } else if (isPresent || isGone) {
      const rows = records.get(listing) ?? []
      records.set(listing, rows)
      rows.push({ companyId, version, id, sort, kind })
    }
  }
  for (const id of erased) {
    companies.set(id, { companyId: id, version, id, sort: 0, kind: 'erase' })
  }
  records.set(attributesShape.listing, [...companies.values()])
  for (const [listing, rows] of records) {
    for (const some of inBatches(rows, rowsAtOnce)) {
      await tables.putTraces(listing, await withoutKept(tables, listing, some))
    }
  }
}

/** Without records of which only past states were erased: those who follow have the present one. */
async function withoutKept(
  tables: ListingTables,
  listing: string,
  rows: readonly TraceRow[],
): Promise<readonly TraceRow[]> {
  const nameOf = ({ companyId, id }: Pick<TraceRow, 'companyId' | 'id'>) => `${companyId} ${id}`
  const erased = rows.filter(({ kind }) => kind === 'erase').map(({ id }) => id)
  const kept = new Set((await tables.whereListed(listing, erased)).map(nameOf))
  return rows.filter((row) => row.kind !== 'erase' || !kept.has(nameOf(row)))
}
