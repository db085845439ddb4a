// What changed between two versions of the registry, in every listing of a company.

import { useState } from 'preact/hooks'
import type { ChangeFields } from '../resources/traits.ts'
import type { Company, CompanyAnswer, Version } from './answers.ts'
import { ask } from './api.ts'
import { type ChangedRow, type Differences, differencesOf } from './differences.ts'
import { LongText } from './cell.ts'
import { formatCount, formatTimestamp, labelOf, plainText } from './format.ts'
import { html, type Shown } from './html.ts'
import { companyPath } from './listing-query.ts'
import { loadAll, loadedMax } from './load-all.ts'
import { Notice } from './notice.ts'
import { addressOf, goTo, type Place, withQuery } from './place.ts'
import { fieldNamed, type ResourceDescription, resourceNamed, type Row } from './resources.ts'
import { Take } from './take.ts'
import { texts } from './texts.ts'
import { describeVersion } from './versions.ts'
import { useWork, type Work } from './use-answer.ts'

/** How many records of a group are shown, at first and at most. */
const shownFirst = 8
const shownMax = 500

interface ViewProps {
  readonly place: Place
  readonly id: string
  readonly versions: readonly Version[] | undefined
}

/** The differences of a listing; undefined if it is too long to compare. */
interface ListingDifferences {
  readonly resource: ResourceDescription
  readonly differences: Differences | undefined
}

export function DifferencesView({ place, id, versions }: ViewProps) {
  const last = versions?.at(-1)?.version
  const from = place.query.get('from') ?? String(Math.max(1, (last ?? 2) - 1))
  const to = place.query.get('to') ?? String(last ?? '')
  const loaded = useWork(
    last === undefined ? undefined : `${id} ${from} ${to}`,
    id,
    compare(id, from, to),
  )
  const choose = (name: string) => (event: Event) => {
    const { value } = event.target as HTMLSelectElement
    goTo({ ...place, query: withQuery(place.query, { from, to, [name]: value }) })
  }
  const select = (
    label: string,
    name: string,
    value: string,
  ) => html`<label class="stacked">${label}
    <select value=${value} onChange=${choose(name)}>${(versions ?? []).toReversed().map(
      (one: Version) =>
        html`<option key=${one.version} value=${String(one.version)}
            selected=${String(one.version) === value}>${describeVersion(one)}</option>`,
    )}</select></label>`
  const changed = loaded.value?.filter(
    ({ differences: found }) => found === undefined || sizeOf(found) > 0,
  )
  return html`<section class=${loaded.isLoading ? 'differences stale' : 'differences'}
    aria-labelledby="between" aria-busy=${loaded.isLoading}>
    <div class="toolbar"><h2 id="between">${texts.between}</h2>
      <${Take} path=${companyPath(id, new URLSearchParams({ version: to }))}
        version=${undefined} /></div>
    <div class="pair">${select(texts.betweenFrom, 'from', from)}${select(texts.betweenTo, 'to', to)}
      </div>
    <${Notice} loaded=${loaded} />
    <p role="status" class=${changed?.length === 0 ? 'empty' : 'unseen'}>
      ${changed?.length === 0 ? texts.betweenNothing : ''}</p>
    ${changed?.map(
      (one) => html`<${ListingPart} key=${one.resource.name} ...${one} place=${place}
        version=${to === String(last) ? undefined : to}
      />`,
    )}
  </section>`
}

function sizeOf({ added, removed, changed }: Differences): number {
  return added.length + removed.length + changed.length
}

/** What sources say, compared like a listing: a record for each. */
const sourcesResource: ResourceDescription = {
  ...{ name: '', title: '', description: '', fields: [] },
  order: { by: 'id', direction: 'ascending' },
}

function sourceRows(company: Company | undefined): Row[] {
  return (company?.sources ?? []).map(({ source, present, attributes }) => ({
    ...{ ...attributes, [texts.presence]: present ? texts.yes : texts.noLonger },
    id: source,
  }))
}

/** Compares the listings that have changed; the company's answers say which. */
function compare(id: string, from: string, to: string): Work<readonly ListingDifferences[]> {
  return async (signal, onWait) => {
    const at = (version: string) => new URLSearchParams({ version })
    const options = { signal, onWait }
    const [earlier, later] = await Promise.all(
      [from, to].map((version) => ask<CompanyAnswer>(companyPath(id, at(version)), options)),
    )
    const [said, says] = [earlier, later].map((answer) => sourceRows(answer?.body.company))
    const ofSources = differencesOf(said ?? [], says ?? [])
    const compared: ListingDifferences[] = [{ resource: sourcesResource, differences: ofSources }]
    for (const [name, listing] of Object.entries(later?.body.company.listings ?? {})) {
      const resource = resourceNamed(name)
      const before = earlier?.body.company.listings[name]
      if (resource === undefined || before?.version === listing.version) continue
      if (Math.max(before?.total ?? 0, listing.total) > loadedMax) {
        compared.push({ resource, differences: undefined })
        continue
      }
      const [then, now] = await Promise.all(
        [from, to].map((version) => loadAll(id, resource, at(version), options)),
      )
      compared.push({ resource, differences: differencesOf(then?.rows ?? [], now?.rows ?? []) })
    }
    return compared
  }
}

