// Which values of a source say nothing.

/** Whether a source's value is blank: absent, null, or blank text. */
export function isBlank(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && !/\S/.test(value))
}
