// Hides the personal fields of a record, or people in its texts: in the same way in a store and in
// the rows of an import.

import { textBytesMax } from '../../resources/field.ts'
import { metaTypeBytesMax, type Resource } from '../../resources/resource.ts'
import { attributeText } from '../companies/attribute-text.ts'
import type { Order } from './list/entries.ts'
import type { Hasher } from './list/hashes.ts'
import { type HidePhrases, withheldText } from './phrases.ts'

export type Fields = Readonly<Record<string, unknown>>

/** The names of the fields that a resource declares as personal. */
export function personalFields({ fields }: Resource): readonly string[] {
  return Object.entries(fields)
    .filter(([, { personal }]) => personal !== undefined)
    .map(([name]) => name)
}

/** The values of a record's personal fields. */
export function personalValues(resource: Resource, record: Fields): string[] {
  return personalFields(resource)
    .flatMap((name) => record[name])
    .filter((value) => value !== null && value !== undefined && value !== withheldText)
    .map(String)
}

/** The hash of a value of a personal field, in whatever form its accents are encoded. */
export function hashValue(hasher: Hasher, resource: string, field: string, text: string): string {
  return hasher('value', resource, field, text.normalize())
}

/** An order on records of a resource. */
type RecordOrder = Pick<Order, 'kind' | 'subject'>

/** The values of personal fields that are hidden in what is kept of a record. */
export function withheldValues(resource: Resource, fields: Fields, kept: Fields): string[] {
  const shown = new Set(personalValues(resource, kept))
  return personalValues(resource, fields).filter((value) => !shown.has(value))
}

/** What remains of a record that orders withhold: its fields, or nothing. */
interface Held<O> {
  readonly kept: Fields | undefined
  /** The orders that mean it; one of those that erase it. */
  readonly by: readonly O[]
}

/**
 * Creates a function that finds the records that orders mean, and hides what they withhold.
 *
 * @param orders all of them on records of the resource.
 * @returns a function of a record, and of the order that names it by its id or key, if one does;
 *   undefined if no order means it.
 */
export function createHold<O extends RecordOrder>(
  resource: Resource,
  orders: readonly O[],
  hasher: Hasher,
) {
  const hashOf = (field: string, text: string) => hashValue(hasher, resource.name, field, text)
  const byField = new Map<string, Map<string, O>>()
  for (const order of orders) {
    if (!('field' in order.subject)) continue
    const { field, value } = order.subject
    byField.set(field, (byField.get(field) ?? new Map<string, O>()).set(value, order))
  }
  return (record: Fields, named: O | undefined): Held<O> | undefined => {
    if (named?.kind === 'erase') return { kept: undefined, by: [named] }
    // An order on a value of a list hides that value alone.
    const isNamed = (text: string) =>
      named !== undefined &&
      (!('field' in named.subject) || hashOf(named.subject.field, text) === named.subject.value)
    let held = named && { kept: maskRecord(resource, record, isNamed), by: [named] }
    for (const [field, byValue] of byField) {
      const find = (text: string) => byValue.get(hashOf(field, text))
      const found = textsOf(record[field]).flatMap((text) => find(text) ?? [])
      if (found.length === 0) continue
      const erasing = found.filter(({ kind }) => kind === 'erase')
      if (erasing.length > 0) return { kept: undefined, by: erasing }
      const isMeant = (text: string) => find(text) !== undefined
      const kept = maskRecord(resource, held?.kept ?? record, isMeant)
      held = { kept, by: [...(held?.by ?? []), ...found] }
    }
    return held
  }
}

/** The texts of a field, which may be a list. */
export function textsOf(value: unknown): string[] {
  if (value === null || value === undefined) return []
  const values: readonly unknown[] = Array.isArray(value) ? value : [value]
  return values.map(String)
}

/**
 * Hides the personal fields of a record (contract 13).
 *
 * @param isMeant decides which texts of a list to hide.
 * @returns the same record if there is nothing to hide.
 */
function maskRecord(
  resource: Resource,
  record: Fields,
  isMeant: (text: string) => boolean,
): Fields {
  let masked = record
  for (const name of personalFields(resource)) {
    const value = record[name]
    const hidden = hide(value, resource.fields[name]?.personal, isMeant)
    if (JSON.stringify(hidden) !== JSON.stringify(value)) masked = { ...masked, [name]: hidden }
  }
  return masked
}

function hide(value: unknown, form: 'shown' | 'null' | undefined, isMeant: (t: string) => boolean) {
  if (Array.isArray(value)) {
    return value.map((one: unknown) => (isMeant(String(one)) ? withheldText : one))
  }
  return value === null || value === undefined || form === 'null' ? null : withheldText
}

/** Phrases that are withheld in texts, and how. */
export interface Phrases {
  readonly kind: Order['kind']
  readonly hidePhrases: HidePhrases
}

/**
 * Hides people in what is said about a company: in a recorded change, or in what a source says.
 *
 * @param resource the resource of recorded changes; undefined for what sources say.
 * @returns the same record if nothing is hidden; undefined if it is removed.
 */
export function hideInTexts(
  resource: Resource | undefined,
  record: Fields,
  phrases: Phrases,
): Fields | undefined {
  return resource === undefined
    ? hideInAttributes(record, phrases)
    : hideInChange(resource, record, phrases)
}

/** `erase` removes values that name people, and records of such an attribute, or without values. */
function hideInChange(
  { changeFields }: Resource,
  record: Fields,
  { kind, hidePhrases }: Phrases,
): Fields | undefined {
  if (changeFields === undefined) return record
  const { attr, before, after } = changeFields
  let changed: Record<string, unknown> | undefined
  for (const part of [attr, before, after]) {
    const value = record[part]
    if (typeof value !== 'string') continue
    const hidden = limit(hidePhrases(value), part === attr ? metaTypeBytesMax : textBytesMax)
    if (hidden === value) continue
    // A change always has an attribute.
    if (kind === 'erase' && part === attr) return undefined
    changed = { ...(changed ?? record), [part]: kind === 'erase' ? null : hidden }
  }
  const isEmpty = changed?.[before] === null && changed[after] === null
  return isEmpty ? undefined : (changed ?? record)
}

/** In names, texts and numbers, however deep. */
function hideInAttributes(attributes: Fields, { hidePhrases }: Phrases): Fields {
  const hideIn = (value: unknown): unknown => {
    if (typeof value === 'string' || typeof value === 'number') {
      const hidden = hidePhrases(String(value))
      return hidden === String(value) ? value : hidden
    }
    if (Array.isArray(value)) return value.map(hideIn)
    return typeof value === 'object' && value !== null ? hideInMembers(value) : value
  }
  const hideInMembers = (members: object): Fields =>
    Object.fromEntries(
      Object.entries(members).map(([name, one]) => [hidePhrases(name), hideIn(one)]),
    )
  const hidden = hideInMembers(attributes)
  if (JSON.stringify(hidden) === JSON.stringify(attributes)) return attributes
  return Object.fromEntries(
    Object.entries(hidden).map(([name, value]) => [
      limit(name, metaTypeBytesMax),
      isTooLong(attributeText(value) ?? '', textBytesMax) ? withheldText : value,
    ]),
  )
}

/** With `[withheld]` in it, a text may be too long: then all of it is withheld. */
const limit = (hidden: string, bytesMax: number) =>
  isTooLong(hidden, bytesMax) ? withheldText : hidden

const isTooLong = (text: string, bytesMax: number) => Buffer.byteLength(text) > bytesMax
