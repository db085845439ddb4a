// The log of imports has examples of what each has changed, and the names of attributes that were
// new: what is withheld is taken out of both.

import type { CompanyRow } from '../listing/tables.ts'
import type { Work } from './apply.ts'
import type { PhraseHash } from './list.ts'
import { createHidePhrases } from './phrases.ts'

/**
 * Takes what is withheld out of the log.
 *
 * @param companies what those that are erased or rewritten are and were called.
 */
export async function forgetInLog(
  { db, hasher }: Work,
  companies: readonly CompanyRow[],
  phrases: readonly PhraseHash[],
): Promise<void> {
  const labels = labelsOf(companies)
  const hidePhrases = createHidePhrases(phrases, hasher)
  // What was cut short may end within a name.
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

/** What the log calls companies: as in their registers, or by their numbers. */
function labelsOf(companies: readonly CompanyRow[]): ReadonlySet<string> {
  const labels = new Set<string>()
  for (const { id, jurisdiction, identifier } of companies) {
    labels.add(String(id))
    if (identifier !== null) labels.add(`${jurisdiction ?? ''} ${identifier}`)
  }
  return labels
}
