// The sample changes of companies: each continues from the one before.

import type { Company, Row } from './registry.ts'
import { beginning, end, isoSecond, type Random } from './random.ts'

/** The attributes that change, and how to make a value of each. */
const attributes = {
  address: (random, { words }) =>
    words.address(random.pick(words.streets), random.integer(1, 240), random.pick(words.cities)),
  officers: (random, { words }) =>
    words.personName(random.pick(words.givenNames), random.pick(words.familyNames)),
  status: (random) => random.pick(['active', 'dormant', 'in liquidation', 'under audit']),
  share_capital: (random, { words }) => `${random.integer(1, 90) * 1_000} ${words.currency}`,
  activity: (random, { words }) => random.pick(words.trades),
} satisfies Readonly<Record<string, (random: Random, company: Company) => string>>

type Attribute = keyof typeof attributes

/** Addresses and officers change more often than the rest. */
const all = Object.keys(attributes) as Attribute[]
const changing: readonly Attribute[] = ['address', 'address', 'officers', 'officers', ...all]

/**
 * The events of all companies, oldest first within each.
 *
 * @param lengthOf returns the number of events of a company.
 */
export function* eventRows(
  random: Random,
  companies: readonly Company[],
  lengthOf: (company: Company) => number,
): Generator<Row> {
  let id = 0
  for (const company of companies) {
    const length = lengthOf(company)
    const current = new Map<string, string>()
    for (let index = 0; index < length; index++) {
      id += 1
      const attr = random.pick(changing)
      const before = current.get(attr) ?? attributes[attr](random, company)
      const after = differentValue(before, attr, random, company)
      current.set(attr, after)
      yield {
        company_id: company.id,
        id,
        jurisdiction: company.words.jurisdiction,
        date: isoSecond(momentOf(index, length, random)),
        attr,
        before,
        after,
        identifier: company.identifier,
      }
    }
  }
}

/** Picks a moment in the event's own share of the period, so that moments are in order. */
function momentOf(index: number, length: number, random: Random): number {
  const share = (end - beginning) / length
  return Math.floor(beginning + index * share + random.integer(0, Math.floor(share) - 1))
}

function differentValue(before: string, attr: Attribute, random: Random, company: Company): string {
  for (;;) {
    const after = attributes[attr](random, company)
    if (after !== before) return after
  }
}
