// A sample company: its identity, and the vocabulary of its country.

import type { Random } from './random.ts'
import type { Vocabulary } from './vocabulary.ts'

/** A row of an import: a company or a record, by its columns. */
export type Row = Readonly<Record<string, unknown>>

/** A company of the demo. */
export interface Company {
  readonly id: number
  readonly identifier: string
  /** Its own name, without trade and legal form. */
  readonly ownName: string
  readonly name: string
  readonly words: Vocabulary
}

/** Makes a company in one of the countries. */
export function makeCompany(random: Random, id: number, countries: readonly Vocabulary[]): Company {
  const words = random.pick(countries)
  const ownName = random.pick(words.nameStems) + random.pick(words.nameEndings)
  const name = words.companyName(ownName, random.pick(words.trades), random.pick(words.legalForms))
  return { id, identifier: String(10_000_000 + id * 7_919), ownName, name, words }
}

/** The company as a row of an import of companies. */
export function companyRow({ id, identifier, name, words }: Company): Row {
  return { id, jurisdiction: words.jurisdiction, identifier, name }
}
