// The text of a company's attribute, by which two extracts are compared, and which is recorded.

import { isBlank } from '../../text/blank.ts'
import { byCodePoint, digestOf } from '../record-texts.ts'

/** The column with the day of a row about a company. */
export const asOfColumn = 'as_of'

/** The columns of such a row that are no attributes. */
export const statementColumns: ReadonlySet<string> = new Set([
  'id',
  'jurisdiction',
  'identifier',
  asOfColumn,
])

/** The attribute that says whether a company is in the snapshots of its source. */
export const presenceAttr = 'register_entry'

/**
 * An attribute's value as text: text unchanged, a list as the set of its elements, sorted and
 * joined by `; `, anything else as JSON; null for a blank value.
 *
 * A blank element counts: a list of `` and `NYSE` differs from one of `NYSE`. Lists are sorted by
 * code point, so that the text is the same on every machine.
 */
export function attributeText(value: unknown): string | null {
  if (isBlank(value)) return null
  if (typeof value === 'string') return value
  if (!Array.isArray(value)) return canonicalJson(value)
  if (value.length === 1) return attributeText(value[0])
  const texts = new Set(value.map((element) => attributeText(element) ?? ''))
  const isNothing = texts.size === 0 || (texts.size === 1 && texts.has(''))
  return isNothing ? null : [...texts].sort(byCodePoint).join('; ')
}

/** JSON with sorted object members, so that their order does not count as a change. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => byCodePoint(a, b)))
      : inner,
  )
}

/**
 * A source's attributes as they are stored: a JSON object, sorted by name, and its digest, as an
 * import makes them.
 */
export function encodeAttributes(attributes: Readonly<Record<string, unknown>>): {
  readonly content: string
  readonly digest: string
} {
  const names = Object.keys(attributes).sort()
  const members = names.map((name) => `${JSON.stringify(name)}:${JSON.stringify(attributes[name])}`)
  const texts = names.map((name) => `${name}\0${attributeText(attributes[name]) ?? ''}\0`)
  return { content: `{${members.join(',')}}`, digest: digestOf(texts.join('')) }
}

type Row = Readonly<Record<string, unknown>>

/** A change of one attribute, or field; null for no value. */
export interface AttributeChange {
  readonly attr: string
  readonly before: string | null
  readonly after: string | null
}

/** The members whose values differ between two JSON objects, the id left out. */
export function textChanges(before: string, after: string): AttributeChange[] {
  const [old, now] = [before, after].map((text) => JSON.parse(text) as Row) as [Row, Row]
  const changes: AttributeChange[] = []
  function compare(attr: string): void {
    if (old[attr] === now[attr] || attr === 'id') return
    const change = { attr, before: textIn(old, attr), after: textIn(now, attr) }
    if (change.before !== change.after) changes.push(change)
  }
  for (const attr in now) compare(attr)
  for (const attr in old) if (!Object.hasOwn(now, attr)) compare(attr)
  return changes
}

const textIn = (row: Row, attr: string) =>
  Object.hasOwn(row, attr) ? attributeText(row[attr]) : null
