// The texts of companies about which at most one source says something: assembled from parts of
// what was read, so that nothing is parsed or encoded for each company. All texts here have one
// character for each byte.

import { statementOf } from '../companies/attributes.ts'
import { sourceOf, type Sources, sourceText } from '../companies/company-text.ts'
import { nameOf } from '../companies/keep-names.ts'
import { readNumber } from '../listing/bytes.ts'
import { skipIntegers } from '../listing/integers.ts'
import * as segment from '../listing/segment.ts'
import { attributesShape } from '../listing/shape.ts'
import { asBytes } from '../record-texts.ts'
import type { CompanyRow, CompanyStatements } from '../listing/tables.ts'

/** Where the text and the index of a company's statement are among those of all. */
export interface StatementPlace {
  /** The version in which what sources say about it last changed. */
  readonly version: number
  /** Whether at most one source says something. */
  readonly isUsual: boolean
  readonly textStart: number
  readonly textEnd: number
  readonly indexStart: number
  readonly indexEnd: number
}

/** The places of statements, by company. */
export function placesOf(said: CompanyStatements): ReadonlyMap<number, StatementPlace> {
  const places = new Map<number, StatementPlace>()
  let [textEnd, indexEnd] = [0, 0]
  for (const [n, id] of said.ids.entries()) {
    const [textStart, indexStart] = [textEnd, indexEnd]
    textEnd += said.textBytes[n] ?? 0
    indexEnd += said.entryBytes[n] ?? 0
    const total = said.totals[n] ?? 0
    const isUsual = total === 0 || (total === 1 && indexEnd > indexStart)
    const version = said.versions[n] ?? 0
    places.set(id, { version, isUsual, textStart, textEnd, indexStart, indexEnd })
  }
  return places
}

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
function createOpenings(entries: Buffer, sources: Sources): (place: StatementPlace) => Opening {
  const index = entries.toString('latin1')
  const reader = { source: entries, at: 0 }
  const openings = new Map<string, Opening>()

  function makeOpening(entry: Buffer): Opening {
    const [record] = segment.recordsOf(segment.decodeEntries(attributesShape, entry), noText)
    if (record === undefined) throw new Error('an index of one record has none')
    const { name, nameAttribute } = sourceOf(sources, record.source)
    const state = sourceText({ source: name, ...statementOf(record), attributes: '' })
    const member = `${asBytes(JSON.stringify(nameAttribute))}:"`
    const text = `,"sources":[${asBytes(state.slice(0, -1))}`
    return { text, member, source: record.source, next: -1 }
  }

  return ({ indexStart, indexEnd }) => {
    reader.at = indexStart + segment.headBytes
    readNumber(reader)
    skipIntegers(reader, 1)
    skipIntegers(reader, 1)
    const start = reader.at
    skipIntegers(reader, 1)
    // The number of the source, and what follows the digest: the same for most of its companies.
    const key =
      index.slice(start, reader.at) + index.slice(reader.at + segment.digestBytes, indexEnd)
    let opening = openings.get(key)
    if (opening === undefined) {
      opening = makeOpening(entries.subarray(indexStart, indexEnd))
      openings.set(key, opening)
    }
    return opening
  }
}

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
    const opening = openingAt(place)
    const attributes = text.slice(place.textStart, place.textEnd)
    return `${start}${nameAt(opening, place)}${opening.text}${attributes}}]}`
  }
}

/** The place of a text in another one; infinite if it is not there. */
function placeOf(part: string, text: string, from: number): number {
  const at = text.indexOf(part, from)
  return at < 0 ? Infinity : at
}

const noText = new Uint8Array()

const asJson = (text: string | null) => (text === null ? 'null' : asBytes(JSON.stringify(text)))
