// Companies as they were at a version, as the texts that clients get.
//
// Thousands are read at once, and of most of them one source says something: such a text is put
// together of parts of what was read, as bytes.

import { readAttributes, statementOf } from '../companies/attributes.ts'
import { companyMembers, sourceText } from '../companies/company-text.ts'
import { nameOf } from '../companies/keep-names.ts'
import { createReader, createWriter } from '../listing/bytes.ts'
import { readIntegers, skipIntegers } from '../listing/integers.ts'
import * as segment from '../listing/segment.ts'
import { attributesShape } from '../listing/shape.ts'
import type {
  CompanyRow,
  KnownCompanies,
  ListingLookups,
  NamingSource,
  SaidOfCompanies,
} from '../listing/tables.ts'
import { byCodePoint, textIn } from '../record-texts.ts'

/** Companies at a version: those that were known then, in the order of their ids. */
export interface CompanyTexts {
  readonly ids: readonly number[]
  /** The versions in which they became known, or in which sources last said something else. */
  readonly versions: readonly number[]
  /** The bytes of each text. */
  readonly lengths: readonly number[]
  /** Joined by commas. */
  readonly texts: Buffer
}

/** Companies that may have been known at a version, by ids in ascending order. */
export interface AskedCompanies {
  readonly ids: readonly number[]
  /** Those of them that are known now; there may be more behind the last of the ids. */
  readonly known: KnownCompanies
}

type Sources = ReadonlyMap<number, NamingSource>

/** A state of the registry, and whether it is the present one. */
export interface AtVersion {
  readonly version: number
  readonly isLast: boolean
}

/** The texts under way. */
const writer = createWriter()

export async function readCompanyTexts(
  tables: ListingLookups,
  { ids: asked, known }: AskedCompanies,
  { version, isLast }: AtVersion,
): Promise<CompanyTexts> {
  const sources = await tables.sources(version)
  const past = isLast ? new Map<number, CompanyRow>() : await readPast(tables, asked, version)
  // Without a register, no company has to be looked up.
  const isAnySaid = await tables.hasHeads(attributesShape.listing)
  const said = await tables.companiesSaid(isAnySaid ? asked : [], version)
  const others = await readOthers(tables, { known, said }, { past, version, sources })
  const usual = createUsual({ known, said }, sources)
  const ids: number[] = []
  const versions: number[] = []
  const lengths: number[] = []
  // What a failure may have left.
  writer.take()
  let row = 0
  for (const id of asked) {
    const isKnown = known.ids[row] === id
    const changed = usual.moveTo(id)
    const other = others.get(id)
    const from = isKnown ? (known.versions[row] ?? 0) : Infinity
    if (other !== undefined || from <= version) {
      const start = writer.room(0)
      if (other === undefined) usual.write(row)
      else writer.text(`${other.text},`)
      ids.push(id)
      versions.push(other?.version ?? Math.max(from, changed))
      lengths.push(writer.room(0) - start - 1)
    }
    if (isKnown) row += 1
  }
  const texts = writer.take().subarray(0, -1)
  usual.end()
  return { ids, versions, lengths, texts }
}

/** Those that were named in another way at a version, or are not known any more, as they were. */
async function readPast(
  tables: ListingLookups,
  ids: readonly number[],
  version: number,
): Promise<Map<number, CompanyRow>> {
  const found = new Map<number, CompanyRow>()
  for (const { companyId: id, until, ...known } of await tables.pastCompanies(ids)) {
    // By their ends: the first that covers the version.
    const covers = known.version <= version && until > version
    if (covers && !found.has(id)) found.set(id, { id, ...known })
  }
  return found
}

/** A company of which several sources say something, or which was another one. */
interface OtherCompany {
  readonly text: string
  readonly version: number
}

/** What is known of companies, and what sources say about them. */
interface StoredCompanies {
  readonly known: KnownCompanies
  readonly said: SaidOfCompanies
}

interface PastState {
  readonly past: ReadonlyMap<number, CompanyRow>
  readonly version: number
  readonly sources: Sources
}

/** The texts of companies that are put together of records. */
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
    const named = (said.get(id) ?? [])
      .map((record) => ({ record, source: sourceOf(sources, record.source).name }))
      .sort((a, b) => byCodePoint(a.source, b.source))
    const records = named.map(({ record }) => record)
    const name = nameOf(records, sources) ?? null
    const states = named.map(({ record, source }) => ({
      ...{ source, ...statementOf(record), attributes: textIn(record.text) },
    }))
    const text = `{${companyMembers({ ...identity, name }, states)}}`
    found.set(id, { text, version: Math.max(headOf.get(id) ?? 0, from) })
  }
  return found
}

/** How a source begins to speak of companies, and where the attributes have a name. */
interface Opening {
  /** With a character for each byte, as `member`, which leads to the name. */
  readonly text: string
  readonly member: string
  readonly source: number
  /** Where the next name is, among all texts. */
  next: number
}

/** The source of a segment of one record. */
const source = new Uint32Array(1)

/** Makes what reads from the indexes of segments of one record, one after another. */
function createOpenings(
  entries: Buffer,
  sources: Sources,
): (start: number, end: number) => Opening {
  const index = entries.toString('latin1')
  const reader = createReader(entries)
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
    reader.skip(start + segment.headBytes - reader.skip(0))
    reader.number()
    skipIntegers(reader, 1)
    skipIntegers(reader, 1)
    readIntegers(reader, source)
    reader.skip(segment.digestBytes)
    // What follows the digest is the same of most companies of a source.
    const restAt = reader.skip(0)
    reader.skip(end - restAt)
    const rest = index.slice(restAt, end)
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

/** Goes through companies of which at most one source says something, and writes their texts. */
function createUsual({ known, said }: StoredCompanies, sources: Sources) {
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
    // A quotation mark behind a backslash is within a string; a member behind a brace may be one of
    // another object.
    if (text[at - 1] !== '\\' && text[end - 2] !== '\\' && inner > at) {
      copy(texts, start, end)
      return
    }
    const record = { source: opening.source, values: [], text: texts.subarray(textStart, textEnd) }
    writer.text(JSON.stringify(nameOf([record], sources) ?? null))
  }

  return {
    /** Moves to a company; returns the version in which sources last said something else of it. */
    moveTo(id: number): number {
      textStart = textEnd
      indexStart = indexEnd
      if (said.ids[next] !== id) return 0
      textEnd += said.textBytes[next] ?? 0
      indexEnd += said.entryBytes[next] ?? 0
      return said.versions[next++] ?? 0
    },
    /** @throws Error if there is a company to which it was not moved. */
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
      copy(texts, textStart, textEnd)
      writer.text('}]},', 'latin1')
    },
  }
}

/** Where a text is in another one; infinite if it is not. */
function placeOf(part: string, text: string, from: number): number {
  const at = text.indexOf(part, from)
  return at < 0 ? Infinity : at
}

const noText = new Uint8Array()

function copy(from: Buffer, start: number, end: number): void {
  const at = writer.room(end - start)
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

function sourceOf(sources: Sources, number: number): NamingSource {
  const found = sources.get(number)
  if (found === undefined) throw new Error(`source ${number} is missing`)
  return found
}
