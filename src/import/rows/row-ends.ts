// The first and last rows of tables: names of columns in place of values, and sums of other rows.

import { showValue, type SourceRow } from '../../files/refusal.ts'
import type { PlacedRow } from '../../files/json/read-json.ts'

export type PlaceOf = (placed: PlacedRow) => string

/** What the last row of a table has if it sums up the others, in several languages. */
const sum =
  /^(?:(?:grand |sub)?totals?|totalt|sum|suma|summe|(?:ins)?gesamt|razem|ogółem|celkem|spolu|összesen|yhteensä|kokku|kopā|iš viso|toplam|итого|всего|всього|разом|(?:row|record)s?(?: count)?|count|[合总総][计計])(?!\p{L})/iu
const noText = /^[\d\s.,:%$€£+-]*$/

/** A row and its place. */
interface Noted {
  readonly row: SourceRow
  readonly placed: PlacedRow
}

const startRows = 20
const likeRowsMin = 3

/**
 * Keeps the first rows of a table, which may have names of columns, and the last one of each of its
 * files, which may have the sums of the others.
 */
export function lookAtEnds(isTable: boolean, placeOf: PlaceOf) {
  const starts: Noted[] = []
  const ends = new Map<number, Noted>()
  return {
    note(row: SourceRow, placed: PlacedRow): void {
      if (!isTable) return
      if (starts.length < startRows) starts.push({ row, placed })
      ends.set(placed.file, { row, placed })
    },
    /** @param same the columns with one value in all rows, which a mapping may have added. */
    warnings: (same: ReadonlySet<string>) => [
      ...namesTold(starts, placeOf),
      ...ends.values().flatMap(({ row, placed }) => {
        const texts = Object.entries(row).filter(
          ([name, value]) => typeof value === 'string' && !noText.test(value) && !same.has(name),
        )
        const [[name, text] = []] = texts
        const isSum = texts.length === 1 && sum.test(String(text).trim())
        return isSum ? [sumsTold(String(name), text, placeOf(placed))] : []
      }),
    ],
  }
}

/** Names of columns have no digits, not even where all rows after them do. */
function namesTold([first, ...others]: readonly Noted[], placeOf: PlaceOf): string[] {
  if (first === undefined) return []
  const texts = Object.entries(first.row).filter(([, value]) => value !== null)
  if (texts.some(([, value]) => typeof value !== 'string' || hasDigits(value))) return []
  const odd = texts.find(([name]) => {
    const values = others.flatMap(({ row }) => row[name] ?? [])
    return values.length >= likeRowsMin && values.every(hasDigits)
  })
  if (odd === undefined) return []
  const [name, text] = odd
  return [
    `${placeOf(first.placed)}: ${name} is ${showValue(text)}, and the rows after it have digits ` +
      'there; if it is a row of column names, leave it out: add --skip-lines 1 to --columns, or ' +
      'use a mapping',
  ]
}

const hasDigits = (value: unknown) => /\d/.test(JSON.stringify(value))

function sumsTold(name: string, text: unknown, place: string): string {
  return (
    `${place}: ${name} is ${showValue(text)} in the last row, beside numbers alone; if that row ` +
    'sums up the others, leave it out, in the file or in a mapping'
  )
}
