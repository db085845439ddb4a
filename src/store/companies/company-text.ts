// A company as clients get it, as JSON text: who it is, and what its sources say.

import type { FoundCompany, SourceState } from '../reading.ts'

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
