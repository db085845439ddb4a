// Companies as they were at a version, as the texts that clients get.
//
// Thousands are read together. About most of them, at most one source says something, which makes
// their texts cheap (`usual-texts.ts`).

import { readAttributes, type Said } from '../companies/attributes.ts'
import { companyMembers, statesOf } from '../companies/company-text.ts'
import { nameOf } from '../companies/keep-names.ts'
import { attributesShape } from '../listing/shape.ts'
import type { CompanyRow } from '../listing/tables.ts'
import type { Reading } from './read-changes.ts'
import { createUsual, isUsual } from './usual-texts.ts'

/** Companies at a version: those that were known then, in the order of their ids. */
export interface CompanyTexts {
  readonly ids: readonly number[]
  /** The versions in which they became known, or in which what sources say last changed. */
  readonly versions: readonly number[]
  readonly texts: readonly string[]
}

/** @param states of companies, all of each. */
export async function readCompanyTexts(
  { tables }: Reading,
  states: readonly CompanyRow[],
  version: number,
): Promise<CompanyTexts> {
  const sources = await tables.sources(version)
  const identities = states.filter((one) => one.version <= version && one.until > version)
  const ids = identities.map(({ id }) => id)
  // Without a register, no company has to be looked up.
  const isAnySaid = await tables.hasHeads(attributesShape.listing)
  const found = await tables.companyStatements(isAnySaid ? ids : [], version, 'both')
  const said = new Map(found.map((one) => [one.companyId, one]))
  const others = found.filter((one) => !isUsual(one)).map(({ companyId }) => companyId)
  const records: Said =
    others.length === 0 ? new Map() : await readAttributes(tables, others, version)
  const usualText = createUsual(sources)
  const texts = identities.map((identity) => {
    const own = records.get(identity.id)
    if (own === undefined) return usualText(identity, said.get(identity.id))
    const company = { ...identity, name: nameOf(own, sources) ?? null }
    return `{${companyMembers(company, statesOf(own, sources))}}`
  })
  const versions = identities.map(({ id, since }) => {
    return Math.max(since, said.get(id)?.version ?? 0)
  })
  return { ids, versions, texts }
}
