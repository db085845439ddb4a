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

/** The first records of a change, at most so many. */
export function firstOf<C extends Cuttable>(change: C, count: number): C {
  return cut(change, 0, Math.min(count, change.ids.length), 0).part
}

/** The parts of a change of which the versions, by the numbers of records, are the same. */
export function* cutByVersion<C extends Cuttable>(
  change: C,
  versionOf: (n: number) => number,
): Generator<C & { readonly version: number }> {
  const count = change.ids.length
  for (let [from, textsAt] = [0, 0]; from < count;) {
    const version = versionOf(from)
    let to = from + 1
    while (to < count && versionOf(to) === version) to += 1
    const { part, textsEnd } = cut(change, from, to, textsAt)
    yield { ...part, version }
    ;[from, textsAt] = [to, textsEnd]
  }
}

/** @param textsAt where the texts of the part begin. */
function cut<C extends Cuttable>(change: C, from: number, to: number, textsAt: number) {
  const { texts } = change
  if (from === 0 && to === change.ids.length) return { part: change, textsEnd: 0 }
  const [ids, sorts] = [change.ids.slice(from, to), change.sorts.slice(from, to)]
  const lengths = change.lengths.slice(from, to)
  // Commas are between them.
  let length = lengths.length - 1
  for (const one of lengths) length += one
  const textsEnd = textsAt + length + 1
  const part = { ...change, ids, sorts, lengths }
  if (texts === undefined) return { part, textsEnd }
  const own =
    texts instanceof Uint8Array
      ? texts.subarray(textsAt, textsAt + length)
      : { ...texts, from: texts.from + textsAt, length }
  return { part: { ...part, texts: own }, textsEnd }
}
