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
  const tables = candidates.map((form) => cellsOf(sample, form))
  if (header > 1 && tables.some((lines) => isHeader(lines, header))) return
  const titles = tables.map(findTitle)
  const title = titles.reduce((a, b) => (b.columns > a.columns ? b : a), noTitle)
  if (title === noTitle) return
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

/** Whether most lines have as many cells as the first: texts may have commas of their own. */
function isHeader(lines: readonly (readonly string[])[], first: number): boolean {
  return lines[0]?.length === first && usualCount(lines.map(lengthOf)) === first
}

/** The lines before a header, the cells of the first, and the columns of the header. */
interface Title {
  readonly lines: number
  readonly cells: number
  readonly columns: number
}

const noTitle: Title = { lines: 0, cells: 0, columns: 0 }

/**
 * Finds lines before the header: they have at most half as many cells as most lines, or end with a
 * blank line.
 */
function findTitle(lines: readonly (readonly string[])[]): Title {
  const counts = lines.map(lengthOf)
  const [cells = 0] = counts
  const columns = usualCount(counts)
  const at = counts.indexOf(columns)
  if (at < 1 || columns < 2) return noTitle
  const isApart = counts[at - 1] === 0 || cells * 2 <= columns
  const isTitle = isApart && columns > cells
  if (!isTitle && lines[0]?.[0]?.startsWith('#') !== true) return noTitle
  // The last line may be a row that does not fit its header.
  const isRow = at === lines.length - 1 && lines[at]?.some((cell) => looksLikeData(cell)) === true
  return isRow ? noTitle : { lines: at, cells, columns }
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
