// Checks a row of a source of companies: the company's identity, and its attributes.

import { metaTypeBytesMax } from '../../resources/resource.ts'
import { isBlank } from '../../text/blank.ts'
import {
  asOfColumn,
  attributeText,
  presenceAttr,
  statementColumns,
} from '../../store/companies/attribute-text.ts'
import type { RefusedRow, StagedRow } from '../../store/importing.ts'
import { digestOf } from '../../store/record-texts.ts'
import { faultOfDay } from '../guard-rails.ts'
import { checkId, type CheckRow, checkName } from './check-record.ts'
import { normaliseText } from './normalise.ts'
import { refuseRounded } from '../../files/json/exact-number.ts'
import { Refusal, refuseForAll, type SourceRow } from '../../files/refusal.ts'
import { normaliseTimestamp } from './timestamp.ts'

const attributesMax = 1_000
const depthMax = 32

/** The required columns of a source of companies; others except `id` and `as_of` are attributes. */
export const companyNameColumns = ['jurisdiction', 'identifier'] as const

/** Checks a row of companies; the result has the attributes as JSON in `content`. */
export const checkCompany: CheckRow = (row, _text, latest) => {
  const companyId = checkId(row, 'id')
  const jurisdiction = checkRequired(row, 'jurisdiction')
  const identifier = checkRequired(row, 'identifier')
  const asOf = checkDay(row)
  const fault = typeof asOf === 'string' ? faultOfDay(asOf, latest) : undefined
  const attributes = checkAttributes(row)
  if (
    companyId instanceof Refusal ||
    jurisdiction instanceof Refusal ||
    identifier instanceof Refusal ||
    asOf instanceof Refusal ||
    attributes instanceof Refusal ||
    fault !== undefined
  ) {
    const late = fault === undefined ? undefined : new Refusal(fault, asOfColumn, asOf)
    return refuseForAll([companyId, jurisdiction, identifier, asOf, attributes, late])
  }
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

/** Checks a jurisdiction or an identifier, which must be there. */
function checkRequired(row: SourceRow, column: string): string | Refusal {
  const name = checkName(row, column)
  if (name !== null) return name
  const like = Object.keys(row).find((other) => other !== column && other.toLowerCase() === column)
  const advice = like === undefined ? '' : `, but the row has ${like}; names are in lower case`
  return new Refusal(`is required${advice}`, column)
}

/** The day of a row; null if it has none. */
function checkDay(row: SourceRow): string | null | Refusal {
  const given = row[asOfColumn]
  if (isBlank(given)) return null
  const day = normaliseTimestamp(given, 'seconds')
  return day instanceof Refusal ? new Refusal(day.reason, asOfColumn, given) : day
}

/** A checked row, in the columns of a source. */
export function companyRow(staged: StagedRow): SourceRow {
  const { companyId, companyJurisdiction: jurisdiction, companyIdentifier: identifier } = staged
  const naming = { ...(companyId === null ? {} : { id: companyId }), jurisdiction, identifier }
  const day = staged.asOf === null ? {} : { [asOfColumn]: staged.asOf }
  return { ...naming, ...day, ...(JSON.parse(staged.content.toString()) as SourceRow) }
}

/** The company of a refused row; undefined if the row does not identify one. */
export function companyIdentity(row: SourceRow): RefusedRow | undefined {
  const [companyJurisdiction, companyIdentifier] = companyNameColumns.map((name) =>
    checkName(row, name),
  )
  return typeof companyJurisdiction === 'string' && typeof companyIdentifier === 'string'
    ? { id: null, key: null, companyJurisdiction, companyIdentifier }
    : undefined
}

interface Attributes {
  /** The attributes as a JSON object, sorted by name. */
  readonly content: string
  /**
   * Names and values as text, each followed by a NUL, which none contains. A digest of this changes
   * with the texts, but not with the order of columns or lists.
   */
  readonly texts: string
}

/** The row's attributes that are not blank. */
function checkAttributes(row: SourceRow): Attributes | Refusal {
  let content = ''
  let texts = ''
  let count = 0
  const faults: Refusal[] = []
  for (const { name, member, refusal } of attributeNames(row)) {
    const value = row[name]
    const text = checkValue(value)
    if (text === null) continue
    if (text instanceof Refusal) {
      faults.push(new Refusal(text.reason, name, value))
      continue
    }
    if (refusal !== undefined) {
      faults.push(refusal)
      continue
    }
    count += 1
    if (count > attributesMax) {
      const advice = 'remove those that are not needed'
      return new Refusal(`has more than ${attributesMax} attributes; ${advice}`)
    }
    // Concatenated by hand: building an object with dynamic names and serialising it is slow.
    content += (count === 1 ? '{' : ',') + member + JSON.stringify(value)
    texts += `${name}\0${text}\0`
  }
  if (faults.length > 0) return refuseForAll(faults)
  return { content: count === 0 ? '{}' : `${content}}`, texts }
}

/** A column that may be an attribute. */
interface AttributeName {
  readonly name: string
  /** The name as a JSON member, with the colon. */
  readonly member: string
  /** Why the name is not allowed; undefined if it is. */
  readonly refusal: Refusal | undefined
}

/** The row's candidate attributes, sorted by name; cached, as most rows have the same columns. */
function attributeNames(row: SourceRow): readonly AttributeName[] {
  const columns = Object.keys(row)
  const { columns: known } = lastNames
  const isKnown =
    columns.length === known.length && columns.every((column, index) => column === known[index])
  if (!isKnown) {
    const names = columns
      .filter((column) => !statementColumns.has(column))
      .sort()
      .map((name) => ({ name, member: `${JSON.stringify(name)}:`, refusal: refuseName(name) }))
    lastNames = { columns, names }
  }
  return lastNames.names
}

function refuseName(name: string): Refusal | undefined {
  if (name === presenceAttr) return new Refusal('is a reserved name', name)
  // Recorded changes have the name as their meta type, whose length is limited.
  const text = normaliseText(name, metaTypeBytesMax)
  if (text === null) return new Refusal('is in a column without a name; name it', name)
  return text instanceof Refusal ? new Refusal(text.reason, name) : undefined
}

let lastNames = { columns: [] as readonly string[], names: [] as readonly AttributeName[] }

/** A value's text as compared and recorded, held to the limits of texts; null for a blank value. */
function checkValue(value: unknown): string | null | Refusal {
  if (typeof value === 'string') return normaliseText(value)
  // Depth is checked first, because the code that follows recurses into the value.
  const reason = refuseValue(value, depthMax)
  return reason === undefined ? normaliseText(attributeText(value)) : new Refusal(reason)
}

/** Why a value may not be an attribute: too deep, or a text in it breaks the rules of texts. */
function refuseValue(value: unknown, depthLeft: number): string | undefined {
  if (typeof value === 'string') {
    const text = normaliseText(value)
    return text instanceof Refusal ? text.reason : undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  if (JSON.isRawJSON(value)) return refuseRounded(value)
  if (depthLeft === 0) return `is nested deeper than ${depthMax} levels`
  const inners: readonly unknown[] = Array.isArray(value) ? value : Object.entries(value).flat()
  for (const inner of inners) {
    const reason = refuseValue(inner, depthLeft - 1)
    if (reason !== undefined) return reason
  }
  return undefined
}
