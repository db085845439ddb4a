// Removes what is withheld from the log of imports, which has examples of the changes of each
// import, and the names of new attributes.

import type { CompanyRow } from '../listing/tables.ts'
import type { Work } from './apply.ts'
import type { PhraseHash } from './list.ts'
import { createHidePhrases } from './phrases.ts'

/**
 * Removes what is withheld from the log.
 *
 * @param companies the present and past names of the companies that are erased or rewritten.
 */
export async function forgetInLog(
  { db, hasher }: Work,
  companies: readonly CompanyRow[],
  phrases: readonly PhraseHash[],
): Promise<void> {
  const labels = labelsOf(companies)
  const hidePhrases = createHidePhrases(phrases, hasher)
  // A shortened text may end within a name.
  const mayHide = (text: string) =>
    hidePhrases(text) !== text || (phrases.length > 0 && text.endsWith('…'))
  const isWithheld = (value: unknown) =>
    typeof value === 'string' && (labels.has(value) || mayHide(value))
  const tells = (value: unknown) =>
    (typeof value === 'object' && value !== null ? Object.values(value) : [value]).some(isWithheld)
  // Examples are the elements of lists: texts, or objects with texts.
  const withoutExamples = (_: string, value: unknown) =>
    Array.isArray(value) ? value.filter((one) => !tells(one)) : value
  const withoutNames = (_: string, value: unknown) =>
    typeof value === 'string' ? hidePhrases(value) : value
  const rewritten = (text: string | null, change: Parameters<typeof JSON.parse>[1]) =>
    text === null ? null : JSON.stringify(JSON.parse(text, change))
  type Columns = [version: number, difference: string | null, attributes: string]
  for (const [version, ...told] of await db.rows<Columns>(logged)) {
    const difference = rewritten(told[0], withoutExamples)
    const attributes = rewritten(told[1], withoutNames)
    if (difference === told[0] && attributes === told[1]) continue
    const set = 'update imports set difference = $2, attributes = $3 where version = $1'
    await db.run(set, version, difference, attributes)
  }
}

const logged = `
  select version, difference, attributes from imports
  where difference is not null or attributes <> '[]'`

/** How the log names companies: as their registers do, or by their ids. */
function labelsOf(companies: readonly CompanyRow[]): ReadonlySet<string> {
  const labels = new Set<string>()
  for (const { id, jurisdiction, identifier } of companies) {
    labels.add(String(id))
    if (identifier !== null) labels.add(`${jurisdiction ?? ''} ${identifier}`)
  }
  return labels
}
