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

/** Compares two texts as UTF-8 does. */
export function byCodePoint(a: string, b: string): number {
  if (a === b) return 0
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
