// The log of imports has examples of what each has changed: those about withheld people and
// companies are taken out of it.

import type { ImportDifference, LoggedDifference } from '../importing.ts'
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
  const rows = await db.rows('select version, difference from imports where difference is not null')
  for (const { version, difference } of rows) {
    const told = String(difference)
    const kept = JSON.stringify(without(JSON.parse(told) as LoggedDifference, labels, hidePhrases))
    if (kept === told) continue
    const set = 'update imports set difference = $kept where version = $version'
    await db.run(set, { kept, version: Number(version) })
  }
}

function without(
  difference: LoggedDifference,
  labels: ReadonlySet<string>,
  hidePhrases: HidePhrases,
): LoggedDifference {
  const isFree = (text: string | null) => text === null || hidePhrases(text) === text
  const unnamed = (list: ImportDifference['come']) => ({
    ...list,
    names: list.names.filter((name) => !labels.has(name)),
  })
  return {
    ...difference,
    attributes: difference.attributes.map((attribute) => ({
      ...attribute,
      examples: attribute.examples.filter(
        ({ company, before, after }) =>
          !labels.has(company ?? '') && isFree(before) && isFree(after),
      ),
    })),
    come: unnamed(difference.come),
    go: unnamed(difference.go),
    same: difference.same.filter(({ value }) => isFree(value)),
  }
}
