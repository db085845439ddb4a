// Likely spellings of a company's register number, for "did you mean …?". Each costs a
// look-up, so these are the dozen that clients most often mean.

/** How many spellings are tried. */
const nearNamesMax = 12

/** The lengths to which registers fill numbers with leading zeros. */
const paddedLengths = [8, 10]

/**
 * Names that differ from a given one in the case of the jurisdiction or the identifier, in leading
 * zeros, or in blanks, hyphens and dots; the most likely ones first.
 */
export function nearNames(
  jurisdiction: string,
  identifier: string,
): readonly (readonly [jurisdiction: string, identifier: string])[] {
  const area = jurisdiction.trim().toUpperCase()
  const trimmed = identifier.trim()
  const compact = trimmed.replaceAll(/[\s.-]/g, '').toUpperCase()
  const bare = compact.replace(/^0+(?=.)/, '')
  const identifiers = [
    trimmed,
    compact,
    ...paddedLengths.map((length) => bare.padStart(length, '0')),
    bare,
    trimmed.toUpperCase(),
  ]
  const names = new Map<string, readonly [string, string]>()
  for (const one of [area, jurisdiction]) {
    for (const other of identifiers) names.set(`${one}:${other}`, [one, other])
  }
  names.delete(`${jurisdiction}:${identifier}`)
  return [...names.values()].slice(0, nearNamesMax)
}
