// Changes of records that follow each other, and their parts.

import type { Change, Numbers } from '../changes.ts'
import type { TextRange } from '../listing/tables.ts'

/** Records that have changed, one after another: where they are in the present state, or were. */
export interface RecordChange extends Pick<Change, 'kind' | 'ids' | 'lengths'> {
  /** Their order values; empty if they have none, and for companies. */
  readonly sorts: Numbers
  /** Their texts, joined by commas, or where these are; undefined if the records are gone. */
  readonly texts: Uint8Array | TextRange | undefined
}

/** The first records of a change, up to a number of them. */
export function firstOf<C extends RecordChange>(change: C, count: number): C {
  return cut(change, 0, Math.min(count, change.ids.length), 0).part
}

/** Cuts a change into parts with one version each; `versionOf` returns that of the nth record. */
export function* cutByVersion<C extends RecordChange>(
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
function cut<C extends RecordChange>(change: C, from: number, to: number, textsAt: number) {
  const { texts } = change
  if (from === 0 && to === change.ids.length) return { part: change, textsEnd: 0 }
  const [ids, sorts] = [change.ids.slice(from, to), change.sorts.slice(from, to)]
  const lengths = change.lengths.slice(from, to)
  // There are commas between them.
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
