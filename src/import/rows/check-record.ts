// Turns a row of a source into a record in its wire form, or a refusal.

import type { Resource } from '../../resources/resource.ts'
import { companyColumns, metaTypeBytesMax, recordBytesMax } from '../../resources/resource.ts'
import type { RefusedRow, StagedRow } from '../../store/importing.ts'
import { digestBytesOf, digestOf } from '../../store/record-texts.ts'
import { isBlank } from '../../text/blank.ts'
import { nearColumn } from '../../files/check-columns.ts'
import {
  beyondExact,
  nameBytesMax,
  normaliseId,
  normaliserOf,
  normaliseText,
  type WireValue,
} from './normalise.ts'
import { refuseRounded } from '../../files/json/exact-number.ts'
import { faultsMax, Refusal, refuseForAll, type SourceRow } from '../../files/refusal.ts'

/**
 * Checks a row; returns a row for the store to stage, or a refusal.
 *
 * @param text the bytes of the row, if they are what `JSON.stringify` makes of it.
 * @param latest the latest day that a row of companies may have; undefined for any.
 */
export type CheckRow = (row: SourceRow, text?: Buffer, latest?: string) => StagedRow | Refusal

/** The column with the source's own key of a record. */
const keyColumn = 'key'
/** Of records, and of companies. */
const jurisdictionColumns: readonly string[] = [companyColumns[1], 'jurisdiction']

/** The columns that a source of this resource may have. */
export function recordColumns(resource: Resource): readonly string[] {
  return [...Object.keys(resource.fields), keyColumn, ...companyColumns]
}

/**
 * Makes the check of a resource's rows.
 *
 * The checked row has the record's text without its id (`content`), since the store may have to
 * assign the id, and a digest of that text by which the store recognises a changed record.
 *
 * @param bytesMax the maximum length of a record.
 */
export function checkRecord(resource: Resource, bytesMax = recordBytesMax): CheckRow {
  const known = new Set(recordColumns(resource))
  const fields = Object.entries(resource.fields)
    .slice(1)
    .map(([name, field]) => ({
      name,
      normalise: normaliserOf(field, name === resource.metaOf ? metaTypeBytesMax : undefined),
    }))
  const names = fields.map(({ name }) => name)
  const exported = [companyColumns[0], 'id', ...names]
  const sortField = resource.order.by === 'id' ? undefined : resource.order.by
  /** Of the fields of the present row. */
  const values: WireValue[] = []
  return (row, text) => {
    const faults: Refusal[] = []
    let n = 0
    let isStored = text !== undefined && hasIds(row)
    for (const column in row) {
      if (column === exported[n++]) continue
      isStored = false
      const isFault = !known.has(column) && faults.length < faultsMax
      if (isFault) faults.push(unknownColumn(column, known))
    }
    isStored &&= n === exported.length
    n = 0
    for (const { name, normalise } of fields) {
      const given = row[name]
      const value = normalise(given)
      if (value instanceof Refusal) faults.push(new Refusal(value.reason, name, given))
      else values[n++] = value
      isStored &&= value === given
    }
    const company = checkCompanyReference(row)
    if (faults.length > 0 || company instanceof Refusal) {
      return refuseForAll([...faults, company, checkIdentity(row, '')])
    }
    const record = isStored ? (row as WireRecord) : recordOf(names, values)
    const content = text !== undefined && isStored ? withoutIds(text, row) : JSON.stringify(record)
    const digest = digestOf(content)
    const identity = checkIdentity(row, digest)
    if (identity instanceof Refusal) return identity
    if (isTooLarge(content, identity.id, bytesMax)) {
      return new Refusal(`is longer than ${recordBytesMax >> 20} MiB as JSON`)
    }
    const sort = sortField === undefined ? '' : (record[sortField] as string)
    return { ...company, ...identity, sort, digest, content, fields: record, asOf: null }
  }
}

type WireRecord = Readonly<Record<string, WireValue>>

