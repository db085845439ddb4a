// The order of texts: by code point, as that of their bytes in UTF-8.

/** Compares two texts. */
export function compareTexts(a: string, b: string): number {
  const { length } = a.length < b.length ? a : b
  for (let n = 0; n < length; n++) {
    const one = a.charCodeAt(n)
    const other = b.charCodeAt(n)
    if (one !== other) return rankOf(one) - rankOf(other)
  }
  return a.length - b.length
}

/** A surrogate is of a code point after all that need none. */
function rankOf(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}
