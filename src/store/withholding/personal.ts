// What withholding makes of a record: its personal fields hidden, or people in its texts.

import type { Resource } from '../../resources/resource.ts'
import { type HidePhrases, withheldText } from './phrases.ts'

type Fields = Readonly<Record<string, unknown>>

/** The names of the fields that a resource declares as personal. */
export function personalFields({ fields }: Resource): readonly string[] {
  return Object.entries(fields)
    .filter(([, { personal }]) => personal !== undefined)
    .map(([name]) => name)
}

/**
 * Hides the personal fields of a record (contract 13).
 *
 * @param isMeant of a list of texts, which of them to hide; all of them if it is not given.
 * @returns the same record if there is nothing to hide.
 */
export function maskRecord(
  resource: Resource,
  record: Fields,
  isMeant: (text: string) => boolean = () => true,
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

/** The values of a record's personal fields. */
export function personalValues(resource: Resource, record: Fields): string[] {
  return personalFields(resource)
    .flatMap((name) => record[name])
    .filter((value) => value !== null && value !== undefined && value !== withheldText)
    .map(String)
}

/** Whether a personal field has a value, or one of a list is. */
export function hasValue(value: unknown, isMeant: (text: string) => boolean): boolean {
  if (value === null || value === undefined) return false
  const values: readonly unknown[] = Array.isArray(value) ? value : [value]
  return values.some((one) => isMeant(String(one)))
}

/**
 * Hides people in a record of changes: `mask` hides them in its texts; `erase` leaves no value in
 * which they were, and no record without values.
 */
export function hideInChange(
  { changeFields }: Resource,
  record: Fields,
  { hidePhrases, isErased }: { readonly hidePhrases: HidePhrases; readonly isErased: boolean },
): Fields | undefined {
  if (changeFields === undefined) return record
  let changed: Record<string, unknown> | undefined
  for (const part of [changeFields.before, changeFields.after]) {
    const value = record[part]
    if (typeof value !== 'string') continue
    const hidden = hidePhrases(value)
    if (hidden !== value) changed = { ...(changed ?? record), [part]: isErased ? null : hidden }
  }
  const isEmpty = changed?.[changeFields.before] === null && changed[changeFields.after] === null
  return isEmpty ? undefined : (changed ?? record)
}

/** Hides people in what a source says about a company: in texts and numbers, however deep. */
export function hideInAttributes(attributes: Fields, hidePhrases: HidePhrases): Fields {
  const hideIn = (value: unknown): unknown => {
    if (typeof value === 'string') return hidePhrases(value)
    if (typeof value === 'number') {
      const hidden = hidePhrases(String(value))
      return hidden === String(value) ? value : hidden
    }
    if (Array.isArray(value)) return value.map(hideIn)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, hideIn(one)]))
  }
  return hideIn(attributes) as Fields
}
