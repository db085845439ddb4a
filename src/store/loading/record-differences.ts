// Records an import's changes as records of another resource: they are found before the merge
// replaces the old state, and appended after it, in the same transaction.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { attributesInTurn, statementOf, wasPresent } from '../companies/attributes.ts'
import type { Difference, NamedCompany, Recording } from '../importing.ts'
import type { ListedRecord } from '../listing/segment.ts'
import { comparedParts, shapeOf } from '../listing/shape.ts'
import { inBatches } from '../listing/in-batches.ts'
import type { DirectoryEntry } from '../listing/directory.ts'
import { keysOf, leavesOf, openListings, readSegments } from '../listing/open-listings.ts'
import { sourceId } from '../sql/import-log.ts'
import type { ImportContext } from './context.ts'
import { textIn as textOfBytes } from '../record-texts.ts'
import type { PutKind } from './staging/put-reader.ts'
import { recordText, textIn, textsIn } from './staging/spool.ts'
import type { StagedRowBytes, Staging } from './staging/staging.ts'
import type { StagedValue } from './staging/temporary-database.ts'

const companiesAtOnce = 100

/** How changes are recorded, with the number of the source of their records. */
export interface OpenRecording extends Omit<Recording, 'source'>, PutKind {}

/** Opens the recording of an import with a day. Its source exists from the first load on. */
export async function openRecording({
  db,
  plan: { recording },
  asOf,
}: ImportContext): Promise<OpenRecording | undefined> {
  if (recording === undefined || asOf === null) return undefined
  return { ...recording, source: await sourceId(db, recording.source) }
}

/**
 * Stages the records of the changes that the merge will make, after all other rows, and returns
 * their number.
 */
export async function stageDifferences(
  context: ImportContext,
  recording: OpenRecording,
): Promise<number> {
  const { staging, tables, plan, gate, parts } = context
  const isOfCompanies = plan.target.resource === undefined
  // If no source has said anything about companies yet, nothing has changed.
  if (isOfCompanies && context.isFirst) return 0
  parts('recording')(0)
  const changes = { tables, shape: shapeOf(recording.resource), source: recording.source }
  let recorded = 0
  for (const ids of changedCompanies(staging, companiesAtOnce)) {
    const companies = await companiesOf(context, ids)
    const differences = isOfCompanies
      ? companyDifferences(context, companies)
      : listingDifferences(context, companies, changes)
    for await (const difference of differences) {
      for (const row of recording.record(difference)) {
        const passed = gate.passRecorded({ ...row, companyId: difference.company.id })
        if (passed === undefined) continue
        staging.append(passed)
        recorded += 1
      }
    }
    // Lets signals be handled.
    await nextTurn()
  }
  return recorded
}

const changedSql =
  'select company_id, sum(length) from change group by company_id order by company_id'

/** How long rows may be together: written soon, they leave before the heap's old generation. */
const lengthAtOnce = 1_048_576

/** The companies that the merge changes, in ascending order, some at a time. */
export function* changedCompanies(staging: Staging, count: number): Generator<readonly number[]> {
  const lengthOf = ([, length]: readonly StagedValue[]) => Number(length)
  for (const some of inBatches(staging.iterate(changedSql), count, lengthOf, lengthAtOnce)) {
    yield some.map(([company]) => Number(company))
  }
}

/** The rows that change what the source says about some companies, by company. */
export function attributeRows(
  staging: Staging,
  companies: readonly number[],
): ReadonlyMap<number, Buffer> {
  const changed = readChanged(staging, companies)
  return new Map(Array.from(changed, ([[company], row]) => [Number(company), row]))
}

/** The rows that change records of some companies: each with company and id. */
function readChanged(staging: Staging, companies: readonly number[]): Iterable<StagedRowBytes> {
  return staging.read(
    `select c.company_id, c.id, c.at, c.length from json_each(?) e
     cross join change c on c.company_id = e.value where c.seq is not null`,
    JSON.stringify(companies),
  )
}

/** Companies with their names, including those that this import creates or names. */
export async function companiesOf(
  { staging, tables }: ImportContext,
  ids: readonly number[],
): Promise<readonly NamedCompany[]> {
  const known = new Map<number, NamedCompany>(
    (await tables.companiesById(ids)).map((one) => [one.id, one]),
  )
  for (const [id, jurisdiction, identifier] of staging.rows(
    `select c.id, c.jurisdiction, c.identifier from json_each(?) e
     cross join companies c on c.id = e.value where c.is_new or c.is_named`,
    JSON.stringify(ids),
  )) {
    known.set(Number(id), { id, jurisdiction, identifier } as NamedCompany)
  }
  return ids.flatMap((id) => known.get(id) ?? [])
}

