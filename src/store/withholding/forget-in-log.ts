// The log of imports has examples of what each has changed, and the names of attributes that were
// new: what is withheld is taken out of both.

import type { CompanyRow } from '../listing/tables.ts'
import type { Value } from '../sql/database.ts'
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
  const rewritten = (text: Value | undefined, change: Parameters<typeof JSON.parse>[1]) =>
    typeof text === 'string' ? JSON.stringify(JSON.parse(text, change)) : null
  for (const { version = null, ...told } of await db.rows(logged)) {
    const difference = rewritten(told['difference'], withoutExamples)
    const attributes = rewritten(told['attributes'], withoutNames)
    if (difference === told['difference'] && attributes === told['attributes']) continue
    const set = `
      update imports set difference = $difference, attributes = $attributes
      where version = $version`
    await db.run(set, { difference, attributes, version })
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
