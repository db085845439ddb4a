// The log of imports has examples of what each has changed: those about withheld people and
// companies are taken out of it.

import type { CompanyRow } from '../listing/tables.ts'
import type { Work } from './apply.ts'
import type { PhraseHash } from './list.ts'
import { createHidePhrases } from './phrases.ts'

/**
 * Takes examples of what is withheld out of the log.
 *
 * @param former what the companies that are erased were called.
 */
export async function forgetExamples(
  { db, tables, touched, hasher }: Work,
  former: readonly CompanyRow[],
  phrases: readonly PhraseHash[],
): Promise<void> {
  const companies = await tables.companiesById([...new Set(touched.map((one) => one.companyId))])
  const labels = labelsOf([...former, ...companies])
  const hidePhrases = createHidePhrases(phrases, hasher)
  const isWithheld = (value: unknown) =>
    typeof value === 'string' && (labels.has(value) || hidePhrases(value) !== value)
  const tells = (value: unknown) =>
    (typeof value === 'object' && value !== null ? Object.values(value) : [value]).some(isWithheld)
  const rows = await db.rows('select version, difference from imports where difference is not null')
  for (const { version, difference } of rows) {
    const told = String(difference)
    // Examples are the elements of lists: texts, or objects with texts.
    const without = (_: string, value: unknown) =>
      Array.isArray(value) ? value.filter((one) => !tells(one)) : value
    const kept = JSON.stringify(JSON.parse(told, without))
    if (kept === told) continue
    const set = 'update imports set difference = $kept where version = $version'
    await db.run(set, { kept, version: Number(version) })
  }
}

/** What the log calls companies: as in their registers, or by their numbers. */
function labelsOf(companies: readonly CompanyRow[]): ReadonlySet<string> {
  const labels = new Set<string>()
  for (const { id, jurisdiction, identifier } of companies) {
    labels.add(String(id))
    if (identifier !== null) labels.add(`${jurisdiction ?? ''} ${identifier}`)
  }
  return labels
}
