// A company as a whole: what each source says, side by side, and how much is on record.

import type { Company, CompanySource, ListingSummary, ValueCount, Version } from '../answers.ts'
import { LongText, Unknown } from '../listing/cell.ts'
import { formatCount, formatDate, formatTimestamp, labelOf, plainText, wordsOf } from '../format.ts'
import { html, type Shown } from '../html.ts'
import { type LatestChange, sinceOf } from '../versions/latest-changes.ts'
import { companyPath, isOfPast, versionQuery } from '../listing/listing-query.ts'
import { addressOf, type Place, withQuery } from '../place.ts'
import { fieldLabel, memberOf, type ResourceDescription, resources } from '../resources.ts'
import { Scroller } from '../listing/scroller.ts'
import { Take } from '../listing/take.ts'
import { texts } from '../texts.ts'
import { companiesResource, Freshness, lastImports, momentOf } from '../versions/versions.ts'

interface OverviewProps {
  readonly company: Company
  readonly now: Company | undefined
  readonly place: Place
  /** Undefined until they are known. */
  readonly versions: readonly Version[] | undefined
  /** The version that is shown. */
  readonly shown: number
  readonly changes: readonly LatestChange[]
}

export function Overview({ company, now, place, versions, shown, changes }: OverviewProps) {
  const isPast = isOfPast(place.query)
  const path = companyPath(String(company.id), versionQuery(place.query))
  return html`<div class="overview">
    <section>
      <div class="toolbar"><h2 id="sources">
        ${isPast ? texts.sourcesTitlePast : texts.sourcesTitle}</h2><${Take} path=${path}
        version=${Number.isFinite(shown) ? shown : undefined} /></div>
      ${
        company.sources.length === 0
          ? html`<p class="empty">${texts.sourcesNone}</p>`
          : html`<${Sources} sources=${company.sources} now=${now?.sources ?? company.sources}
            imports=${versions && lastImports(versions, companiesResource, shown)}
            changes=${changes}
            isPast=${isPast} />`
      }
    </section>
    <section>
      <h2>${isPast ? texts.listingsTitlePast : texts.listingsTitle}</h2>
      <ul class="cards">${resources.map(
        (resource) => html`<li key=${resource.name} class="card">
          <${ListingCard} resource=${resource} place=${place}
            listing=${company.listings[resource.name]}
            imports=${lastImports(versions ?? [], resource.name, shown)} />
        </li>`,
      )}</ul>
    </section>
  </div>`
}

interface SourcesProps {
  readonly sources: readonly CompanySource[]
  readonly now: readonly CompanySource[]
  /** The last import of each source; undefined until they are known. */
  readonly imports: readonly Version[] | undefined
  readonly changes: readonly LatestChange[]
  readonly isPast: boolean
}

/** Attributes are rows, sources are columns, so that differing values are side by side. */
function Sources({ sources, now, imports, changes, isPast }: SourcesProps) {
  const names = [...new Set(sources.flatMap(({ attributes }) => Object.keys(attributes)))].sort()
  const ofImport =
    (cellOf: (version: Version) => Shown) =>
    ({ source: name }: CompanySource) => {
      if (imports === undefined) return texts.awaited
      const found = imports.find(({ source }) => source === name)
      return found === undefined ? html`<${Unknown} />` : cellOf(found)
    }
  const row = (label: Shown, cellOf: (source: CompanySource) => unknown, key = label) => html`<tr
    key=${key}><th scope="row">${label}</th>${sources.map(
      (source) => html`<td key=${source.source} class=${source.present ? '' : 'former'}>
      ${cellOf(source)}</td>`,
    )}</tr>`
  return html`<${Scroller} labelledBy="sources"><table class="sources">
    <thead><tr><th scope="col">${texts.attribute}</th>${sources.map(
      ({ source }) => html`<th scope="col" key=${source}><bdi>${source}</bdi></th>`,
    )}</tr></thead>
    <tbody>
      ${names.map((name) => {
        const badge = html` <span class="badge">${texts.differs}</span>`
        const label = html`${labelOf(name)}${areAtOdds(sources, name) && badge}`
        const cellOf = (source: CompanySource) => html`<${Attribute} name=${name} source=${source}
          now=${now} changes=${changes} />`
        return row(label, cellOf, name)
      })}
      ${row(isPast ? texts.presencePast : texts.presence, ({ present }) =>
        present ? texts.yes : texts.noLonger,
      )}
      ${row(texts.lastChange, ({ as_of: asOf, version }) => {
        const inVersion = texts.inVersion(version)
        return asOf === null ? inVersion : `${formatTimestamp(asOf)}, ${inVersion}`
      })}
      ${row(
        texts.extract,
        ofImport(({ as_of: day }) => (day === null ? html`<${Unknown} />` : formatTimestamp(day))),
      )}
      ${row(texts.imported, ofImport(momentOf))}
    </tbody></table><//>`
}

