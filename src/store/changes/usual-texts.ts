// The texts of companies about which at most one source says something, as bytes: assembled from
// parts of what was read, so that nothing is parsed or encoded for each company.

import { statementOf } from '../companies/attributes.ts'
import { sourceOf, type Sources, sourceText } from '../companies/company-text.ts'
import { nameOf } from '../companies/keep-names.ts'
import { type ByteWriter, readNumber } from '../listing/bytes.ts'
import { readIntegers, skipIntegers } from '../listing/integers.ts'
import * as segment from '../listing/segment.ts'
import { attributesShape } from '../listing/shape.ts'
import type { KnownCompanies, CompanyStatements } from '../listing/tables.ts'

/** What is known of companies, and what sources say about them. */
export interface StoredCompanies {
  readonly known: KnownCompanies
  readonly said: CompanyStatements
}

/** What precedes the attributes in the texts of a source, and where the next name is in them. */
interface Opening {
  /** With one character for each byte, like `member`, which precedes the name. */
  readonly text: string
  readonly member: string
  readonly source: number
  /** Where the next name is, among all texts. */
  next: number
}

/** The source of a segment of one record. */
const source = new Uint32Array(1)

/** @returns a function that reads the indexes of segments of one record, one after another. */
function createOpenings(
  entries: Buffer,
  sources: Sources,
): (start: number, end: number) => Opening {
  const index = entries.toString('latin1')
  const reader = { source: entries, at: 0 }
  const openings = new Map<number, Map<string, Opening>>()

  function openingOf(number: number, entry: Buffer): Opening {
    const { name, nameAttribute } = sourceOf(sources, number)
    const [record] = segment.recordsOf(segment.decodeEntries(attributesShape, entry), noText)
    if (record === undefined) throw new Error('an index of one record has none')
    const state = sourceText({ source: name, ...statementOf(record), attributes: '' })
    const member = `${asBytes(JSON.stringify(nameAttribute))}:"`
    const text = `,"sources":[${asBytes(state.slice(0, -1))}`
    return { text, member, source: number, next: -1 }
  }

  return (start, end) => {
    reader.at = start + segment.headBytes
    readNumber(reader)
    skipIntegers(reader, 1)
    skipIntegers(reader, 1)
    readIntegers(reader, source)
    // What follows the digest is the same for most companies of a source.
    const rest = index.slice(reader.at + segment.digestBytes, end)
    const [number = 0] = source
    const known = openings.get(number) ?? new Map<string, Opening>()
    let opening = known.get(rest)
    if (opening === undefined) {
      opening = openingOf(number, entries.subarray(start, end))
      openings.set(number, known.set(rest, opening))
    }
    return opening
  }
}

/** Goes through companies about which at most one source says something, and writes their texts. */
export function createUsual(
  { known, said }: StoredCompanies,
  sources: Sources,
  writer: ByteWriter,
) {
  const { texts, entries } = said
  const text = texts.toString('latin1')
  const openingAt = createOpenings(entries, sources)
  let next = 0
  let [textStart, textEnd, indexStart, indexEnd] = [0, 0, 0, 0]

  /** Writes the name that the attributes have, or `null`. */
  function writeName(opening: Opening): void {
    const { member } = opening
    if (opening.next < textStart) opening.next = placeOf(member, text, textStart)
    const at = opening.next
    if (at >= textEnd) {
      writer.text('null', 'latin1')
      return
    }
    const start = at + member.length - 1
    const end = text.indexOf('"', start + 1) + 1
    const inner = placeOf('{', text, textStart + 1)
    // A quotation mark after a backslash is within a string; a member after a brace may be one of
    // another object.
    if (text[at - 1] !== '\\' && text[end - 2] !== '\\' && inner > at) {
      copy(writer, texts, start, end)
      return
    }
    const record = { source: opening.source, values: [], text: texts.subarray(textStart, textEnd) }
    writer.text(JSON.stringify(nameOf([record], sources) ?? null))
  }

  return {
    /** Moves to a company; returns the version in which what sources say about it last changed. */
    moveTo(id: number): number {
      textStart = textEnd
      indexStart = indexEnd
      if (said.ids[next] !== id) return 0
      textEnd += said.textBytes[next] ?? 0
      indexEnd += said.entryBytes[next] ?? 0
      return said.versions[next++] ?? 0
    },
    /** @throws Error if it has not moved to every company. */
    end(): void {
      if (next === said.ids.length) return
      throw new Error('companies came in another order than asked for')
    },
    /** Writes the text of the company, by its row among the known ones, and a comma. */
    write(row: number): void {
      const { [row]: jurisdiction = null } = known.jurisdictions
      const { [row]: identifier = null } = known.identifiers
      const names = `"jurisdiction":${quote(jurisdiction)},"identifier":${quote(identifier)}`
      const start = `{"id":${known.ids[row]},${names},"name":`
      if (indexEnd === indexStart) {
        writer.text(`${start}null,"sources":[]},`, 'latin1')
        return
      }
      writer.text(start, 'latin1')
      const opening = openingAt(indexStart, indexEnd)
      writeName(opening)
      writer.text(opening.text, 'latin1')
      copy(writer, texts, textStart, textEnd)
      writer.text('}]},', 'latin1')
    },
  }
}

/** The place of a text in another one; infinite if it is not there. */
function placeOf(part: string, text: string, from: number): number {
  const at = text.indexOf(part, from)
  return at < 0 ? Infinity : at
}

const noText = new Uint8Array()

/** Copies a part without a view of it, since there are thousands. */
function copy(writer: ByteWriter, from: Buffer, start: number, end: number): void {
  const at = writer.reserve(end - start)
  from.copy(writer.memory(), at, start, end)
}

/** A text with a character for each byte. */
function asBytes(text: string): string {
  return /^[ -~]*$/.test(text) ? text : Buffer.from(text).toString('latin1')
}

/** A text as JSON, with a character for each byte. */
function quote(text: string | null): string {
  if (text === null) return 'null'
  if (/^[ !#-[\]-~]*$/.test(text)) return `"${text}"`
  return asBytes(JSON.stringify(text))
}
