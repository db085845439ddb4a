// Records an import's changes as records of another resource: found before the merge overwrites the
// old state, appended after it, in the same transaction.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { readAttributes, statementOf } from '../companies/attributes.ts'
import type { Difference, Recording } from '../importing.ts'
import { decodeEntries, type ListedRecord, recordsOf } from '../listing/segment.ts'
import { type ListingShape, shapeOf } from '../listing/shape.ts'
import { inBatches, type CompanyRow } from '../listing/tables.ts'
import { keysOf, leavesOf, openListings, type OpenListing } from '../listing/open-listings.ts'
import type { ImportContext } from './context.ts'
import { textIn as textOfBytes } from '../record-texts.ts'
import { recordText, textIn } from './staging/spool.ts'
import type { Staging } from './staging/staging.ts'

const companiesAtOnce = 100

/**
 * Stages the records of the changes that the merge will make, after all other rows, and returns
 * their number.
 *
 * @param recordingSource the number of the source of these records.
 */
export async function stageDifferences(
  context: ImportContext,
  recording: Recording,
  recordingSource: number,
): Promise<number> {
  const { staging, plan } = context
  const changed = staging.iterate(`
    select company_id from (
      select company_id from change union select company_id from removal
    ) order by company_id`)
  let recorded = 0
  for (const batch of inBatches(changed, companiesAtOnce)) {
    const ids = batch.map(([company]) => Number(company))
    const companies = await companiesOf(context, ids)
    const differences =
      plan.target.resource === undefined
        ? await companyDifferences(context, companies)
        : await listingDifferences(context, companies, { recording, recordingSource })
    for (const difference of differences) {
      for (const row of recording.record(difference)) {
        staging.append({ ...row, companyId: difference.companyId })
        recorded += 1
      }
    }
    // Lets signals be handled.
    await nextTurn()
  }
  return recorded
}

type Named = Pick<CompanyRow, 'id' | 'jurisdiction' | 'identifier'>

/** Companies with their names, those included that this import makes or names. */
export async function companiesOf(
  { staging, tables }: ImportContext,
  ids: readonly number[],
): Promise<readonly Named[]> {
  const known = new Map<number, Named>(
    (await tables.companiesById(ids)).map((one) => [one.id, one]),
  )
  for (const [id, jurisdiction, identifier] of staging.rows(
    `select c.id, c.jurisdiction, c.identifier from json_each(?) e
     cross join companies c on c.id = e.value where c.is_new or c.is_named`,
    JSON.stringify(ids),
  )) {
    const named = {
      jurisdiction: jurisdiction as string | null,
      identifier: identifier as string | null,
    }
    known.set(Number(id), { id: Number(id), ...named })
  }
  return ids.flatMap((id) => known.get(id) ?? [])
}

/** The source's statements before and after, for each company that it had mentioned before. */
async function companyDifferences(
  { staging, tables, source, asOf }: ImportContext,
  companies: readonly Named[],
): Promise<Difference[]> {
  const ids = companies.map(({ id }) => id)
  const said = await readAttributes(tables, ids)
  const now = changedTexts(staging, ids, (_, row) => textIn(row))
  return companies.flatMap((company): Difference[] => {
    const own = said.get(company.id)?.find((one) => one.source === source)
    if (own === undefined) return []
    const before = { isPresent: statementOf(own).isPresent, texts: [textOfBytes(own.text)] }
    const [row] = now.get(company.id) ?? []
    const named = namesOf(company)
    if (row !== undefined) {
      const after = { isPresent: true, texts: [row.text] }
      return [{ ...named, asOf: row.asOf ?? String(asOf), before, after }]
    }
    const days = [asOf ?? '', statementOf(own).asOf ?? ''].sort()
    return [{ ...named, asOf: days[1] ?? '', before, after: { ...before, isPresent: false } }]
  })
}

interface ChangedText {
  readonly id: number
  readonly text: string
  readonly asOf: string | null
}

/** What rows say of records that change in some companies. */
function changedTexts(
  staging: Staging,
  companies: readonly number[],
  readText: (id: number, row: Buffer) => Buffer,
): ReadonlyMap<number, readonly ChangedText[]> {
  const found = new Map(companies.map((id) => [id, [] as ChangedText[]]))
  const rows = staging.rows(
    `select c.company_id, c.id, s.at, s.length, s.as_of from json_each(?) e
     cross join change c on c.company_id = e.value cross join stage s on s.seq = c.seq`,
    JSON.stringify(companies),
  )
  const places = rows.map(([company, id, at, length, asOf]) => ({
    ...{ company: Number(company), id: Number(id), asOf: asOf as string | null },
    ...{ at: Number(at), length: Number(length) },
  }))
  for (const [{ company, id, asOf }, row] of staging.spool.read(places)) {
    found.get(company)?.push({ id, text: readText(id, row).toString(), asOf })
  }
  return found
}