function ListingPart({
  resource,
  differences,
  place,
  version,
}: ListingDifferences & { readonly place: Place; readonly version: string | undefined }) {
  const isOfSources = resource === sourcesResource
  const what = isOfSources ? texts.sourcesTitle : texts.plural(resource.title)
  const view = isOfSources ? undefined : resource.name
  const query = withQuery(new URLSearchParams(), { version })
  const link = addressOf({ company: place.company, view, query })
  const head = html`<h3><a href=${link}>${what}</a></h3>`
  if (differences === undefined) {
    return html`<section class="difference">${head}<p class="empty">
      ${texts.betweenTooMany(what.toLowerCase())}</p></section>`
  }
  const { added, removed, changed } = differences
  return html`<section class="difference">${head}
    <${Group} title=${texts.betweenChanged} items=${changed} itemOf=${(one: ChangedRow) =>
      html`<li key=${one.after['id']} class="changed"><${Name} resource=${resource} row=${one.after}
        />
        <${Fields} resource=${resource} change=${one} /></li>`} />
    <${Group} title=${texts.betweenAdded} items=${added} itemOf=${(row: Row) =>
      html`<li key=${row['id']} class="added"><${Name} resource=${resource} row=${row} /></li>`} />
    <${Group} title=${texts.betweenRemoved} items=${removed} itemOf=${(row: Row) =>
      html`<li key=${row['id']} class="gone"><${Name} resource=${resource} row=${row} /></li>`} />
  </section>`
}

interface GroupProps {
  readonly title: string
  readonly items: readonly unknown[]
  readonly itemOf: (item: unknown) => Shown
}

function Group({ title, items, itemOf }: GroupProps) {
  const [isOpen, setOpen] = useState(false)
  const { length } = items
  if (length === 0) return null
  const shown = items.slice(0, isOpen ? shownMax : shownFirst)
  const all = html`<button type="button" class="plain" onClick=${() => setOpen(true)}>
    ${texts.betweenAll(length)}</button>`
  return html`<h4>${title} <span class="count">${formatCount(length)}</span></h4>
    <ul class="difference-list">${shown.map(itemOf)}</ul>
    ${!isOpen && length > shownFirst && all}
    ${
      isOpen &&
      length > shownMax &&
      html`<p class="hint">${texts.betweenMany(length - shownMax)}
      </p>`
    }`
}

interface NameProps {
  readonly resource: ResourceDescription
  readonly row: Row
}

/** What names a record, and what else tells it from others. */
function Name({ resource, row }: NameProps) {
  const { fields, changeFields } = resource
  if (changeFields !== undefined) return changeName(changeFields, row)
  const title = fields.find(({ isTitle }) => isTitle)
  const others = fields.filter(({ filter, name }) => filter === 'value' && name !== title?.name)
  const more = others.map((field) => row[field.name]).filter((value) => value !== null)
  const name = title === undefined ? row['id'] : row[title.name]
  const details = more.slice(0, 3).map((value) => plainText(value))
  return html`<strong dir="auto">${plainText(name, title)}</strong>${' '}
    <span class="detail"><bdi>${details.join(' · ')}</bdi></span>`
}

function changeName(names: ChangeFields, row: Row) {
  const [former, later] = [plainText(row[names.before]), plainText(row[names.after])]
  return html`<strong>${labelOf(String(row[names.attr]))}</strong>,${' '}
    ${formatTimestamp(String(row[names.date]))}: <span class="from-to"><del><${LongText}
      text=${former} /></del>
    <span class="arrow" role="img" aria-label=${texts.becomes}>→</span>
    <ins><${LongText} text=${later} /></ins></span>`
}

function Fields({
  resource,
  change,
}: {
  readonly resource: ResourceDescription
  readonly change: ChangedRow
}) {
  const { fields, before, after } = change
  return html`<dl class="from-to">${fields.map((name) => {
    const field = fieldNamed(resource, name)
    return html`<div key=${name}><dt>${field?.label ?? labelOf(name)}</dt><dd><del><${LongText}
      text=${plainText(before[name], field)} /></del>
      <span class="arrow" role="img" aria-label=${texts.becomes}>→</span> <ins><${LongText}
        text=${plainText(after[name], field)} /></ins></dd></div>`
  })}</dl>`
}