const hasIds = (row: SourceRow) =>
  typeof row[companyColumns[0]] === 'number' && typeof row['id'] === 'number'

function recordOf(names: readonly string[], values: readonly WireValue[]): WireRecord {
  const record: Record<string, WireValue> = {}
  let n = 0
  for (const name of names) record[name] = values[n++] ?? null
  return record
}

const idsLength = `{"${companyColumns[0]}":,"id":`.length
const brace = 0x7b

/** The text of a record without its id, of that of a row which begins with both ids. */
function withoutIds(text: Buffer, row: SourceRow): Buffer {
  const from = idsLength + String(row[companyColumns[0]]).length + String(row['id']).length
  // In place of a comma: writing the text again would take half of the time of a row's check.
  text[from] = brace
  return text.subarray(from)
}

/** Whether a record exceeds the size limit; an unassigned id counts as 16 digits. */
function isTooLarge(content: string | Buffer, id: number | null, bytesMax: number): boolean {
  const idBytes = '"id":,'.length + (id === null ? 16 : String(id).length)
  const most = bytesMax - idBytes
  return content.length * 3 > most && Buffer.byteLength(content) > most
}

/** A checked row, in the columns of a source, so that it can be corrected and imported. */
export function recordRow(staged: StagedRow): SourceRow {
  const [idColumn, jurisdictionColumn, identifierColumn] = companyColumns
  // A key derived from the content is not in the source.
  const key = staged.key?.startsWith('=') ? staged.key.slice(1) : null
  const naming = {
    id: staged.id,
    [keyColumn]: key,
    [idColumn]: staged.companyId,
    [jurisdictionColumn]: staged.companyJurisdiction,
    [identifierColumn]: staged.companyIdentifier,
  }
  const given = Object.entries(naming).filter(([, value]) => value !== null)
  return { ...Object.fromEntries(given), ...(JSON.parse(staged.content.toString()) as SourceRow) }
}

/** A refusal that names the column and suggests the nearest known one. */
function unknownColumn(column: string, known: Iterable<string>): Refusal {
  const near = nearColumn(column, known)
  return new Refusal(
    near ? `is not a known column; did you mean ${near}?` : 'is not a known column',
    column,
  )
}

type Identity = Pick<StagedRow, 'id' | 'key'>

// Leaving the column out is no mistake: then the content is the key.
const blankKey = 'is blank; give each row a key, or leave the column out'

function checkIdentity(row: SourceRow, digest: string): Identity | Refusal {
  const id = checkId(row, 'id')
  if (id instanceof Refusal) {
    if (id.reason !== beyondExact) return id
    return new Refusal(`${beyondExact} as an id; give it as key`, 'id', row['id'])
  }
  if (id !== null) {
    if (!isBlank(row[keyColumn])) return new Refusal('has both an id and a key', keyColumn)
    return { id, key: null }
  }
  const given = row[keyColumn]
  const inexact = refuseRounded(given)
  if (inexact !== undefined) return new Refusal(inexact, keyColumn, given)
  const key = normaliseText(typeof given === 'number' ? String(given) : given, nameBytesMax)
  if (key instanceof Refusal) return new Refusal(key.reason, keyColumn, given)
  if (key === null && given !== undefined) return new Refusal(blankKey, keyColumn, given)
  const strange = key === null ? undefined : strangeName(key)
  if (strange !== undefined) return new Refusal(strange, keyColumn, given)
  // The prefix separates the source's own keys from those derived from the content.
  if (key !== null) return { id: null, key: `=${key}` }
  return { id: null, key: `#${digestBytesOf(digest).toString('base64')}` }
}

/** The identity of a refused row; undefined if it has none. */
export function recordIdentity(row: SourceRow): RefusedRow | undefined {
  const identity = checkIdentity(row, '')
  if (identity instanceof Refusal || identity.key === '#') return undefined
  return { ...identity, companyJurisdiction: null, companyIdentifier: null }
}

type CompanyReference = Pick<StagedRow, 'companyId' | 'companyJurisdiction' | 'companyIdentifier'>

