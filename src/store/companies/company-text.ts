// The JSON text of a company as clients get it: who it is, what its sources say, and what its
// listings have.

import type { ListedRecord } from '../listing/segment.ts'
import type { NamingSource } from '../listing/tables.ts'
import type { FoundCompany, ListingSummary, SourceState } from '../reading.ts'
import { byCodePoint, textIn } from '../record-texts.ts'
import { statementOf } from './attributes.ts'

export type Sources = ReadonlyMap<number, NamingSource>

/** What sources say about a company, in the order of their names. */
export function statesOf(records: readonly ListedRecord[], sources: Sources): SourceState[] {
  return records
    .map((record) => ({
      source: sourceOf(sources, record.source).name,
      ...statementOf(record),
      attributes: textIn(record.text),
    }))
    .sort((a, b) => byCodePoint(a.source, b.source))
}

/** @throws Error if there is no such source. */
export function sourceOf(sources: Sources, number: number): NamingSource {
  const found = sources.get(number)
  if (found === undefined) throw new Error(`source ${number} is missing`)
  return found
}

/** A company as a whole. */
export function companyText(
  company: FoundCompany,
  sources: readonly SourceState[],
  listings: readonly ListingSummary[],
): string {
  const texts = listings.map(listingText).join(',')
  return `{${companyMembers(company, sources)},"listings":{${texts}}}`
}

function listingText({ resource, total, version, counts }: ListingSummary): string {
  const fields = Object.entries(counts).map(([field, values]) => {
    const texts = values.map(
      ([value, count]) => `{"value":${JSON.stringify(value)},"count":${count}}`,
    )
    return `"${field}":[${texts.join(',')}]`
  })
  return `"${resource.name}":{"total":${total},"version":${version},"counts":{${fields.join(',')}}}`
}

/** The members of a company and their texts, in their order; without braces. */
export function companyMembers(company: FoundCompany, sources: readonly SourceState[]): string {
  const { id, jurisdiction, identifier, name } = company
  const members =
    `"id":${id},"jurisdiction":${JSON.stringify(jurisdiction)},` +
    `"identifier":${JSON.stringify(identifier)},"name":${JSON.stringify(name)}`
  return `${members},"sources":[${sources.map(sourceText).join(',')}]`
}

/** What a source says about a company. */
export function sourceText({ source, isPresent, asOf, version, attributes }: SourceState): string {
  const asOfText = asOf === null ? 'null' : `"${asOf}"`
  return (
    `{"source":${JSON.stringify(source)},"present":${isPresent},"as_of":${asOfText},` +
    `"version":${version},"attributes":${attributes}}`
  )
}
