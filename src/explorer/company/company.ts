// A company: who it is, the version that is shown, and its parts as tabs.

import { useEffect } from 'preact/hooks'
import type { Company, Version } from '../answers.ts'
import { IsWhole } from '../listing/cell.ts'
import { CompanyHead } from './company-head.ts'
import { DifferencesView } from '../versions/differences-view.ts'
import { formatCount } from '../format.ts'
import { html } from '../html.ts'
import { ListingView } from '../listing/listing.ts'
import { type LatestChange, useLatestChanges } from '../versions/latest-changes.ts'
import { isOfPast, versionQuery } from '../listing/listing-query.ts'
import { Loading, Notice } from '../notice.ts'
import { Overview } from './overview.ts'
import { addressOf, differences, type Place, printView } from '../place.ts'
import { PrintView, usePrintKeys } from '../listing/print-view.ts'
import { noteRecent } from '../search/recent.ts'
import { resourceNamed, resources } from '../resources.ts'
import { texts } from '../texts.ts'
import { TimeBar } from '../versions/time.ts'
import { useCompany } from './use-company.ts'
import { lastImports, type Versions, versionAt } from '../versions/versions.ts'

export function CompanyPage({
  place,
  company: id,
  registry: { versions, earliest, loaded: loadedVersions },
}: {
  readonly place: Place
  readonly company: string
  readonly registry: Versions
}) {
  const isPast = isOfPast(place.query)
  const found = useCompany(id, isWhole(place) ? place.query : versionQuery(place.query))
  const { company, now, shown: shownVersion, isRefused, isFailed } = found
  const latest = useLatestChanges(id, company, isPast ? shownVersion : undefined)
  const { changes } = latest
  // All parts appear at once, so that nothing on the page moves.
  const isCompanyKnown = company !== undefined || isFailed || isRefused
  const areVersionsKnown = (versions ?? loadedVersions.failure ?? loadedVersions.wait) !== undefined
  const isReady = isCompanyKnown && areVersionsKnown
  const name = company?.name ?? now?.name ?? (isReady ? texts.nameless(id) : undefined)
  useEffect(() => {
    if (company !== undefined && !isPast) noteRecent(company)
  }, [company, isPast])
  useEffect(() => {
    const parts = [titleOf(place.view), name, texts.product]
    document.title = parts.filter((part) => part !== undefined).join(' · ')
  }, [name, place.view])

  usePrintKeys(isFailed || isRefused ? undefined : place)
  const isSilent = isRefused && isListing(place)
  const isTold = !isSilent && (found.loaded.failure ?? found.loaded.wait) !== undefined
  const others = latest.loaded.wait === undefined ? loadedVersions : latest.loaded
  const notice = html`<${Notice} loaded=${isTold ? found.loaded : others} />`
  if (!isReady)
    return html`<article class="company" aria-busy="true">
      <h1>${texts.awaited}</h1>${notice}<${Loading} /></article>`
  return html`<article class="company" aria-busy=${found.loaded.isLoading}>
    <${CompanyHead} id=${id} company=${company ?? now} name=${name}
      changes=${isFailed ? [] : changes} versions=${versions} isPast=${isPast} />
    <${TimeBar} place=${place} id=${id} versions=${versions} earliest=${earliest}
      company=${company} now=${now} shown=${shownVersion} isHidden=${isFailed || isRefused} />
    ${notice}
    ${
      !isFailed &&
      html`<${Tabs} place=${place} company=${company} now=${now} />
        <${View} place=${place} id=${id} name=${name} company=${company} now=${now}
          versions=${versions} earliest=${earliest} shown=${shownVersion} changes=${changes}
          areOfVersion=${found.areOfVersion} />`
    }
  </article>`
}

/** What a view adds to the title of the page; nothing for the company as a whole, on paper, too. */
function titleOf(view: string | undefined): string | undefined {
  if (view === differences) return texts.between
  const resource = resourceNamed(view)
  return resource && texts.plural(resource.title)
}

/** Whether a place shows the company as a whole; its address names only a version, if anything. */
function isWhole({ view }: Place): boolean {
  return view === undefined || view === printView
}

/** Whether a place has a request of its own, which reports refusals. */
function isListing({ view }: Place): boolean {
  return view === differences || resourceNamed(view) !== undefined
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
  readonly versions: readonly Version[] | undefined
  /** The first version that is kept. */
  readonly earliest: number
  /** The version that is shown. */
  readonly shown: number | undefined
  readonly changes: readonly LatestChange[] | undefined
  /** Whether `company` and `now` are of the versions that the address asks for. */
  readonly areOfVersion: boolean
}

function View(props: ViewProps) {
  const { place, id, name, company, now, versions = [], shown = Infinity, changes = [] } = props
  if (place.view === differences)
    return html`<${DifferencesView} place=${place} id=${id} versions=${props.versions}
      earliest=${props.earliest} />`
  if (isWhole(place)) {
    if (company === undefined) return null
    // Texts are cut or whole from the start, so each of the two views renders its own.
    const isPrint = place.view === printView
    const overview = html`<${Overview} company=${company} now=${now} place=${place}
      versions=${props.versions} shown=${shown} changes=${changes} />`
    return html`<${IsWhole.Provider} key=${place.view} value=${isPrint}>${
      isPrint
        ? html`<${PrintView} place=${place} id=${id} name=${name} company=${company}
          versions=${versions} shown=${shown}>${overview}<//>`
        : overview
    }<//>`
  }
  const resource = resourceNamed(place.view)
  if (resource === undefined) return html`<p class="empty">${texts.unknownView}</p>`
  const listing = company?.listings[resource.name]
  if (company !== undefined && listing === undefined)
    return html`<p class="empty">${texts.listingForbidden}</p>`
  return html`<${ListingView} key=${resource.name} place=${place} id=${id} name=${name}
    resource=${resource} listing=${listing} now=${now?.listings[resource.name]}
    areOfVersion=${props.areOfVersion} imports=${lastImports(versions, resource.name, shown)}
    until=${untilOf(place.query, versions, shown)} />`
}

/** Until when records are known, in milliseconds since 1970: today, or the day of a version. */
function untilOf(
  query: URLSearchParams,
  versions: readonly Version[],
  shown: number,
): number | undefined {
  if (!isOfPast(query)) return Date.now()
  const version = versionAt(versions, shown)
  return version && Date.parse(version.as_of ?? version.committed_at)
}
