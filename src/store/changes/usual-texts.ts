// The texts of companies about which at most one source says something: assembled from parts of
// what was read, so that nothing is parsed for each company.

import { statementOf } from '../companies/attributes.ts'
import { sourceOf, type Sources, sourceText } from '../companies/company-text.ts'
import { nameOf } from '../companies/keep-names.ts'
import { createIndexReader } from '../companies/usual-index.ts'
import type { CompanyRow, CompanyStatements } from '../listing/tables.ts'

/** What precedes the attributes in the texts of a source. */
interface Opening {
  readonly text: string
  /** What precedes the name in the attributes. */
  readonly member: string
  readonly source: number
}

export const isUsual = ({ total, entries, texts }: CompanyStatements): boolean =>
  total === 0 || (total === 1 && entries !== '' && texts !== null)

/** @returns a function that makes the text of a company; what is said about it `isUsual`. */
export function createUsual(sources: Sources) {
  const openingOf = createIndexReader((record): Opening => {
    const { name, nameAttribute } = sourceOf(sources, record.source)
    const state = sourceText({ source: name, ...statementOf(record), attributes: '' })
    const member = `${JSON.stringify(nameAttribute)}:"`
    return { text: `,"sources":[${state.slice(0, -1)}`, member, source: record.source }
  })

  /** The name that the attributes have, as JSON. */
  function nameIn(attributes: string, { member, source }: Opening): string {
    const at = attributes.indexOf(member)
    if (at < 0) return 'null'
    const start = at + member.length - 1
    const end = attributes.indexOf('"', start + 1) + 1
    const inner = attributes.indexOf('{', 1)
    // A quotation mark after a backslash is within a string; a member after a brace may be one of
    // another object.
    const isPlain =
      attributes[at - 1] !== '\\' && attributes[end - 2] !== '\\' && (inner < 0 || inner > at)
    if (isPlain) return attributes.slice(start, end)
    const record = { source, values: [], text: Buffer.from(attributes) }
    return JSON.stringify(nameOf([record], sources) ?? null)
  }

  return ({ id, jurisdiction, identifier }: CompanyRow, said?: CompanyStatements): string => {
    const names = `"jurisdiction":${asJson(jurisdiction)},"identifier":${asJson(identifier)}`
    const start = `{"id":${id},${names},"name":`
    const { total = 0, entries = '', texts: attributes = null } = said ?? {}
    if (total === 0 || attributes === null) return `${start}null,"sources":[]}`
    const { found: opening } = openingOf(entries)
    const name = nameIn(attributes, opening)
    return `${start}${name}${opening.text}${attributes}}]}`
  }
}

const asJson = (text: string | null) => (text === null ? 'null' : JSON.stringify(text))
