// Cuts records out of pieces, neighbours in one cut.

import type { Resource } from '../../resources/resource.ts'
import { recordSeparator } from '../record-texts.ts'
import type { Row } from './database.ts'

/** A piece, and where its records begin in its text, in the order served. */
interface Piece {
  readonly first: number
  readonly last: number
  readonly texts: string
  readonly starts: readonly number[]
}

/**
 * Makes a function that adds the texts of records to a list, those that stand side by side as one.
 *
 * @param rows pieces, with `first`, `last` and `texts`.
 * @returns a function that takes entries, which are positions or below 0, from an index on, and
 *   returns the index of the next one that it has not taken; the same if no piece has it.
 */
export function cutterOf({ order }: Resource, rows: readonly Row[]) {
  const pieces = rows.map(pieceOf)
  const step = order.direction === 'descending' ? -1 : 1
  let current = pieces[0]

  function find(position: number): Piece | undefined {
    const has = (piece: Piece) => piece.first <= position && position <= piece.last
    if (current === undefined || !has(current)) current = pieces.find(has)
    return current
  }

  return (entries: Int32Array, from: number, texts: string[]): number => {
    const position = entries[from] ?? -1
    const piece = find(position)
    if (piece === undefined) return from
    const { first, last, starts } = piece
    let end = from + 1
    let next = position + step
    while (next >= first && next <= last && entries[end] === next) {
      end += 1
      next += step
    }
    const at = step < 0 ? last - position : position - first
    const after = starts[at + end - from]
    texts.push(piece.texts.slice(starts[at], after === undefined ? undefined : after - 1))
    return end
  }
}

function pieceOf(row: Row): Piece {
  const texts = String(row['texts'])
  const starts = [0]
  for (let at = texts.indexOf(recordSeparator); at >= 0;) {
    starts.push(at + 1)
    at = texts.indexOf(recordSeparator, at + 1)
  }
  return { first: Number(row['first']), last: Number(row['last']), texts, starts }
}
