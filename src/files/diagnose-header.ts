// Explains, from the start of a CSV file, why its first line may not be its header.

import { OperatorError } from '../config/operator-error.ts'
import { countOf } from '../text/format-count.ts'
import { printable } from '../text/printable.ts'
import { looksLikeData } from './check-columns.ts'
import { type CsvForm, recordsOf } from './csv-record.ts'

const delimiters = [',', ';', '\t', '|', '^', '~', ':', '\x01', '\x1f']
const sampleLength = 64 << 10

/**
 * Refuses Excel's `sep=;`, a wrong delimiter, and other lines before the header.
 *
 * @param text the start of the file.
 * @param header the number of columns in the first line, with this delimiter.
 * @param considered the forms that were considered, and the lines skipped before the text.
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
  const shapes = candidates.map((form) => shapeOf(cellsOf(sample, form)))
  if (header > 1 && shapes.some(({ cells, columns }) => cells === header && columns === header)) {
    return
  }
  const [title] = shapes.filter(({ isTitled }) => isTitled).sort((a, b) => b.columns - a.columns)
  if (title === undefined) return
  throw new OperatorError(
    `${name} begins with ${shown}, which has ${countOf(title.cells, 'cell')}, but the lines from ` +
      `line ${skipped + title.lines + 1} on have ${title.columns}; add --skip-lines ` +
      `${skipped + title.lines}`,
  )
}

function refuseDelimiter(name: string, sample: string, header: number, shown: string): void {
  if (header > 1) return
  const other = delimiters.find((delimiter) => {
    const [first = 0, second] = cellsOf(sample, { delimiter, hasQuotes: true }).map(lengthOf)
    return first > 1 && first === second
  })
  if (other === undefined) return
  const given = other === '\t' ? 'tab' : other < ' ' ? `$'${printable(other)}'` : `'${other}'`
  throw new OperatorError(`${name}: the header is one cell, ${shown}; add --delimiter ${given}`)
}

/**
 * What a table has: the cells of its first line, the columns of most lines (texts may have commas
 * of their own), and the lines before the first such one. Those are a title if they have at most
 * half as many cells as most lines, or end with a blank line.
 */
function shapeOf(table: readonly (readonly string[])[]) {
  const counts = table.map(lengthOf)
  const [cells = 0] = counts
  const columns = usualCount(counts)
  const lines = counts.indexOf(columns)
  const isApart = counts[lines - 1] === 0 || cells * 2 <= columns
  const isRemark = table[0]?.[0]?.startsWith('#') === true
  // The last line may be a row that does not fit its header.
  const isRow = lines === table.length - 1 && table[lines]?.some((cell) => looksLikeData(cell))
  const isTitle = (isApart && columns > cells) || isRemark
  return { cells, columns, lines, isTitled: lines > 0 && columns > 1 && isTitle && isRow !== true }
}

/** The most frequent count, the greatest of several such. Blank lines do not count. */
function usualCount(counts: readonly number[]): number {
  const filled = counts.filter((count) => count > 0)
  const groups = [...Map.groupBy(filled, (count) => count)]
  groups.sort(([a, some], [b, others]) => others.length - some.length || b - a)
  return groups[0]?.[0] ?? 0
}

/** The cells of each record in a text; none for a blank line. */
function cellsOf(text: string, form: CsvForm): (readonly string[])[] {
  const isWhole = text.length < sampleLength
  return Array.from(recordsOf(text, form, isWhole), ({ cells, start, end }) =>
    end > start ? cells : [],
  )
}

const lengthOf = ({ length }: readonly string[]) => length
