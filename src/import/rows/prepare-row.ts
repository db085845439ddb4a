// Prepares the texts of a row before it is checked: outer blanks, and texts that mean null.

import type { SourceRow } from '../../files/refusal.ts'
import type { TextRules } from '../../files/source-file.ts'

/** The function that prepares a row; undefined if rows stay as they are. */
export function rowPreparer({
  isTrimmed,
  nulls,
}: TextRules): ((row: SourceRow) => SourceRow) | undefined {
  if (!isTrimmed && nulls.length === 0) return undefined
  const empty = new Set(nulls)
  function prepared(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(prepared)
    if (typeof value !== 'string') return value
    const text = isTrimmed ? value.trim() : value
    return empty.has(text) ? null : text
  }
  return (row) => {
    const entries = Object.entries(row)
    return Object.fromEntries(entries.map(([name, value]) => [name, prepared(value)]))
  }
}
