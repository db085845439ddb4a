// The length of a text in characters, as JSON Schema and databases count: in code points.

/** Whether a text has more than so many characters. */
export function hasMoreCharacters(text: string, count: number): boolean {
  // No text has more characters than UTF-16 code units.
  return text.length > count && Array.from(text).length > count
}
