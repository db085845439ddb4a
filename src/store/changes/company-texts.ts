// Companies as they were at a version, as the texts that clients get.
//
// Thousands are read together. About most of them, at most one source says something, which makes
// their texts cheap (`usual-texts.ts`).

import { readAttributes } from '../companies/attributes.ts'
import { companyMembers, type Sources, statesOf } from '../companies/company-text.ts'
import { nameOf } from '../companies/keep-names.ts'
import { createWriter } from '../listing/bytes.ts'
import { attributesShape } from '../listing/shape.ts'
import type { CompanyRow, KnownCompanies, ListingLookups } from '../listing/tables.ts'
import type { Reading } from './read-changes.ts'
import { createUsual, type StoredCompanies } from './usual-texts.ts'

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

/** The texts that are being written. */
const writer = createWriter()

export async function readCompanyTexts(
  { registry, tables }: Reading,
  { ids: asked, known }: AskedCompanies,
  version: number,
): Promise<CompanyTexts> {
  const isLast = version === registry.version
  const sources = await tables.sources(version)
  const past = isLast ? new Map<number, CompanyRow>() : await readPast(tables, asked, version)
  // Without a register, no company has to be looked up.
  const isAnySaid = await tables.hasHeads(attributesShape.listing)
  const said = await tables.companyStatements(isAnySaid ? asked : [], version)
  const others = await readOthers(tables, { known, said }, { past, version, sources })
  const usual = createUsual({ known, said }, sources, writer)
  const ids: number[] = []
  const versions: number[] = []
  const lengths: number[] = []
  // An earlier failure may have left something.
  writer.take()
  let row = 0
  for (const id of asked) {
    const isKnown = known.ids[row] === id
    const changed = usual.moveTo(id)
    const other = others.get(id)
    const from = isKnown ? (known.versions[row] ?? 0) : Infinity
    if (other !== undefined || from <= version) {
      const start = writer.reserve(0)
      if (other === undefined) usual.write(row)
      else writer.text(`${other.text},`)
      ids.push(id)
      versions.push(other?.version ?? Math.max(from, changed))
      lengths.push(writer.reserve(0) - start - 1)
    }
    if (isKnown) row += 1
  }
  const texts = writer.take().subarray(0, -1)
  usual.end()
  return { ids, versions, lengths, texts }
}

/** Companies that had another name at a version, or are no longer known, as they were then. */
async function readPast(
  tables: ListingLookups,
  ids: readonly number[],
  version: number,
): Promise<Map<number, CompanyRow>> {
  const found = new Map<number, CompanyRow>()
  for (const state of await tables.pastCompanies(ids)) {
    // They are sorted by their ends: the first that covers the version counts.
    const covers = state.version <= version && state.until > version
    if (covers && !found.has(state.id)) found.set(state.id, state)
  }
  return found
}

/** A company about which several sources say something, or that had another name then. */
interface OtherCompany {
  readonly text: string
  readonly version: number
}

interface PastState {
  readonly past: ReadonlyMap<number, CompanyRow>
  readonly version: number
  readonly sources: Sources
}

/** The texts of companies that are made from records. */
async function readOthers(
  tables: ListingLookups,
  { known, said: { ids: named, totals, entryBytes } }: StoredCompanies,
  { past, version, sources }: PastState,
): Promise<ReadonlyMap<number, OtherCompany>> {
  const companies = new Map(past)
  let row = 0
  for (const [n, id] of named.entries()) {
    const total = totals[n] ?? 0
    const isUsual = total === 0 || (total === 1 && entryBytes[n] !== null)
    if (isUsual || past.has(id)) continue
    while ((known.ids[row] ?? Infinity) < id) row += 1
    const { [row]: jurisdiction = null } = known.jurisdictions
    const { [row]: identifier = null } = known.identifiers
    const { [row]: from = Infinity } = known.versions
    if (known.ids[row] !== id || from > version) continue
    companies.set(id, { id, jurisdiction, identifier, version: from })
  }
  const found = new Map<number, OtherCompany>()
  if (companies.size === 0) return found
  const ids = [...companies.keys()]
  const said = await readAttributes(tables, ids, version)
  const heads = await tables.heads(attributesShape.listing, ids, version)
  const headOf = new Map(heads.map((head) => [head.companyId, head.version]))
  for (const [id, { version: from, ...identity }] of companies) {
    const records = said.get(id) ?? []
    const name = nameOf(records, sources) ?? null
    const text = `{${companyMembers({ ...identity, name }, statesOf(records, sources))}}`
    found.set(id, { text, version: Math.max(headOf.get(id) ?? 0, from) })
  }
  return found
}
