// Which values of a source are blank.

/** Whether a source's value is blank: absent, null, or blank text. */
export function isBlank(value: unknown): boolean {
  if (typeof value !== 'string') return value === undefined || value === null
  // Looking at the first character takes less time than the pattern, and nearly always suffices.
  const first = value.charCodeAt(0)
  if (first > lastControl && first < firstWideBlank && first !== noBreakSpace) return false
  return !/\S/.test(value)
}

const lastControl = 0x20
const noBreakSpace = 0xa0
/** Of the blanks of Unicode, U+00A0 alone comes before it. */
const firstWideBlank = 0x1680