/** Whether sources give different values; one that no longer lists the company gives none. */
function areAtOdds(sources: readonly CompanySource[], name: string): boolean {
  const values = sources
    .filter(({ present }) => present)
    .map(({ attributes }) => memberOf(attributes, name) ?? null)
    .filter((value) => value !== null)
  return new Set(values.map((value) => JSON.stringify(value))).size > 1
}

function Attribute({
  name,
  source: { source, attributes },
  now,
  changes,
}: Pick<SourcesProps, 'now' | 'changes'> & {
  readonly name: string
  readonly source: CompanySource
}) {
  const value = memberOf(attributes, name)
  const since = sinceOf(changes, name, value)
  const later = memberOf(now.find((one) => one.source === source)?.attributes, name)
  const shown =
    value === null || value === undefined
      ? html`<${Unknown} />`
      : html`<${LongText} text=${plainText(value)} />${
          since !== undefined &&
          html` <span class="detail">${texts.sinceDay(formatDate(since))}</span>`
        }`
  if (JSON.stringify(later) === JSON.stringify(value)) return shown
  return html`${shown}<span class="was-now"><span class="badge">${texts.now}</span>${' '}
    <${LongText} text=${plainText(later)} /></span>`
}

const shownMax = 5

interface CardProps {
  readonly resource: ResourceDescription
  readonly listing: ListingSummary | undefined
  readonly place: Place
  /** The last import of each source. */
  readonly imports: readonly Version[]
}

function ListingCard({ resource, listing, place, imports }: CardProps) {
  const query = versionQuery(place.query)
  const to = { company: place.company, view: resource.name, query }
  const label = texts.plural(resource.title)
  const total =
    listing === undefined
      ? texts.listingForbidden
      : listing.total === 0
        ? texts.listingEmpty
        : texts.records(listing.total)
  const filtered = (name: string, value: ValueCount['value']) =>
    withQuery(query, { [name]: [String(value ?? '')] })
  const [field, counts = []] = pickCounts(resource, listing) ?? []
  const most = Math.max(1, ...counts.map(({ count }) => count))
  return html`
    <h3><a href=${addressOf(to)}>${label}</a></h3>
    <p class=${listing?.total ? 'total' : 'none'}>${total}</p>
    ${
      field !== undefined &&
      html`<p class="hint by">${fieldLabel(resource, field)}</p><ul class="bars">${counts
        .slice(0, shownMax)
        .map(
          ({ value, count }) => html`<li key=${String(value)}>
          <a href=${addressOf({ ...to, query: filtered(field, value) })}>
            <span class="bar-label"><bdi>${value === null ? texts.notKnown : wordsOf(String(value))}
              </bdi></span>
            <span class="bar-count">${formatCount(count)}</span>
            <svg class="meter" height="4" aria-hidden="true"><rect
              width=${`${(100 * count) / most}%`} height="4" rx="2" /></svg>
          </a></li>`,
        )}</ul>`
    }
    ${listing !== undefined && html`<${Freshness} imports=${imports} />`}`
}

/** The most telling field: the field of the picture, or else one whose values group records. */
function pickCounts(resource: ResourceDescription, listing: ListingSummary | undefined) {
  const entries = Object.entries(listing?.counts ?? {}).filter(([, counts]) => counts.length > 0)
  const { picture, metaOf } = resource
  const drawn = picture !== undefined && 'by' in picture ? picture.by : metaOf
  const isGroup = ({ value, count }: ValueCount) => value !== null && count > 1
  const grouping = entries.filter(([, counts]) => counts.some(isGroup))
  return (
    entries.find(([field]) => field === drawn) ??
    grouping.find(([, counts]) => counts.length > 1) ??
    grouping[0]
  )
}
