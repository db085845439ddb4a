// Who a company is: its name, its number and its latest status, and whether its sources still list
// it.

import type { Company, CompanySource, Version } from '../answers.ts'
import { formatDate, labelOf } from '../format.ts'
import { html } from '../html.ts'
import { type LatestChange, latestOf } from '../versions/latest-changes.ts'
import { texts } from '../texts.ts'
import { momentOf, versionAt } from '../versions/versions.ts'

/** The attribute with the status of a company. */
const statusName = 'status'

interface HeadProps {
  readonly id: string
  readonly company: Company | undefined
  readonly name: string
  readonly changes: readonly LatestChange[] | undefined
  readonly versions: readonly Version[] | undefined
  readonly isPast: boolean
}

export function CompanyHead({ id, company, name, changes, versions, isPast }: HeadProps) {
  const facts = company === undefined ? [] : factsOf(company, changes)
  return html`<header class="company-head">
    <h1 dir="auto">${name}</h1>
    <dl class="facts">
      ${facts.map(
        ([term, value, since]) =>
          html`<div key=${term}><dt>${term}</dt><dd><bdi>${value}</bdi>${
            since !== undefined &&
            html` <span class="detail">${texts.sinceDay(formatDate(since))}</span>`
          }</dd></div>`,
      )}
      ${
        facts.length === 0 &&
        html`<div><dt>${isId(id) ? texts.idLabel : texts.number}</dt>
        <dd><bdi>${id}</bdi></dd></div>`
      }
    </dl>
    ${company !== undefined && html`<${Unlisted} ...${{ company, versions, isPast }} />`}
  </header>`
}

/** Whether an address names a company by its id, and not as its register does (`GB:09876543`). */
function isId(name: string): boolean {
  return /^\d+$/.test(name)
}

type Fact = readonly [term: string, value: string, since?: string | undefined]

function factsOf(company: Company, changes: HeadProps['changes']): Fact[] {
  const { id, jurisdiction, identifier } = company
  const number = [jurisdiction, identifier].filter((part) => part !== null).join(' ')
  // Its space is reserved until the status is known.
  const status =
    changes === undefined
      ? { value: texts.awaited, since: undefined }
      : latestOf(statusName, company, changes)
  return [
    ...(number === '' ? [] : [[texts.number, number] as const]),
    ...(status === undefined ? [] : [[labelOf(statusName), status.value, status.since] as const]),
    [texts.idLabel, String(id)],
  ]
}

/** Says which sources no longer list the company, and since when. */
function Unlisted({
  company: { sources },
  versions,
  isPast,
}: Pick<HeadProps, 'versions' | 'isPast'> & { readonly company: Company }) {
  const gone = sources.filter(({ present }) => !present)
  if (gone.length === 0) return null
  const isNowhere = gone.length === sources.length
  return html`<div class="row notice unlisted" role="status"><div>
    ${isNowhere && html`<p><strong>${texts.unlistedAll(isPast)}</strong></p>`}
    ${gone.map(
      (source) =>
        html`<p key=${source.source}><bdi>${source.source}</bdi>${' '}
          ${texts.unlistedBy(dayOf(source, versions ?? []), source.version, isPast)}</p>`,
    )}<p>${texts.unlistedGrey}</p></div></div>`
}

/** The day since which a source gives its present values, or else when these were imported. */
function dayOf({ as_of: asOf, version }: CompanySource, versions: readonly Version[]): string {
  if (asOf !== null) return formatDate(asOf)
  const found = versionAt(versions, version)
  return found?.version === version ? momentOf(found) : texts.timeVersion(version)
}
