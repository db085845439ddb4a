// Withholds something in a store, within a transaction: in the present and in every past version.

import { createNameKeeper } from '../companies/keep-names.ts'
import type { ListingTables } from '../listing/tables.ts'
import { eraseCompany } from './erase-company.ts'
import { forgetExamples, labelsOf } from './forget-examples.ts'
import { hideInTexts } from './hide-texts.ts'
import type { Found } from './list.ts'
import { createHidePhrases, phrasesOf } from './phrases.ts'
import { applyToRecords } from './withhold-records.ts'
import { nameCompany, type Touched, type Wanted, type Withholding, type Work } from './work.ts'

export interface Applied {
  readonly found: Found
  readonly touched: readonly Touched[]
  /** How many companies have got another name, or none. */
  readonly names: number
  /** The companies that were erased as a whole. */
  readonly erased: readonly number[]
}

/** Withholds what an order says; nothing if it is not there. */
export async function applyOrder(context: Withholding, wanted: Wanted): Promise<Applied> {
  const names = await createNameKeeper(context.db)
  const work: Work = { ...context, names, touched: [] }
  const { touched } = work
  const { subject, located } = wanted
  const { db, tables, hasher } = context
  const erasing = 'company' in subject ? [...(located?.companies ?? [subject.company])] : []
  const former = [...(await tables.companiesById(erasing)), ...(await pastOf(tables, erasing))]
  const found =
    'company' in subject
      ? await eraseCompanies(work, erasing)
      : 'textOf' in subject
        ? await applyToText(work, wanted, [...(located?.companies ?? [subject.textOf])])
        : await applyToRecords(work, { ...wanted, subject })
  const companies = await tables.companiesById([...new Set(touched.map((one) => one.companyId))])
  const hidePhrases = createHidePhrases(found.phrases, hasher)
  await forgetExamples(db, labelsOf([...former, ...companies]), hidePhrases)
  const isErased = new Set(found.companies.map(({ id }) => id))
  const erased = erasing.filter((id) => isErased.has(id))
  return { found, touched, names: await names.finish(), erased }
}

/** What companies were called. */
async function pastOf(tables: ListingTables, ids: readonly number[]) {
  const past = await tables.pastCompanies(ids)
  return past.map(({ companyId: id, ...named }) => ({ id, ...named }))
}

async function eraseCompanies(work: Work, ids: readonly number[]): Promise<Found> {
  const companies: Found['companies'][number][] = []
  for (const id of ids) companies.push(...(await eraseCompany(work, id)))
  return { ids: [], keys: [], companies, phrases: [] }
}

/** Hides a text in companies: in one, but for an order of another registry. */
async function applyToText(
  work: Work,
  { kind, value, found }: Wanted,
  ids: readonly number[],
): Promise<Found> {
  const { hasher, tables, touched } = work
  const phrases = found?.phrases ?? phrasesOf([value ?? ''], hasher)
  const hidePhrases = createHidePhrases(phrases, hasher)
  for (const companyId of ids) await hideInTexts(work, { companyId, hidePhrases, kind })
  const changed = new Set(touched.map(({ companyId }) => companyId))
  const known = await tables.companiesById([...changed])
  const companies = [...changed].map((id) => nameCompany(id, known, hasher))
  return { ids: [], keys: [], phrases, companies }
}
