// The log of imports has examples of what each has changed: those about withheld people and
// companies are taken out of it.

import type { CompanyRow } from '../listing/tables.ts'
import type { Database } from '../sql/database.ts'
import type { HidePhrases } from './phrases.ts'

/** What the log calls companies: as in their registers, or by their numbers. */
export function labelsOf(
  companies: Iterable<Pick<CompanyRow, 'id' | 'jurisdiction' | 'identifier'>>,
): Set<string> {
  const labels = new Set<string>()
  for (const { id, jurisdiction, identifier } of companies) {
    labels.add(String(id))
    if (identifier !== null) labels.add(`${jurisdiction ?? ''} ${identifier}`)
  }
  return labels
}

/** @param labels of the companies about which something is withheld. */
export async function forgetExamples(
  db: Database,
  labels: ReadonlySet<string>,
  hidePhrases: HidePhrases,
): Promise<void> {
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
