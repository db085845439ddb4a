// What an import changes: attributes with examples, companies added and removed.

import { countOf, formatCount } from '../../text/format-count.ts'
import type { Change } from '../../import/import-files.ts'
import { showValue } from '../../files/refusal.ts'
import {
  type AttributeDifference,
  attributesMax,
  type CompanyList,
  type LoggedDifference,
  type ValueChange,
} from '../../store/importing.ts'
import { tableLines } from '../table.ts'

const attributesShown = 20
const examplesShown = 2
const namesShown = 10

/** The difference in lines; none if there is nothing besides the counts. */
export function differenceLines(difference: LoggedDifference): string[] {
  const { known, attributes, come, go, same, rowsOfFiles, oneOf } = difference
  const rows = rowsOfFiles === undefined ? [] : [`rows in the files: ${formatCount(rowsOfFiles)}`]
  const others = attributes.length - attributesShown
  const least = attributes.length < attributesMax ? '' : 'at least '
  return [
    ...rows,
    ...tableLines(attributes.slice(0, attributesShown).map((one) => attributeCells(one, oneOf))),
    ...(others > 0 ? [`… and ${least}${formatCount(others)} more attributes`] : []),
    // All companies of a first import are new.
    ...(known > 0 ? companyLines('added', come) : []),
    ...companyLines('removed', go),
    ...same.map(({ name, value }) => `${name} is the same in all rows: ${value}`),
  ]
}

/** The difference as `--json` prints it. */
export function differenceJson(difference: LoggedDifference): object {
  const { rowsOfFiles, known, oneOf, same, attributes, come, go } = difference
  return {
    rows_in_files: rowsOfFiles ?? null,
    rows_before: known,
    one_in: oneOf,
    same_in_all_rows: same,
    attributes: attributes.map(({ appeared: added, gone: removed, examples, ...one }) => {
      return { name: one.name, changed: one.changed, added, removed, examples }
    }),
    companies_added: come,
    companies_removed: go,
  }
}

/** The same with the counts of records, for an import that is refused because of them. */
export function changeLines({ counts, difference }: Change): string[] {
  const { read, inserted, updated, unchanged, removed } = counts
  const outcomes = Object.entries({ inserted, updated, unchanged, removed })
  const counted = outcomes.map(([name, count]) => `${formatCount(count)} ${name}`).join(', ')
  return [`${formatCount(read)} read: ${counted}`, ...differenceLines(difference)]
}

function attributeCells(attribute: AttributeDifference, oneOf: number): string[] {
  const { name, changed, appeared, gone, examples } = attribute
  const about = oneOf > 1 ? 'about ' : ''
  const counts = Object.entries({ changed, added: appeared, removed: gone }).filter(
    ([, count]) => count > 0,
  )
  const counted = counts.map(([what, count]) => `${about}${formatCount(count)} ${what}`).join(', ')
  return [name, counted, ...examples.slice(0, examplesShown).map(exampleText)]
}

function exampleText({ company, before, after }: ValueChange): string {
  const shown = (value: string | null) => (value === null ? '–' : showValue(value))
  return `${company ?? ''}: ${shown(before)} → ${shown(after)}`
}

function companyLines(what: string, { count, names }: CompanyList): string[] {
  if (count === 0) return []
  const shown = names.slice(0, namesShown).join(', ')
  const companies = countOf(count, 'company', 'companies')
  return [`${companies} ${what}: ${shown}${count > names.length ? ', …' : ''}`]
}
