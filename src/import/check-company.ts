// One row of a source of companies: what names the company, and its attributes.

import { metaTypeBytesMax } from '../resources/resource.ts'
import type { RefusedRow, StagedRow } from '../store/importing.ts'
import { type CheckRow, checkName, digestOf, type SourceRow } from './check-record.ts'
import { isBlank, normaliseId, normaliseText } from './normalise.ts'
import { attributeText, presenceAttr } from './attribute-text.ts'
import { Refusal } from './refusal.ts'
import { normaliseTimestamp } from './timestamp.ts'

/** The column that says of which day a row is; no attribute. */
const asOfColumn = 'as_of'
const ownColumns = new Set(['id', 'jurisdiction', 'identifier', asOfColumn])
const attributesMax = 1_000
const depthMax = 32

/** The columns that a source of companies must have; every other one is an attribute. */
export const companyNameColumns = ['jurisdiction', 'identifier'] as const

/** Checks a row of companies; what it returns has the attributes as JSON in `content`. */
export const checkCompany: CheckRow = (row) => {
  const companyId = normaliseId(row['id'])
  if (companyId instanceof Refusal) return new Refusal(companyId.reason, 'id', row['id'])
  const [jurisdiction, identifier] = companyNameColumns.map((column) => checkName(row, column))
  if (jurisdiction instanceof Refusal) return jurisdiction
  if (identifier instanceof Refusal) return identifier
  if (jurisdiction == null) return new Refusal('is required', 'jurisdiction')
  if (identifier == null) return new Refusal('is required', 'identifier')
  const asOf = isBlank(row[asOfColumn]) ? null : normaliseTimestamp(row[asOfColumn], 'seconds')
  if (asOf instanceof Refusal) return new Refusal(asOf.reason, asOfColumn, row[asOfColumn])
  const attributes = checkAttributes(row)
  if (attributes instanceof Refusal) return attributes
  return {
    companyId,
    companyJurisdiction: jurisdiction,
    companyIdentifier: identifier,
    id: null,
    key: null,
    sort: '',
    digest: digestOf(attributes.texts),
    content: attributes.content,
    asOf,
  } satisfies StagedRow
}

/** A row as it was checked, in the columns of a source. */
export function companyRow(staged: StagedRow): SourceRow {
  const { companyId, companyJurisdiction: jurisdiction, companyIdentifier: identifier } = staged
  const naming = { ...(companyId === null ? {} : { id: companyId }), jurisdiction, identifier }
  return { ...naming, ...(JSON.parse(staged.content) as SourceRow) }
}

/** The company of a row that is refused for something else; undefined where it names none. */
export function companyIdentity(row: SourceRow): RefusedRow | undefined {
  const [companyJurisdiction, companyIdentifier] = companyNameColumns.map((name) => row[name])
  return typeof companyJurisdiction === 'string' && typeof companyIdentifier === 'string'
    ? { id: null, key: null, companyJurisdiction, companyIdentifier }
    : undefined
}

interface Attributes {
  /** The attributes as a JSON object, in the order of their names. */
  readonly content: string
  /**
   * Names and values as text, each with a NUL behind it, since none holds one. A digest of this
   * changes where a text does, whatever the order of columns and of lists.
   */
  readonly texts: string
}

/** The attributes that say something, by name. */
function checkAttributes(row: SourceRow): Attributes | Refusal {
  let content = ''
  let texts = ''
  let count = 0
  for (const { name, member, refusal } of attributeNames(row)) {
    const value = row[name]
    const text = checkValue(value)
    if (text === null) continue
    if (text instanceof Refusal) return new Refusal(text.reason, name, value)
    if (refusal !== undefined) return refusal
    count += 1
    if (count > attributesMax) return new Refusal(`has more than ${attributesMax} attributes`)
    // Put together by hand: an object whose names come one by one is slow to make and to write.
    content += (count === 1 ? '{' : ',') + member + JSON.stringify(value)
    texts += `${name}\0${text}\0`
  }
  return { content: count === 0 ? '{}' : `${content}}`, texts }
}

/** A column that may be an attribute. */
interface AttributeName {
  readonly name: string
  /** The name as JSON writes a member's, colon and all. */
  readonly member: string
  /** Why it may not be one; undefined where it may. */
  readonly refusal: Refusal | undefined
}

/** The columns of a row that may be attributes, in order; most rows have those of the last one. */
function attributeNames(row: SourceRow): readonly AttributeName[] {
  const columns = Object.keys(row)
  const { columns: known } = lastNames
  const isKnown =
    columns.length === known.length && columns.every((column, index) => column === known[index])
  if (!isKnown) {
    const names = columns
      .filter((column) => !ownColumns.has(column))
      .sort()
      .map((name) => ({ name, member: `${JSON.stringify(name)}:`, refusal: refuseName(name) }))
    lastNames = { columns, names }
  }
  return lastNames.names
}

function refuseName(name: string): Refusal | undefined {
  if (name === presenceAttr) return new Refusal(presenceReason, name)
  // Where what changes is recorded, a name is a type of the records.
  const text = normaliseText(name, metaTypeBytesMax)
  return text instanceof Refusal ? new Refusal(text.reason, name) : undefined
}

const presenceReason = 'is a reserved name'

let lastNames = { columns: [] as readonly string[], names: [] as readonly AttributeName[] }

/**
 * A value as the text that is compared and recorded: the whole of it is held to the bounds of
 * texts. Null where it says nothing.
 */
function checkValue(value: unknown): string | null | Refusal {
  if (typeof value === 'string') return normaliseText(value)
  // First of all how deep it goes: what follows reads it to its ground.
  const reason = refuseValue(value, depthMax)
  return reason === undefined ? normaliseText(attributeText(value)) : new Refusal(reason)
}

/** Why a value may not be kept as an attribute: its texts are held to the rules of texts. */
function refuseValue(value: unknown, depthLeft: number): string | undefined {
  if (typeof value === 'string') {
    const text = normaliseText(value)
    return text instanceof Refusal ? text.reason : undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  if (depthLeft === 0) return `is nested deeper than ${depthMax} levels`
  const inners: readonly unknown[] = Array.isArray(value) ? value : Object.entries(value).flat()
  for (const inner of inners) {
    const reason = refuseValue(inner, depthLeft - 1)
    if (reason !== undefined) return reason
  }
  return undefined
}
