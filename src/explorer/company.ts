// A company: who it is, in which version it is looked at, and its parts as tabs.

import { useEffect } from 'preact/hooks'
import type { Company, CompanyAnswer } from './answers.ts'
import { DifferencesView } from './differences-view.ts'
import { formatCount, labelOf } from './format.ts'
import { html } from './html.ts'
import { ListingView } from './listing.ts'
import { companyPath, versionQuery } from './listing-query.ts'
import { Notice } from './notice.ts'
import { Overview } from './overview.ts'
import { addressOf, differences, type Place } from './place.ts'
import { noteRecent } from './recent.ts'
import { resourceNamed, resources } from './resources.ts'
import { texts } from './texts.ts'
import { TimeBar } from './time.ts'
import { useAnswer } from './use-answer.ts'

export function CompanyPage({
  place,
  company: id,
}: {
  readonly place: Place
  readonly company: string
}) {
  const version = versionQuery(place.query).toString()
  const path = companyPath(id, new URLSearchParams())
  const shown = useAnswer<CompanyAnswer>(companyPath(id, versionQuery(place.query)), path)
  const present = useAnswer<CompanyAnswer>(version === '' ? undefined : path, path)
  const company = shown.value?.body.company
  const now = version === '' ? company : present.value?.body.company
  // While another version loads, both are still those of the version before.
  const areOfVersion = !shown.isLoading && !present.isLoading
  const name = company?.name ?? now?.name ?? texts.nameless(id)
  useEffect(() => {
    if (company !== undefined && version === '') noteRecent(company)
  }, [company, version])
  useEffect(() => {
    const view = resourceNamed(place.view)
    const part = view === undefined ? '' : `${texts.plural(view.title)} · `
    document.title = `${part}${name} · ${texts.product}`
  }, [name, place.view])

  // A key may read listings without being allowed to see companies.
  const isRefused = shown.failure?.kind === 'key'
  const isFailed = shown.failure !== undefined && shown.failure.kind !== 'offline' && !isRefused
  const toNow = html`<a class="button" href=${addressOf(atPresent(place))}>${texts.timeBack}</a>`
  return html`<article class="company" aria-busy=${shown.isLoading}>
    <${CompanyHead} id=${id} company=${company ?? now} name=${name} />
    <${TimeBar} place=${place} shown=${shown.value?.version} />
    ${!isRefused && html`<${Notice} loaded=${shown} actions=${version === '' ? null : toNow} />`}
    ${
      !isFailed &&
      html`<${Tabs} place=${place} company=${company} now=${now} />
        <${View} place=${place} id=${id} name=${name} company=${company} now=${now}
          areOfVersion=${areOfVersion} isRefused=${isRefused} />`
    }
  </article>`
}

function atPresent({ company, view }: Place): Place {
  return { company, view, query: new URLSearchParams() }
}

function CompanyHead({
  id,
  company,
  name,
}: {
  readonly id: string
  readonly company: Company | undefined
  readonly name: string
}) {
  const facts = company === undefined ? [] : factsOf(company)
  return html`<header class="company-head">
    <h1 dir="auto">${name}</h1>
    <dl class="facts">
      ${facts.map(
        ([term, value]) => html`<div key=${term}><dt>${term}</dt><dd dir="auto">${value}
        </dd></div>`,
      )}
      ${facts.length === 0 && html`<div><dt>${texts.number}</dt><dd><bdi>${id}</bdi></dd></div>`}
    </dl>
  </header>`
}

/** What tells the company from others: its number, its state, whether it is in the register. */
function factsOf({
  id,
  jurisdiction,
  identifier,
  sources,
}: Company): (readonly [string, string])[] {
  const number = [jurisdiction, identifier].filter((part) => part !== null).join(' ')
  const newest = sources.toSorted((a, b) => b.version - a.version)
  const said = newest.map(({ attributes }) => attributes['status']).find((value) => value != null)
  const isPresent = sources.length === 0 || sources.some(({ present }) => present)
  return [
    ...(number === '' ? [] : [[texts.number, number] as const]),
    ...(typeof said === 'string' ? [[labelOf('status'), said] as const] : []),
    [texts.state, isPresent ? texts.listed : texts.unlisted] as const,
    [texts.idLabel, String(id)] as const,
  ]
}

interface Parts {
  readonly place: Place
  readonly company: Company | undefined
  /** The same company at present. */
  readonly now: Company | undefined
}

function Tabs({ place, company, now }: Parts) {
  const query = versionQuery(place.query)
  const tab = (view: string | undefined, label: string, count?: unknown) => html`<li key=${view}>
    <a href=${addressOf({ company: place.company, view, query })}
      aria-current=${place.view === view ? 'page' : undefined}>${label}${count}</a></li>`
  return html`<nav class="tabs" aria-label=${texts.companySections}><ul>
    ${tab(undefined, texts.overview)}
    ${resources.map(({ name, title }) => {
      const label = texts.plural(title)
      const listing = company?.listings[name]
      if (listing === undefined) return tab(name, label)
      const isOther = now !== undefined && now.listings[name]?.version !== listing.version
      return tab(
        name,
        label,
        html` <span class="count">${formatCount(listing.total)}</span>${
          isOther &&
          html`<span class="mark-changed" title=${texts.changedSince}><span class="unseen">
            ${texts.changedSince}</span></span>`
        }`,
      )
    })}
  </ul></nav>`
}

interface ViewProps extends Parts {
  readonly id: string
  readonly name: string
  /** Whether `company` and `now` are of the versions that the address asks for. */
  readonly areOfVersion: boolean
  readonly isRefused: boolean
}

function View({ place, id, name, company, now, areOfVersion, isRefused }: ViewProps) {
  if (place.view === differences)
    return html`<${DifferencesView} place=${place} id=${id} company=${company} />`
  if (place.view === undefined) {
    return company === undefined
      ? null
      : html`<${Overview} company=${company} now=${now} place=${place} />`
  }
  const resource = resourceNamed(place.view)
  if (resource === undefined) return html`<p class="empty">${texts.unknownView}</p>`
  if (company === undefined && !isRefused)
    return html`<div class="waiting" aria-hidden="true"></div>`
  const listing = company?.listings[resource.name]
  if (company !== undefined && listing === undefined)
    return html`<p class="empty">${texts.listingForbidden}</p>`
  return html`<${ListingView} key=${resource.name} place=${place} id=${id} name=${name}
    resource=${resource} listing=${listing} now=${now?.listings[resource.name]}
    areOfVersion=${areOfVersion} />`
}
