// Which values of a source say nothing.

const notBlank = /\S/

/** Whether a source's value is blank: absent, null, or blank text. */
export function isBlank(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && isBlankText(value))
}

/** Tests the first character before the slower pattern: in most texts it is printable ASCII. */
function isBlankText(text: string): boolean {
  const first = text.charCodeAt(0)
  return !(first > 0x20 && first < 0x7f) && !notBlank.test(text)
}
