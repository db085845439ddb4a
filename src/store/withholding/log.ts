// Logs a withholding as a version, leaves traces for clients that follow the registry, and removes
// what is withheld from the log of imports.

import { statementColumns } from '../companies/attribute-text.ts'
import { attributesShape } from '../listing/shape.ts'
import { inTurns } from '../listing/in-batches.ts'
import type { ListingTables, TraceRow } from '../listing/tables.ts'
import { textIn } from '../record-texts.ts'
import type { RegistryDatabase } from '../sql/database.ts'
import { logVersion, sourceId } from '../sql/import-log.ts'
import type { Work } from './apply-order.ts'
import type { PhraseHash, Subject } from './list/entries.ts'
import { createHidePhrases } from './phrases.ts'
import { allRecords } from './rewrite.ts'
import type { AllTouched } from './touched.ts'

/** The source under which withholdings are logged; operators cannot choose such a name. */
const ownSource = 'dossier/withheld'

interface Logged {
  readonly version: number
  readonly touched: AllTouched
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
  const counts = { updated: 0, removed: 0 }
  for (const { listing, isPresent, isGone } of touched.values()) {
    if (listing === target && isPresent) counts[isGone ? 'removed' : 'updated'] += 1
  }
  await logVersion(db, {
    version,
    target,
    source: await sourceId(db, ownSource),
    startedAt,
    reverts: [],
    lineage,
    counts,
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
  const ofCompany = (id: number, kind: TraceRow['kind']) =>
    companies.set(id, { companyId: id, version, id, sort: 0, kind })
  for await (const some of inTurns(touched.values(), rowsAtOnce)) {
    for (const [listing, all] of Map.groupBy(some, (one) => one.listing)) {
      if (listing === attributesShape.listing) {
        for (const { companyId } of all) ofCompany(companyId, 'put')
        continue
      }
      const rows = all.map(({ companyId, id, sort, isGone }): TraceRow => {
        return { companyId, version, id, sort, kind: isGone ? 'erase' : 'put' }
      })
      await tables.putTraces(listing, await withoutPast(tables, listing, rows))
    }
  }
  for (const id of erased) ofCompany(id, 'erase')
  for await (const rows of inTurns(companies.values(), rowsAtOnce)) {
    await tables.putTraces(attributesShape.listing, rows)
  }
}

/**
 * Leaves out erased states of records that are still listed, which clients keep, and masked states
 * of records that are not. A listed record may have come masked, before its earlier states were
 * masked: they are the same now, so only a trace shows clients of these that it has changed.
 */
async function withoutPast(
  tables: ListingTables,
  listing: string,
  rows: readonly TraceRow[],
): Promise<readonly TraceRow[]> {
  const nameOf = ({ companyId, id }: Pick<TraceRow, 'companyId' | 'id'>) => `${companyId} ${id}`
  const ids = rows.map(({ id }) => id)
  const listed = new Set((await tables.whereListed(listing, ids)).map(nameOf))
  return rows.filter((row) => listed.has(nameOf(row)) === (row.kind === 'put'))
}

/** Finds the names of attributes that companies have in no version: only erased ones had them. */
export async function findUnsaid(tables: ListingTables, names: readonly string[]) {
  const unsaid = new Set(names).difference(statementColumns)
  for await (const { record } of unsaid.size === 0 ? [] : allRecords(tables, attributesShape)) {
    for (const name in JSON.parse(textIn(record.text)) as object) unsaid.delete(name)
    if (unsaid.size === 0) break
  }
  return unsaid
}

/**
 * Removes what is withheld from the log of imports: the differences, which have examples, of all
 * kinds that may tell of it; and the names of new attributes, which imports still compare.
 */
export async function forgetInLog(
  { db, tables, hasher, resources }: Work,
  subject: Subject,
  phrases: readonly PhraseHash[],
): Promise<void> {
  // An example of any kind may name an erased company, of which some attribute was alone.
  const isErasing = 'company' in subject
  const kinds = resources.filter(
    ({ name, changeFields }) =>
      isErasing ||
      changeFields !== undefined ||
      ('resource' in subject && subject.resource === name),
  )
  for (const kind of [...kinds.map(({ name }) => name), attributesShape.listing]) {
    await db.run('update imports set difference = null where resource = $1', kind)
  }
  const sql = "select version, resource, attributes from imports where attributes <> '[]'"
  const rows = await db.rows<[version: number, kind: string, told: string]>(sql)
  const logged = rows.map(([version, kind, told]) => {
    const isOfCompanies = kind === attributesShape.listing
    return { version, told, isOfCompanies, names: JSON.parse(told) as string[] }
  })
  const said = logged.filter((one) => isErasing && one.isOfCompanies)
  const lost = await findUnsaid(
    tables,
    said.flatMap(({ names }) => names),
  )
  const hidePhrases = createHidePhrases(phrases, hasher)
  for (const { version, told, isOfCompanies, names } of logged) {
    const kept = names.filter((name) => !isOfCompanies || !lost.has(name)).map(hidePhrases)
    const attributes = JSON.stringify(kept)
    if (attributes === told) continue
    await db.run('update imports set attributes = $2 where version = $1', version, attributes)
  }
}