/** The source's statements before and after, for each company that it had before. */
async function* companyDifferences(
  { staging, tables, source, asOf }: ImportContext,
  companies: readonly NamedCompany[],
): AsyncGenerator<Difference> {
  const named = new Map(companies.map((company) => [company.id, company]))
  for await (const said of attributesInTurn(tables, [...named.keys()])) {
    const rows = attributeRows(staging, [...said.keys()])
    for (const [id, records] of said) {
      const company = named.get(id)
      const own = records.find((one) => one.source === source)
      if (company === undefined || own === undefined) continue
      const before = { isPresent: wasPresent(own), texts: [textOfBytes(own.text)] }
      const row = rows.get(id)
      if (row !== undefined) {
        const after = { isPresent: true, texts: [textIn(row).toString()] }
        yield { company, asOf: textsIn(row).asOf ?? String(asOf), before, after }
      } else {
        const days = [asOf ?? '', statementOf(own).asOf ?? ''].sort()
        yield { company, asOf: days[1] ?? '', before, after: { ...before, isPresent: false } }
      }
    }
  }
}

type TextsById = Map<number, string>

/** The records that a source has in listings of a kind. */
type SourceRecords = Pick<ImportContext, 'tables' | 'shape' | 'source'>

const removed = 'select id from change where company_id = ? and seq is null'

/**
 * A listing's records before and after, for companies in which the source had records before: a
 * company's first state is not a change, and neither is the first one after `sources remove`.
 *
 * @param recorded the records that describe the changes.
 */
async function* listingDifferences(
  context: ImportContext,
  companies: readonly NamedCompany[],
  recorded: SourceRecords,
): AsyncGenerator<Difference> {
  const { tables, plan, staging } = context
  const ids = companies.map(({ id }) => id)
  const open = await openListings(tables, plan.target.name, ids)
  const changed = Map.groupBy(readChanged(staging, ids), ([[company]]) => Number(company))
  for (const company of companies) {
    const had = await ownTexts(context, company.id, open.get(company.id)?.leaves)
    if (had.size === 0 && !(await hasHadRecords(context, company.id, recorded))) continue
    const after = new Map(had)
    for (const [id] of staging.rows(removed, company.id)) after.delete(Number(id))
    for (const [[, id], row] of changed.get(company.id) ?? []) {
      after.set(Number(id), recordText(Number(id), row).toString())
    }
    yield {
      company,
      asOf: String(context.asOf),
      before: { isPresent: true, texts: byId(had) },
      after: { isPresent: true, texts: byId(after) },
    }
  }
}

/** Texts in the order of their ids. */
const byId = (texts: TextsById) => [...texts].sort(([a], [b]) => a - b).map(([, text]) => text)

/** The texts of the source's records in segments of a listing. */
async function ownTexts(
  context: SourceRecords,
  company: number,
  leaves: readonly DirectoryEntry[] = [],
): Promise<TextsById> {
  const texts: TextsById = new Map()
  for await (const { id, text } of ownRecords(context, company, leaves)) {
    texts.set(id, textOfBytes(text))
  }
  return texts
}

/** The records that a source has in segments of a listing. */
async function* ownRecords(
  { tables, shape, source }: SourceRecords,
  company: number,
  leaves: readonly DirectoryEntry[],
): AsyncGenerator<ListedRecord> {
  const keys = keysOf(company, leaves)
  for await (const { records } of readSegments(tables, shape, keys, comparedParts(shape))) {
    for (const record of records) if (record.source === source) yield record
  }
}

/**
 * Whether the source has had records in a listing that has none of it now. Former heads show it, as
 * do the recorded changes, which remain when the past is pruned.
 */
async function hasHadRecords(
  context: ImportContext,
  company: number,
  recorded: SourceRecords,
): Promise<boolean> {
  const { tables, shape, inForce } = context
  if (inForce.size === 0) return false
  for (const head of (await tables.headsOf(shape.listing, [company])).toReversed()) {
    if (!inForce.has(head.version)) continue
    if (await hasOwn(context, company, await leavesOf(tables, head))) return true
  }
  const events = (await openListings(tables, recorded.shape.listing, [company])).get(company)
  return hasOwn(recorded, company, events?.leaves ?? [])
}

async function hasOwn(...asked: Parameters<typeof ownRecords>): Promise<boolean> {
  const first = await ownRecords(...asked).next()
  return first.done !== true
}
