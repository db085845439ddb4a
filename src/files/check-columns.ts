// Refuses a source with wrong columns, and suggests the right ones.

import { OperatorError } from '../config/operator-error.ts'
import { companyColumns, placeColumns } from '../resources/resource.ts'
import { formatCount } from '../text/format-count.ts'
import { nearest } from '../text/nearest.ts'

/** Which columns a source may have, and which it must have. */
export interface ColumnRules {
  /** The columns that a row may have; undefined if all other columns are attributes. */
  readonly sourceColumns: readonly string[] | undefined
  /** The columns that a source must have, checked before the first row. */
  readonly requiredColumns: readonly string[]
}

/** How many unknown columns a message names. */
const namedMax = 5

/**
 * Refuses a source with wrong columns once, rather than each of its rows.
 *
 * @param isMapped whether the columns are those that a mapping returns.
 */
export function checkColumns(
  what: string,
  columns: readonly string[],
  { sourceColumns: known, requiredColumns }: ColumnRules,
  isMapped: boolean,
): void {
  const places: readonly string[] = isMapped ? placeColumns : []
  const unknown = columns.filter((column) => known && ![...known, ...places].includes(column))
  const headless = columns.some((column) => looksLikeData(column))
    ? '. The first line looks like data, not like column names; name the columns with --columns'
    : ''
  if (known && unknown.length > 0) {
    const described = unknown.slice(0, namedMax).map((column) => {
      const near = nearColumn(column, known)
      return near ? `${column} (did you mean ${near}?)` : column
    })
    const verb = unknown.length === 1 ? 'is not a known column' : 'are not known columns'
    const canRename = !isMapped && headless === ''
    const advice = canRename ? adviseMapping('rename them', columns) : ''
    const rest = unknown.length - described.length
    const list = described.join(', ') + (rest > 0 ? ` and ${formatCount(rest)} more` : '')
    throw new OperatorError(
      `${what}: ${list} ${verb}. Known: ${known.join(', ')}${advice}${headless}`,
    )
  }
  for (const column of requiredColumns) {
    if (!columns.includes(column)) throw missingColumn(what, column, columns, isMapped, headless)
  }
}

/** The known column that an unknown one most likely means: `identifier` is the company's. */
export function nearColumn(column: string, known: Iterable<string>): string | undefined {
  const word = column.toLowerCase()
  const names = [...known]
  if (names.includes(word)) return word
  return companyColumns.find((name) => name.endsWith(`_${word}`)) ?? nearest(column, names)
}

/** Names the column that may be meant, or the existing ones. */
export function missingColumn(
  what: string,
  column: string,
  columns: readonly string[],
  isMapped = false,
  headless = '',
): OperatorError {
  const like = columns.find((name) => name.toLowerCase() === column)
  const named = like === undefined ? '…' : `"${like}"`
  const found =
    like === undefined
      ? `; it has ${columns.slice(0, 20).join(', ')}`
      : `, but ${like}: column names are in lower case`
  const fault = `${what} has no column ${column}${found}`
  // A mapping would take the first row for names of columns, too.
  if (headless !== '') return new OperatorError(`${fault}${headless}`)
  const advice = isMapped
    ? `; write ${named} as ${column}`
    : adviseMapping(`supply it: select ${named} as ${column}, … from source`, columns)
  return new OperatorError(`${fault}${advice}`)
}

function adviseMapping(use: string, { length }: readonly string[]): string {
  const ifFixed = length === 1 ? '; for columns of fixed widths, see docs/mappings.md' : ''
  return `; a mapping (--map) can ${use}${ifFixed}`
}

/** The first two names that are equal apart from their case; undefined if there are none. */
export function likeNames(names: readonly string[]): readonly [string, string] | undefined {
  const seen = new Map<string, string>()
  for (const name of names) {
    const word = name.toLowerCase()
    const other = seen.get(word)
    if (other !== undefined) return [other, name]
    seen.set(word, name)
  }
  return undefined
}

/** The maximum number of columns of a file. */
const columnsMax = 1_000

/** @throws OperatorError if a file has too many columns. */
export function refuseColumns(name: string, columns: number): void {
  if (columns <= columnsMax) return
  const most = `the maximum of ${formatCount(columnsMax)} columns`
  throw new OperatorError(`${name} has more than ${most}; remove those that are not needed`)
}

/** Whether the name of a column is a number or a date, as in a file without a header. */
export function looksLikeData(column: string): boolean {
  return /^\d+([.,]\d+)?$|^\d{4}-\d\d-\d\d/.test(column)
}
