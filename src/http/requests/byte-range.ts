// Ranges of bytes of a file (RFC 9110 section 14).

/** The bytes from `start` up to `end`, which is one more than the last. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

const rangePattern = /^bytes= *(?:(\d+)-(\d+)?|-(\d+))$/i

/**
 * The range that a field asks for.
 *
 * @returns undefined for none, or for one of several parts, which a server may ignore; `beyond` if
 *   it begins after the end of the file.
 */
export function parseRange(
  field: string | undefined,
  size: number,
): ByteRange | 'beyond' | undefined {
  const match = rangePattern.exec(field ?? '')
  if (match === null) return undefined
  const [, first, last, suffix] = match
  if (suffix !== undefined) {
    const length = Math.min(Number(suffix), size)
    return length === 0 ? 'beyond' : { start: size - length, end: size }
  }
  const start = Number(first)
  const end = last === undefined ? size : Math.min(Number(last) + 1, size)
  // A range that ends before it begins is not valid.
  if (last !== undefined && Number(last) < start) return undefined
  return start >= size ? 'beyond' : { start, end }
}
