// Logs a withholding as a version, and leaves traces for clients that follow the registry.

import { attributesShape } from '../listing/shape.ts'
import { inBatches } from '../listing/in-batches.ts'
import type { ListingTables, TraceRow } from '../listing/tables.ts'
import type { RegistryDatabase } from '../sql/database.ts'
import { logVersion, sourceId } from '../sql/import-log.ts'
import type { Subject } from './list.ts'
import type { Touched } from './rewrite.ts'

/** The source under which withholdings are logged; operators cannot choose such a name. */
const ownSource = 'dossier/withheld'

interface Logged {
  readonly version: number
  readonly touched: readonly Touched[]
  /** The companies that were erased as a whole. */
  readonly erased: ReadonlySet<number>
  readonly subject: Subject
  readonly startedAt: number
  readonly lineage: string
}

/** Adds a version to the log, as a revert of nothing: it does not count as an import. */
export async function logWithholding(db: RegistryDatabase, logged: Logged): Promise<void> {
  const { version, subject, touched, startedAt, lineage } = logged
  const target = 'resource' in subject ? subject.resource : 'companies'
  const own = touched.filter(({ listing, isPresent }) => listing === target && isPresent)
  const removed = own.filter(({ isGone }) => isGone).length
  await logVersion(db, {
    version,
    target,
    source: await sourceId(db, ownSource),
    startedAt,
    reverts: [],
    lineage,
    counts: { updated: own.length - removed, removed },
  })
  await leaveTraces(db.tables, logged)
}

const rowsAtOnce = 1_000

/** Leaves traces of what heads do not show, since the former ones were rewritten. */
async function leaveTraces(
  tables: ListingTables,
  { version, touched, erased }: Logged,
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

/** Leaves out records of which only past states were erased: clients keep the present one. */
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
