// A made-up company: what names it, and the words of the country that it is in.

import type { Random } from './random.ts'
import type { Vocabulary } from './vocabulary.ts'

/** A row of an import: a company or a record, by its columns. */
export type Row = Readonly<Record<string, unknown>>

/** A company of the demonstration. */
export interface Company {
  readonly id: number
  readonly identifier: string
  /** Its own name, without trade and legal form. */
  readonly ownName: string
  readonly name: string
  readonly words: Vocabulary
}

/** Makes a company of one of the countries. */
export function makeCompany(random: Random, id: number, countries: readonly Vocabulary[]): Company {
  const words = random.pick(countries)
  const ownName = random.pick(words.nameStems) + random.pick(words.nameEndings)
  const name = words.companyName(ownName, random.pick(words.trades), random.pick(words.legalForms))
  return { id, identifier: String(10_000_000 + id * 7_919), ownName, name, words }
}

/** The company as an import of companies takes it. */
export function companyRow({ id, identifier, name, words }: Company): Row {
  return { id, jurisdiction: words.jurisdiction, identifier, name }
}
