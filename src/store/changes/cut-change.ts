// Changes of records that follow each other, cut into parts.

import type { Numbers } from '../changes.ts'
import type { TextRange } from '../listing/tables.ts'

/** The records of a change, and where their texts are. */
interface Cuttable {
  readonly ids: Numbers
  readonly sorts: Numbers
  readonly lengths: Numbers
  readonly texts: TextRange | Uint8Array | undefined
}

/** Some of the records of a change. */
export function cutChange<C extends Cuttable>(change: C, from: number, to: number): C {
  const { texts } = change
  if (from === 0 && to === change.ids.length) return change
  const lengths = change.lengths.slice(from, to)
  const cut = {
    ...change,
    ...{ ids: change.ids.slice(from, to), sorts: change.sorts.slice(from, to), lengths },
  }
  if (texts === undefined) return cut
  // Commas are between them.
  const start = textBytes(change.lengths.slice(0, from)) + from
  const length = textBytes(lengths) + lengths.length - 1
  if (texts instanceof Uint8Array) return { ...cut, texts: texts.subarray(start, start + length) }
  return { ...cut, texts: { ...texts, from: texts.from + start, length } }
}

function textBytes(lengths: Numbers): number {
  let total = 0
  for (const length of lengths) total += length
  return total
}
