// Writes what a source says about companies, with their names.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { cutSegments, growthOfNew } from '../listing/cut.ts'
import { compareOrder } from '../listing/merge.ts'
import { attributesShape } from '../listing/shape.ts'
import { createOutput, type Output } from '../listing/write-listings.ts'
import { digestIn, textIn, textsIn } from './staging/spool.ts'
import { attributesInTurn, type Said, statementOf, valuesOf } from '../companies/attributes.ts'
import { createNameKeeper, renameAll } from '../companies/keep-names.ts'
import { noteNameAttribute } from '../companies/name-attribute.ts'
import type { ListedRecord } from '../listing/segment.ts'
import { lastCompany } from './apply-records.ts'
import type { ImportContext } from './context.ts'
import { attributeRows, changedCompanies } from './record-differences.ts'

const companiesAtOnce = 400

/** Writes what `change` holds, and brings names up to date. */
export async function applyCompanies(context: ImportContext): Promise<void> {
  const { staging, db, tables, plan, version, parts } = context
  const isRenaming = await noteNameAttribute(db, context, plan.nameAttribute)
  const last = lastCompany(staging)
  const names = await createNameKeeper(db)
  const out = createOutput(context, attributesShape)
  for (const companies of changedCompanies(staging, companiesAtOnce)) {
    for await (const said of attributesInTurn(tables, companies)) {
      const now = addStatements(context, said, out)
      await out.flush()
      await names.change(now, new Set(companies.filter((id) => said.get(id)?.length === 0)))
    }
    parts('writing')(Math.min(1, (companies.at(-1) ?? 0) / last))
    await nextTurn()
  }
  parts('indexing names')(0)
  await names.finish()
  if (isRenaming) await renameAll(db, version)
}

/** Makes the new listings of companies; returns what sources say about them then. */
function addStatements(context: ImportContext, said: Said, out: Output): Said {
  const rows = attributeRows(context.staging, [...said.keys()])
  const now = new Map<number, readonly ListedRecord[]>()
  for (const [companyId, former] of said) {
    const own = former.find(({ source }) => source === context.source)
    const row = rows.get(companyId)
    const record = row ? changedRecord(context, row) : absentRecord(context, own)
    const records = [...former.filter((one) => one !== own), record]
    records.sort((a, b) => compareOrder(attributesShape, a, b))
    const cut = cutSegments(attributesShape, records, growthOfNew(attributesShape))
    const entries = cut.map((one) => out.addSegment(companyId, one))
    out.addListing({ companyId, meta: null, entries, known: [] })
    now.set(companyId, records)
  }
  return now
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
