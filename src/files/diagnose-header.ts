// Tells from the start of a CSV file why its first line may not be its header.

import { OperatorError } from '../config/operator-error.ts'
import { countOf } from '../text/format-count.ts'
import { looksLikeData } from './check-columns.ts'
import { type CsvForm, recordsOf } from './csv-record.ts'

const delimiters = [',', ';', '\t', '|', '^', '~', ':', '\x01', '\x1f']
const sampleLength = 64 << 10

/**
 * Refuses Excel's `sep=;`, a wrong delimiter, and other lines before the header.
 *
 * @param text the start of the file.
 * @param header the number of columns that the first line has, with this delimiter.
 * @param considered the forms that were, and the lines skipped before the text.
 * @throws OperatorError that names the option that helps.
 */
export function diagnoseHeader(
  name: string,
  text: string,
  header: number,
  { candidates, skipped }: { candidates: readonly CsvForm[]; skipped: number },
): void {
  const sample = text.slice(0, sampleLength)
  const [first = ''] = text.split(/[\r\n]/, 1)
  const shown = JSON.stringify(first.slice(0, 60))
  if (/^"?sep=.?"?$/.test(first)) {
    const advice = `add --skip-lines ${skipped + 1}`
    throw new OperatorError(`${name} begins with ${shown}, a line for Excel; ${advice}`)
  }
  refuseDelimiter(name, sample, header, shown)
  for (const form of candidates) {
    refuseTitle(name, cellsOf(sample, form), { header, shown, skipped })
  }
}

function refuseDelimiter(name: string, sample: string, header: number, shown: string): void {
  if (header > 1) return
  const other = delimiters.find((delimiter) => {
    const [first = 0, second] = cellsOf(sample, { delimiter, hasQuotes: true }).map(lengthOf)
    return first > 1 && first === second
  })
  if (other === undefined) return
  const given = other === '\t' ? 'tab' : other < ' ' ? `$'${escaped(other)}'` : `'${other}'`
  throw new OperatorError(`${name}: the header is one cell, ${shown}; add --delimiter ${given}`)
}

function escaped(control: string): string {
  return `\\x${control.charCodeAt(0).toString(16).padStart(2, '0')}`
}

/**
 * Refuses lines before the header: they have at most half of the cells that all lines after them
 * have, or end with a blank line. Of a header without rows, one such line.
 */
function refuseTitle(
  name: string,
  lines: readonly (readonly string[])[],
  { header, shown, skipped }: { header: number; shown: string; skipped: number },
): void {
  const counts = lines.map(lengthOf)
  const columns = counts.at(-1) ?? 0
  const at = counts.findLastIndex((count) => count !== columns && count !== 0) + 1
  const start = counts.findIndex((count, index) => index >= at && count !== 0)
  const isApart = start > at || header * 2 <= columns
  if (at < 1 || columns < 2 || columns <= header || !isApart) return
  const isLast = counts.length < start + 2
  if (isLast && (at > 1 || lines[start]?.some((cell) => looksLikeData(cell)))) return
  throw new OperatorError(
    `${name} begins with ${shown}, which has ${countOf(header, 'cell')}, but the lines from line ` +
      `${skipped + start + 1} on have ${columns}; add --skip-lines ${skipped + start}`,
  )
}

/** The cells of each record in a text, none of a blank line. */
function cellsOf(text: string, form: CsvForm): (readonly string[])[] {
  const isWhole = text.length < sampleLength
  return Array.from(recordsOf(text, form, isWhole), ({ cells, start, end }) =>
    end > start ? cells : [],
  )
}

const lengthOf = ({ length }: readonly string[]) => length
