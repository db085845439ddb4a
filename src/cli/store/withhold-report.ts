// What `dossier withhold` prints of what was done.

import { countOf, formatCount } from '../../text/format-count.ts'
import type { Entry } from '../../store/withholding/list/entries.ts'
import type { Touched } from '../../store/withholding/touched.ts'
import type { Withheld } from '../../store/withholding/withhold.ts'
import { tableLines } from '../table.ts'

/** How many places are printed; all are in the JSON. */
const shownMax = 20

/**
 * The lines of a report; the last one says what was done.
 *
 * @param done what was done, before the number of the entry.
 */
export function reportLines(done: string, report: Withheld): string[] {
  const { number, version, touched, names, companies, keys } = report
  const places = touched
    .values()
    .take(shownMax)
    .map(({ listing, companyId, id, isGone, isPresent }) => {
      const what = isGone ? 'erased' : 'masked'
      return `  ${listing} ${id} of company ${companyId}: ${what}${isPresent ? '' : ', past only'}`
    })
    .toArray()
  const rest = touched.length - places.length
  const renamed =
    names === 0 ? [] : [`  names of companies, with their words: ${formatCount(names)}`]
  const keyed =
    keys === 0 || touched.length > 0
      ? []
      : [`  natural keys of records that are in no version: ${formatCount(keys)}`]
  const bare =
    companies === 0 || touched.length > 0
      ? []
      : [`  companies without data: ${formatCount(companies)}`]
  const end =
    number === undefined
      ? 'Dry run: nothing was changed.'
      : version === undefined
        ? `${done} ${number}; the store contains nothing that it withholds.`
        : `${done} ${number}, in version ${version}. ` +
          'Run dossier compact to remove the data from the files.'
  return [
    ...tableLines(countRows(touched)),
    ...renamed,
    ...keyed,
    ...bare,
    ...places,
    ...(rest > 0 ? [`  … and ${formatCount(rest)} more`] : []),
    end,
  ]
}

/**
 * A report as `--json` prints it.
 *
 * @param exports the versions of the copies that were withdrawn.
 */
export function reportJson(report: Withheld, exports: readonly number[]): object {
  const { number, version, touched, names, companies, keys } = report
  return {
    number: number ?? null,
    version: version ?? null,
    touched: [...touched.values().map(touchedJson)],
    names,
    companies,
    keys,
    withdrawn_exports: exports,
  }
}

const touchedJson = ({ listing, companyId, id, isGone, isPresent, states }: Touched) => ({
  resource: listing,
  company_id: companyId,
  id,
  erased: isGone,
  present: isPresent,
  states,
})

/** An entry with the members that it has in the list, of which one is not in wire form. */
export function entryJson(entry: Entry): object {
  if (!('subject' in entry) || !('textOf' in entry.subject)) return entry
  return { ...entry, subject: { text_of: entry.subject.textOf } }
}

/** How much was touched, by listing. */
function countRows(touched: Withheld['touched']): string[][] {
  const counts = new Map<string, { present: number; states: number; companies: Set<number> }>()
  for (const { listing, companyId, isPresent, states } of touched.values()) {
    const known = counts.getOrInsert(listing, { present: 0, states: 0, companies: new Set() })
    if (isPresent) known.present += 1
    known.states += states
    known.companies.add(companyId)
  }
  return [...counts].map(([listing, { present, states, companies }]) => [
    `  ${listing}`,
    `${formatCount(present)} now`,
    `${formatCount(states)} in all versions`,
    `of ${countOf(companies.size, 'company', 'companies')}`,
  ])
}
