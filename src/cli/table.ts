// Tables and lines for people: aligned columns, and nothing that a terminal would act upon.

/** Rows of cells as lines, each column as wide as its widest cell. */
export function tableLines(rows: readonly (readonly string[])[]): string[] {
  const widths = rows.reduce<number[]>(
    (max, row) => row.map((cell, index) => Math.max(max[index] ?? 0, cell.length)),
    [],
  )
  return rows.map((row) =>
    row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

/** Text from a register on one line: control characters, line breaks too, become blanks. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
}

/** A count with commas between thousands. */
export function formatCount(count: number): string {
  return count.toLocaleString('en')
}

/** The day of a moment in milliseconds since 1970, UTC. */
export function formatDay(moment: number): string {
  return new Date(moment).toISOString().slice(0, 10)
}

/** A moment in milliseconds since 1970, to the second, UTC. */
export function formatMoment(moment: number): string {
  return new Date(moment).toISOString().slice(0, 19).replace('T', ' ')
}
