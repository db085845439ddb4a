// The texts of companies about which at most one source says something: assembled from parts of
// what was read, so that nothing is parsed or encoded for each company. All texts here have one
// character for each byte.

import { statementOf } from '../companies/attributes.ts'
import { sourceOf, type Sources, sourceText } from '../companies/company-text.ts'
import { nameOf } from '../companies/keep-names.ts'
import { createIndexReader, type StatementPlace } from '../companies/usual-index.ts'
import { asBytes } from '../record-texts.ts'
import type { CompanyRow, CompanyStatements } from '../listing/tables.ts'

/** What precedes the attributes in the texts of a source, and where the next name is in them. */
interface Opening {
  readonly text: string
  /** What precedes the name. */
  readonly member: string
  readonly source: number
  /** Where the next name is, among all texts. */
  next: number
}

/** @returns a function that reads the indexes of segments of one record. */
const createOpenings = (entries: Buffer, sources: Sources) =>
  createIndexReader(entries, (record): Opening => {
    const { name, nameAttribute } = sourceOf(sources, record.source)
    const state = sourceText({ source: name, ...statementOf(record), attributes: '' })
    const member = `${asBytes(JSON.stringify(nameAttribute))}:"`
    const text = `,"sources":[${asBytes(state.slice(0, -1))}`
    return { text, member, source: record.source, next: -1 }
  })

/** @returns a function that makes the text of a company; companies are in the order of `said`. */
export function createUsual({ texts, entries }: CompanyStatements, sources: Sources) {
  const text = texts.toString('latin1')
  const openingAt = createOpenings(entries, sources)

  /** The name that the attributes have, as JSON. */
  function nameAt(opening: Opening, { textStart, textEnd }: StatementPlace): string {
    const { member } = opening
    if (opening.next < textStart) opening.next = placeOf(member, text, textStart)
    const at = opening.next
    if (at >= textEnd) return 'null'
    const start = at + member.length - 1
    const end = text.indexOf('"', start + 1) + 1
    const inner = placeOf('{', text, textStart + 1)
    // A quotation mark after a backslash is within a string; a member after a brace may be one of
    // another object.
    const isPlain = text[at - 1] !== '\\' && text[end - 2] !== '\\' && inner > at
    if (isPlain) return text.slice(start, end)
    const record = { source: opening.source, values: [], text: texts.subarray(textStart, textEnd) }
    return asJson(nameOf([record], sources) ?? null)
  }

  return ({ id, jurisdiction, identifier }: CompanyRow, place?: StatementPlace): string => {
    const names = `"jurisdiction":${asJson(jurisdiction)},"identifier":${asJson(identifier)}`
    const start = `{"id":${id},${names},"name":`
    if (place === undefined || place.indexEnd === place.indexStart) {
      return `${start}null,"sources":[]}`
    }
    const { found: opening } = openingAt(place)
    const attributes = text.slice(place.textStart, place.textEnd)
    return `${start}${nameAt(opening, place)}${opening.text}${attributes}}]}`
  }
}

/** The place of a text in another one; infinite if it is not there. */
function placeOf(part: string, text: string, from: number): number {
  const at = text.indexOf(part, from)
  return at < 0 ? Infinity : at
}

const asJson = (text: string | null) => (text === null ? 'null' : asBytes(JSON.stringify(text)))
