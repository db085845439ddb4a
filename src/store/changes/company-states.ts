// Companies as they were at versions, as the texts that clients get.

import { readAttributes, statementOf } from '../companies/attributes.ts'
import { companyMembers } from '../companies/company-text.ts'
import { nameOf } from '../companies/keep-names.ts'
import type { NamingSource } from '../listing/tables.ts'
import { byCodePoint } from '../record-texts.ts'
import type { CompanyRow, ListingLookups } from '../listing/tables.ts'

type Sources = ReadonlyMap<number, NamingSource>

/** The texts of companies at a version, by their ids; those that were not known are absent. */
export async function companyTexts(
  tables: ListingLookups,
  ids: readonly number[],
  version: number,
): Promise<ReadonlyMap<number, string>> {
  const sources = await tables.sources(version)
  const texts = new Map<number, string>()
  const said = await readAttributes(tables, ids, version)
  for (const company of await companiesAt(tables, ids, version)) {
    const { id, jurisdiction, identifier } = company
    const named = (said.get(id) ?? [])
      .map((record) => ({ record, source: sourceName(sources, record.source) }))
      .sort((a, b) => byCodePoint(a.source, b.source))
    const records = named.map(({ record }) => record)
    const name = nameOf(records, sources) ?? null
    const states = named.map(({ record, source }) => ({
      source,
      ...statementOf(record),
      attributes: Buffer.from(record.text).toString(),
    }))
    texts.set(id, `{${companyMembers({ id, jurisdiction, identifier, name }, states)}}`)
  }
  return texts
}

function sourceName(sources: Sources, number: number): string {
  const found = sources.get(number)
  if (found === undefined) throw new Error(`source ${number} is missing`)
  return found.name
}

/** Those of the companies that were known at a version, as their registers named them. */
async function companiesAt(
  tables: ListingLookups,
  ids: readonly number[],
  version: number,
): Promise<readonly Omit<CompanyRow, 'version'>[]> {
  const found = new Map<number, Omit<CompanyRow, 'version'>>()
  for (const { companyId, until, version: from, ...names } of await tables.pastCompanies(ids)) {
    // By their ends: the first that covers the version.
    const covers = from <= version && until > version
    if (covers && !found.has(companyId)) found.set(companyId, { id: companyId, ...names })
  }
  for (const { version: from, ...company } of await tables.companiesById(ids)) {
    if (from <= version && !found.has(company.id)) found.set(company.id, company)
  }
  return [...found.values()]
}
