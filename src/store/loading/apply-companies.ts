// Writes what a source says about companies, with their names.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { cutSegments, growthOfNew } from '../listing/cut.ts'
import { compareOrder } from '../listing/merge.ts'
import { attributesShape } from '../listing/shape.ts'
import { inBatches } from '../listing/in-batches.ts'
import { createOutput } from '../listing/write-listings.ts'
import { digestIn, textIn, textsIn } from './staging/spool.ts'
import type { StagedValue } from './staging/temporary-database.ts'
import { readAttributes, statementOf, valuesOf } from '../companies/attributes.ts'
import { createNameKeeper } from '../companies/keep-names.ts'
import { noteNameAttribute } from '../companies/name-attribute.ts'
import { renameAll } from '../companies/rename-all.ts'
import type { ListedRecord } from '../listing/segment.ts'
import { lastCompany } from './apply-records.ts'
import type { ImportContext } from './context.ts'
import { attributeRows, changedCompanies } from './record-differences.ts'

/**
 * How many companies are written at a time, and how long their attributes may be together: written
 * soon, they do not outlive the young generation of the heap.
 */
const attributesAtOnce = 400
const lengthAtOnce = 1_048_576

/** Writes what `change` holds, and brings names up to date. */
export async function applyCompanies(context: ImportContext): Promise<void> {
  const { staging, db, tables, plan, source, version, parts } = context
  const naming = { source, version, attribute: plan.nameAttribute }
  const isRenaming = await noteNameAttribute(db, naming)
  const last = lastCompany(staging)
  const names = await createNameKeeper(db)
  const out = createOutput(context, attributesShape)
  const changed = staging.iterate(changedCompanies)
  const lengthOf = ([, length]: readonly StagedValue[]) => Number(length)
  for (const batch of inBatches(changed, attributesAtOnce, lengthOf, lengthAtOnce)) {
    const companies = batch.map(([company]) => Number(company))
    const said = await readAttributes(tables, companies)
    const rows = attributeRows(staging, companies)
    const now = new Map<number, readonly ListedRecord[]>()
    for (const company of companies) {
      const former = said.get(company) ?? []
      const own = former.find(({ source }) => source === context.source)
      const row = rows.get(company)
      const record = row ? changedRecord(context, row) : absentRecord(context, own)
      const records = [...former.filter((one) => one !== own), record]
      records.sort((a, b) => compareOrder(attributesShape, a, b))
      const cut = cutSegments(attributesShape, records, growthOfNew(attributesShape))
      const entries = cut.map((one) => out.addSegment(company, one))
      out.addListing({ companyId: company, meta: null, entries, known: [] })
      now.set(company, records)
    }
    await out.flush()
    await names.change(now, new Set(companies.filter((id) => !said.has(id))))
    parts('writing')(Math.min(1, (companies.at(-1) ?? 0) / last))
    await nextTurn()
  }
  parts('indexing names')(0)
  if (isRenaming) await renameAll(tables, version, names)
  await names.finish()
}

/** An import without a day does not say since when its statements hold. */
function changedRecord({ source, version, asOf }: ImportContext, row: Buffer): ListedRecord {
  const since = textsIn(row).asOf ?? asOf
  const values = valuesOf({ version, asOf: since, isPresent: true, saidIn: version })
  return { id: source, sort: 0, source, digest: digestIn(row), values, text: textIn(row) }
}

/** Keeps an absent company's last attributes, to be compared when it returns. */
function absentRecord(
  { version, asOf, plan }: ImportContext,
  own: ListedRecord | undefined,
): ListedRecord {
  if (own === undefined) throw new Error('a company without attributes cannot be removed')
  const { asOf: known, saidIn } = statementOf(own)
  const since = asOf !== null && known !== null && known > asOf ? known : asOf
  const statement = { version, asOf: since, isPresent: false, saidIn }
  return { ...own, values: valuesOf(statement, plan.isRemoval) }
}