function checkCompanyReference(row: SourceRow): CompanyReference | Refusal {
  const [idColumn, jurisdictionColumn, identifierColumn] = companyColumns
  const companyId = checkId(row, idColumn)
  const jurisdiction = checkName(row, jurisdictionColumn)
  const identifier = checkName(row, identifierColumn)
  if (
    companyId instanceof Refusal ||
    jurisdiction instanceof Refusal ||
    identifier instanceof Refusal
  ) {
    return refuseForAll([companyId, jurisdiction, identifier])
  }
  if ((jurisdiction === null) !== (identifier === null)) {
    const missing = jurisdiction === null ? jurisdictionColumn : identifierColumn
    return new Refusal('is missing; a company needs both jurisdiction and identifier', missing)
  }
  if (companyId === null && identifier === null) {
    return new Refusal(
      `names no company; give ${idColumn}, or ${jurisdictionColumn} and ${identifierColumn}`,
    )
  }
  return { companyId, companyJurisdiction: jurisdiction, companyIdentifier: identifier }
}

/** Checks the id of a company. */
export function checkId(row: SourceRow, column: string): number | null | Refusal {
  const id = normaliseId(row[column])
  return id instanceof Refusal ? new Refusal(id.reason, column, row[column]) : id
}

/** As spreadsheets write it, or as Java does, without a plus: 1.0000123E7. */
const scientific = /^[+-]?(?:\d+(?:[.,]\d+)?e\+|\d\.\d+e)\d+$/i
const decimal = /^\d+\.0$/
const json = /^\{".*\}$|^\[["{].*\]$/s
const formula = /^=".*"$/s
// Names may begin with one, such as 's-Hertogenbosch.
const singleQuotes = /^'(?:\d[^']*|.*')$/s
const invisible = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]/
const fullWidth = /[\uff01-\uff5e]/

/** What spreadsheets and copied texts do to identifiers; each would name another company. */
function strangeName(name: string): string | undefined {
  if (scientific.test(name)) {
    return 'is a number in scientific notation, as spreadsheets shorten it; export it as text'
  }
  if (formula.test(name)) {
    return `is a formula of a spreadsheet; write ${JSON.stringify(name.slice(2, -1))}`
  }
  if (singleQuotes.test(name)) {
    const own = JSON.stringify(name.replace(/^'/, '').replace(/'$/, ''))
    return `has single quotes, as spreadsheets mark texts; write ${own}`
  }
  const hidden = invisible.exec(name)?.[0]
  if (hidden !== undefined) {
    const code = hidden.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')
    return `has the invisible character U+${code}; remove it in the file or in a mapping`
  }
  if (!fullWidth.test(name)) return undefined
  return `has full-width characters; write ${JSON.stringify(name.normalize('NFKC'))}`
}

/** A natural key may be such a text, but not a name that a register gives. */
function strangeToRegisters(name: string): string | undefined {
  if (json.test(name)) {
    return "is JSON; take the value in it, in a mapping: company->>'$.number' as identifier"
  }
  if (!decimal.test(name)) return undefined
  return 'is a decimal number, as programs write numbers beside empty cells; export it as text'
}

/** Checks a jurisdiction or an identifier. */
export function checkName(row: SourceRow, column: string): string | null | Refusal {
  const given = row[column]
  const name = normaliseText(given, nameBytesMax)
  if (name instanceof Refusal) return new Refusal(name.reason, column, given)
  const strange = name === null ? undefined : (strangeName(name) ?? strangeToRegisters(name))
  if (strange !== undefined) return new Refusal(strange, column, given)
  if (name?.includes(':') === true && jurisdictionColumns.includes(column)) {
    return new Refusal('has a colon, which separates it from the number in GB:1', column, given)
  }
  // It would name another company than the text without them.
  if (name !== null && name.trim() !== name) {
    return new Refusal(
      'has leading or trailing blanks; to strip them from all texts, add --trim',
      column,
      given,
    )
  }
  return name
}
