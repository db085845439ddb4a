// The text of a company's attribute: what is compared between two extracts, and recorded.

import { isBlank } from './normalise.ts'

/** The attribute that tells whether a company stands in its source's snapshots. */
export const presenceAttr = 'register_entry'

/**
 * An attribute's value as text: text as it was given, a list as the set of its elements, sorted
 * and joined by `; `, all else as JSON writes it; null where it says nothing.
 *
 * A blank element is one: a list of `` and `NYSE` is another than one of `NYSE`. Lists are sorted
 * by code point, so that the text is the same on every machine.
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

/** JSON with the members of objects in order, so that their order is no change. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => byCodePoint(a, b)))
      : inner,
  )
}

/** Compares two texts by code points, as their UTF-8 compares. */
export function byCodePoint(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at++) {
    const order = rankOf(a.charCodeAt(at)) - rankOf(b.charCodeAt(at))
    if (order !== 0) return order
  }
  return a.length - b.length
}

/** A code unit's place among code points: surrogates stand for those beyond all others. */
function rankOf(unit: number): number {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}
