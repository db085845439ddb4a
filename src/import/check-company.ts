// One row of a source of companies: what names the company, and its attributes.

import type { RefusedRow, StagedRow } from '../store/store.ts'
import { type CheckRow, checkName, digestOf, type SourceRow } from './check-record.ts'
import { isBlank, nameBytesMax, normaliseId, normaliseText } from './normalise.ts'
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
  const content = JSON.stringify(attributes)
  return {
    companyId,
    companyJurisdiction: jurisdiction,
    companyIdentifier: identifier,
    id: null,
    key: null,
    sort: '',
    digest: attributesDigest(attributes),
    content,
    asOf,
  } satisfies StagedRow
}

/** A digest of what the attributes say: of their texts, so that it changes where a text does. */
export function attributesDigest(attributes: Readonly<Record<string, unknown>>): string {
  return digestOf(
    JSON.stringify(Object.entries(attributes).map(([name, value]) => [name, attributeText(value)])),
  )
}

/** The company of a row that is refused for something else; undefined where it names none. */
export function companyIdentity(row: SourceRow): RefusedRow | undefined {
  const [companyJurisdiction, companyIdentifier] = companyNameColumns.map((name) => row[name])
  return typeof companyJurisdiction === 'string' && typeof companyIdentifier === 'string'
    ? { id: null, key: null, companyJurisdiction, companyIdentifier }
    : undefined
}

/** The attributes that say something, by name, so that the order of columns is no change. */
function checkAttributes(row: SourceRow): Record<string, unknown> | Refusal {
  const names = Object.keys(row)
    .filter((name) => !ownColumns.has(name) && attributeText(row[name]) !== null)
    .sort()
  if (names.length > attributesMax) return new Refusal(`has more than ${attributesMax} attributes`)
  const attributes: Record<string, unknown> = Object.create(null) as Record<string, unknown>
  for (const name of names) {
    const refusal = normaliseText(name, nameBytesMax)
    if (refusal instanceof Refusal) return new Refusal(refusal.reason, name)
    const reason = refuseAttribute(name, row[name])
    if (reason !== undefined) return new Refusal(reason, name, row[name])
    attributes[name] = row[name]
  }
  return attributes
}

function refuseAttribute(name: string, value: unknown): string | undefined {
  if (name === presenceAttr) return 'is what Dossier calls the presence of a company in a source'
  const reason = refuseValue(value, depthMax)
  if (reason !== undefined || typeof value !== 'object') return reason
  // What is recorded of a change is the text of the whole value, held to the bounds of texts.
  const text = normaliseText(attributeText(value))
  return text instanceof Refusal ? text.reason : undefined
}

/** Why a value may not be kept as an attribute: its texts are held to the rules of texts. */
function refuseValue(value: unknown, depthLeft: number): string | undefined {
  if (typeof value === 'string') {
    const text = normaliseText(value)
    return text instanceof Refusal ? text.reason : undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  if (depthLeft === 0) return `is nested deeper than ${depthMax} levels`
  for (const inner of Object.entries(value).flat() as unknown[]) {
    const reason = refuseValue(inner, depthLeft - 1)
    if (reason !== undefined) return reason
  }
  return undefined
}
