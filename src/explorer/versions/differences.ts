// What differs between two states of a listing: records by their id, and fields by their values.

import { memberOf, type Row } from '../resources.ts'

export interface ChangedRow {
  readonly before: Row
  readonly after: Row
  /** The fields whose values differ. */
  readonly fields: readonly string[]
}

export interface Differences {
  readonly added: readonly Row[]
  readonly removed: readonly Row[]
  readonly changed: readonly ChangedRow[]
}

export const noDifferences: Differences = { added: [], removed: [], changed: [] }

export function differencesOf(earlier: readonly Row[], later: readonly Row[]): Differences {
  const known = new Map(earlier.map((row) => [row['id'], row]))
  const added: Row[] = []
  const changed: ChangedRow[] = []
  for (const after of later) {
    const before = known.get(after['id'])
    if (before === undefined) {
      added.push(after)
      continue
    }
    known.delete(after['id'])
    // A source that no longer gives an attribute leaves it out.
    const fields = Object.keys({ ...before, ...after }).filter(
      (name) => JSON.stringify(memberOf(after, name)) !== JSON.stringify(memberOf(before, name)),
    )
    if (fields.length > 0) changed.push({ before, after, fields })
  }
  return { added, removed: [...known.values()], changed }
}
