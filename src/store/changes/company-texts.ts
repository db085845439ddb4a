// Companies as they were at a version, as the texts that clients get.
//
// Thousands are read together. About most of them, at most one source says something, which makes
// their texts cheap (`usual-texts.ts`).

import { readAttributes, type Said } from '../companies/attributes.ts'
import { companyMembers, statesOf } from '../companies/company-text.ts'
import { nameOf } from '../companies/keep-names.ts'
import { placesOf } from '../companies/usual-index.ts'
import { attributesShape } from '../listing/shape.ts'
import type { CompanyRow, KnownCompanies, PastCompanyRow } from '../listing/tables.ts'
import type { Reading } from './read-changes.ts'
import { asBytes } from '../record-texts.ts'
import { createUsual } from './usual-texts.ts'

/** Companies at a version: those that were known then, in the order of their ids. */
export interface CompanyTexts {
  readonly ids: readonly number[]
  /** The versions in which they became known, or in which what sources say last changed. */
  readonly versions: readonly number[]
  /** The bytes of each text. */
  readonly lengths: readonly number[]
  /** Joined by commas. */
  readonly texts: Buffer
}

/** Companies that may have been known at a version, by ids in ascending order. */
export interface AskedCompanies {
  readonly ids: readonly number[]
  /** The asked companies that are known now; more may follow the last of the ids. */
  readonly known: KnownCompanies
}

export async function readCompanyTexts(
  { registry, tables }: Reading,
  { ids: asked, known }: AskedCompanies,
  version: number,
): Promise<CompanyTexts> {
  const sources = await tables.sources(version)
  const past = version === registry.version ? [] : await tables.pastCompanies(asked)
  const identities = identitiesAt(version, known, past)
  // Without a register, no company has to be looked up.
  const isAnySaid = await tables.hasHeads(attributesShape.listing)
  const said = await tables.companyStatements(isAnySaid ? asked : [], version)
  const places = placesOf(said)
  const others = said.ids.filter((id) => places.get(id)?.isUsual === false)
  const records: Said =
    others.length === 0 ? new Map() : await readAttributes(tables, others, version)
  const usualText = createUsual(said, sources)
  const ids: number[] = []
  const versions: number[] = []
  const texts: string[] = []
  for (const id of asked) {
    const identity = identities.get(id)
    if (identity === undefined) continue
    const place = places.get(id)
    const own = records.get(id)
    if (own === undefined) texts.push(usualText(identity, place))
    else {
      const company = { ...identity, name: nameOf(own, sources) ?? null }
      texts.push(asBytes(`{${companyMembers(company, statesOf(own, sources))}}`))
    }
    ids.push(id)
    versions.push(Math.max(identity.version, place?.version ?? 0))
  }
  const lengths = texts.map(({ length }) => length)
  return { ids, versions, lengths, texts: Buffer.from(texts.join(), 'latin1') }
}

/** Who companies were at a version. */
function identitiesAt(
  version: number,
  known: KnownCompanies,
  past: readonly PastCompanyRow[],
): ReadonlyMap<number, CompanyRow> {
  const found = new Map<number, CompanyRow>()
  for (const [n, id] of known.ids.entries()) {
    const { [n]: jurisdiction = null } = known.jurisdictions
    const { [n]: identifier = null } = known.identifiers
    const { [n]: since = Infinity } = known.versions
    if (since <= version) found.set(id, { id, jurisdiction, identifier, version: since })
  }
  // They are sorted by their ends: the first that covers the version counts.
  for (const state of past.toReversed()) {
    if (state.version <= version && state.until > version) found.set(state.id, state)
  }
  return found
}
