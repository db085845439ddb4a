// What changed between two versions of the registry, in every listing of a company.

import type { Company, CompanyAnswer, Version } from './answers.ts'
import { ask } from './api.ts'
import { type ChangedRow, type Differences, differencesOf } from './differences.ts'
import { LongText } from './cell.ts'
import { formatCount, plainText } from './format.ts'
import { html } from './html.ts'
import { loadAll, loadedMax } from './load-all.ts'
import { Notice } from './notice.ts'
import { addressOf, goTo, type Place, withQuery } from './place.ts'
import { fieldNamed, type ResourceDescription, resourceNamed, type Row } from './resources.ts'
import { texts } from './texts.ts'
import { importOf, momentOf, useVersions } from './time.ts'
import { useWork, type Work } from './use-answer.ts'

const shownMax = 50

interface ViewProps {
  readonly place: Place
  readonly id: string
  readonly company: Company | undefined
}

/** The differences of a listing; undefined if it is too long to compare. */
interface ListingDifferences {
  readonly resource: ResourceDescription
  readonly differences: Differences | undefined
}

export function DifferencesView({ place, id }: ViewProps) {
  const versions = useVersions()
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
    <select value=${value} onChange=${choose(name)}>${(versions ?? [])
      .toReversed()
      .map(
        (one: Version) =>
          html`<option key=${one.version} value=${String(one.version)} selected=${String(one.version) === value}>${texts.timeOf(
            one.version,
            momentOf(one),
          )} · ${importOf(one)}</option>`,
      )}</select></label>`
  const changed = loaded.value?.filter(
    ({ differences: found }) => found === undefined || sizeOf(found) > 0,
  )
  return html`<section class=${loaded.isLoading ? 'differences stale' : 'differences'} aria-labelledby="between" aria-busy=${loaded.isLoading}>
    <h2 id="between">${texts.between}</h2>
    <div class="pair">${select(texts.betweenFrom, 'from', from)}${select(texts.betweenTo, 'to', to)}</div>
    <${Notice} loaded=${loaded} />
    <p role="status" class=${changed?.length === 0 ? 'empty' : 'unseen'}>${changed?.length === 0 ? texts.betweenNothing : ''}</p>
    ${changed?.map((one) => html`<${ListingPart} key=${one.resource.name} ...${one} place=${place} />`)}
  </section>`
}

function sizeOf({ added, removed, changed }: Differences): number {
  return added.length + removed.length + changed.length
}

/** Compares the listings that have changed; the company's answers say which. */
function compare(id: string, from: string, to: string): Work<readonly ListingDifferences[]> {
  return async (signal, onWait) => {
    const at = (version: string) => new URLSearchParams({ version })
    const options = { signal, onWait }
    const path = `companies/${encodeURIComponent(id)}`
    const [earlier, later] = await Promise.all(
      [from, to].map((version) => ask<CompanyAnswer>(`${path}?${at(version)}`, options)),
    )
    const compared: ListingDifferences[] = []
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
}: ListingDifferences & { readonly place: Place }) {
  const what = texts.plural(resource.title)
  const link = addressOf({
    company: place.company,
    view: resource.name,
    query: new URLSearchParams(),
  })
  const head = html`<h3><a href=${link}>${what}</a></h3>`
  if (differences === undefined) {
    return html`<section class="difference">${head}<p class="empty">${texts.betweenTooMany(what.toLowerCase())}</p></section>`
  }
  const { added, removed, changed } = differences
  return html`<section class="difference">${head}
    <${Group} title=${texts.betweenChanged} count=${changed.length}>${changed
      .slice(0, shownMax)
      .map(
        (
          one,
        ) => html`<li key=${one.after['id']} class="changed"><${Name} resource=${resource} row=${one.after} />
        <${Fields} resource=${resource} change=${one} /></li>`,
      )}<//>
    <${Group} title=${texts.betweenAdded} count=${added.length}>${added
      .slice(0, shownMax)
      .map(
        (row) =>
          html`<li key=${row['id']} class="added"><${Name} resource=${resource} row=${row} /></li>`,
      )}<//>
    <${Group} title=${texts.betweenRemoved} count=${removed.length}>${removed
      .slice(0, shownMax)
      .map(
        (row) =>
          html`<li key=${row['id']} class="gone"><${Name} resource=${resource} row=${row} /></li>`,
      )}<//>
  </section>`
}

function Group({
  title,
  count,
  children,
}: {
  readonly title: string
  readonly count: number
  readonly children?: unknown
}) {
  if (count === 0) return null
  return html`<h4>${title} <span class="count">${formatCount(count)}</span></h4><ul class="difference-list">${children}${
    count > shownMax && html`<li class="hint">${texts.betweenMany(count - shownMax)}</li>`
  }</ul>`
}

/** What names a record, and what else tells it from others. */
function Name({ resource, row }: { readonly resource: ResourceDescription; readonly row: Row }) {
  const title = resource.fields.find(({ isTitle }) => isTitle)
  const others = resource.fields.filter(
    ({ filter, name }) => filter === 'value' && name !== title?.name,
  )
  const more = others.map((field) => row[field.name]).filter((value) => value !== null)
  const name = title === undefined ? row['id'] : row[title.name]
  return html`<strong dir="auto">${plainText(name, title)}</strong> <span class="detail"><bdi>${more
    .slice(0, 3)
    .map((value) => plainText(value))
    .join(' · ')}</bdi></span>`
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
    return html`<div key=${name}><dt>${field?.label ?? name}</dt><dd><del><${LongText} text=${plainText(before[name], field)} /></del>
      <span class="arrow" aria-label=${texts.becomes}>→</span> <ins><${LongText} text=${plainText(after[name], field)} /></ins></dd></div>`
  })}</dl>`
}