const namesOf = ({ id, jurisdiction, identifier }: Named) => ({
  companyId: id,
  companyJurisdiction: jurisdiction,
  companyIdentifier: identifier,
})

interface Recorded {
  readonly recording: Recording
  readonly recordingSource: number
}

/** A listing's records before and after, for companies in which the source had records before. */
async function listingDifferences(
  context: ImportContext,
  companies: readonly Named[],
  recorded: Recorded,
): Promise<Difference[]> {
  const { tables, plan } = context
  const ids = companies.map(({ id }) => id)
  const open = await openListings(tables, plan.target.name, ids)
  const now = changedTexts(context.staging, ids, recordText)
  const differences: Difference[] = []
  for (const company of companies) {
    const records = await ownRecords(context, open.get(company.id))
    if (records.length === 0 && !(await wasSighted(context, company.id, recorded))) continue
    const { before, after } = statesOf(context, company.id, records, now.get(company.id) ?? [])
    differences.push({
      ...namesOf(company),
      asOf: String(context.asOf),
      before: { isPresent: true, texts: before },
      after: { isPresent: true, texts: after },
    })
  }
  return differences
}

/** The records that a source has in a listing. */
async function ownRecords(
  { tables, shape, source }: ImportContext,
  listing: OpenListing | undefined,
): Promise<ListedRecord[]> {
  if (listing === undefined) return []
  const records: ListedRecord[] = []
  for (const batch of inBatches(keysOf(listing.head.companyId, listing.leaves), 100)) {
    for (const { entries, texts } of await tables.segments(batch, 'both')) {
      for (const record of recordsOf(decodeEntries(shape, entries), texts ?? new Uint8Array())) {
        if (record.source === source) records.push(record)
      }
    }
  }
  return records
}

/** The texts of a source's records before and after, in the order of their ids. */
function statesOf(
  { staging }: ImportContext,
  company: number,
  records: readonly ListedRecord[],
  changes: readonly ChangedText[],
) {
  const before = new Map(records.map(({ id, text }) => [id, textOfBytes(text)]))
  const after = new Map(before)
  for (const [id] of staging.rows('select id from removal where company_id = ?', company)) {
    after.delete(Number(id))
  }
  for (const { id, text } of changes) after.set(id, text)
  const byId = (state: ReadonlyMap<number, string>) =>
    [...state].sort(([a], [b]) => a - b).map(([, text]) => text)
  return { before: byId(before), after: byId(after) }
}

/**
 * Whether the source has had records in a listing that has none of it now: a company's first state
 * is not a change. Former heads show it (those of reverted versions show nothing); so do the
 * recorded changes, which remain when the past is pruned.
 */
async function wasSighted(
  context: ImportContext,
  company: number,
  { recording, recordingSource }: Recorded,
): Promise<boolean> {
  const { tables, plan, shape, source, db } = context
  const { resource } = recording
  const events = (await openListings(tables, resource.name, [company])).get(company)
  const of = { ...context, shape: shapeOf(resource) }
  if (events !== undefined && (await hasRecordsOf(of, events, recordingSource))) return true
  const heads = await tables.headsOf(plan.target.name, [company])
  if (heads.length === 0) return false
  const rows = await db.rows(
    `select version from imports
     where source_id = $source and resource = $target and reverted_by is null`,
    { source, target: plan.target.name },
  )
  const inForce = new Set(rows.map(({ version }) => Number(version)))
  for (const head of heads) {
    if (!inForce.has(head.version)) continue
    const leaves = await leavesOf(tables, head)
    if (await hasRecordsOf({ tables, shape }, { head, leaves }, source)) return true
  }
  return false
}

async function hasRecordsOf(
  { tables, shape }: { readonly tables: ImportContext['tables']; readonly shape: ListingShape },
  { head, leaves }: OpenListing,
  source: number,
): Promise<boolean> {
  for (const batch of inBatches(keysOf(head.companyId, leaves), 100)) {
    for (const { entries } of await tables.segments(batch, 'entries')) {
      if (decodeEntries(shape, entries, []).sources.includes(source)) return true
    }
  }
  return false
}
