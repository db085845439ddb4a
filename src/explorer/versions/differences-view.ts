// What changed between two versions of the registry, in every listing of a company.

import { useState } from 'preact/hooks'
import type { ChangeFields } from '../../resources/traits.ts'
import type { Version } from '../answers.ts'
import { compareVersions, type ListingDifferences, sourcesResource } from './compare-versions.ts'
import type { ChangedRow, Differences } from './differences.ts'
import { Became, LongText } from '../listing/cell.ts'
import { cutText, formatCount, formatTimestamp, labelOf, plainText } from '../format.ts'
import { html, type Shown } from '../html.ts'
import { companyPath } from '../listing/listing-query.ts'
import { Loading, Notice } from '../notice.ts'
import { addressOf, goTo, type Place, withQuery } from '../place.ts'
import { fieldNamed, memberOf, type ResourceDescription, type Row } from '../resources.ts'
import { Take } from '../listing/take.ts'
import { inSentence, texts } from '../texts.ts'
import { describeVersion } from './versions.ts'
import { useWork } from '../use-answer.ts'

/** How many records of a group are shown, at first and at most. */
const shownFirst = 8
const shownMax = 500
/** What else distinguishes a record is cut. */
const detailMax = 160

interface ViewProps {
  readonly place: Place
  readonly id: string
  readonly versions: readonly Version[] | undefined
  /** The first version that is kept. */
  readonly earliest: number
}

export function DifferencesView({ place, id, versions, earliest }: ViewProps) {
  const last = versions?.at(-1)?.version
  const given = {
    from: place.query.get('from') ?? String(Math.max(earliest, (last ?? 2) - 1)),
    to: place.query.get('to') ?? String(last ?? ''),
  }
  const { from, to } = inOrder(given)
  const loaded = useWork(
    last === undefined ? undefined : `${id} ${from} ${to}`,
    id,
    compareVersions(id, from, to),
  )
  const choose = (name: string) => (event: Event) => {
    const { value } = event.target as HTMLSelectElement
    goTo({ ...place, query: withQuery(place.query, inOrder({ from, to, [name]: value })) })
  }
  const select = (label: string, name: string, value: string) => {
    const kept = (versions ?? []).filter(({ version }) => version >= earliest)
    const options = kept.toReversed().map((one) => {
      return { value: String(one.version), text: describeVersion(one) }
    })
    // Versions before the newest ones are not listed.
    if (!options.some((one) => one.value === value)) {
      options.push({ value, text: texts.timeVersion(value) })
    }
    return html`<label class="stacked">${label}
    <select value=${value} onChange=${choose(name)}>${options.map(
      (one) => html`<option key=${one.value} value=${one.value} selected=${one.value === value}>
        ${one.text}</option>`,
    )}</select></label>`
  }
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
    ${loaded.isLoading && changed === undefined && html`<${Loading} />`}
    <p role="status" class=${changed?.length === 0 ? 'empty' : 'unseen'}>
      ${changed?.length === 0 ? texts.betweenNothing : ''}</p>
    ${changed?.map(
      (one) => html`<${ListingPart} key=${one.resource.name} ...${one} place=${place}
        version=${to === String(last) ? undefined : to}
      />`,
    )}
  </section>`
}

/** Puts the earlier of two versions first. */
function inOrder({ from, to }: Readonly<Record<'from' | 'to', string>>) {
  return Number(from) > Number(to) ? { from: to, to: from } : { from, to }
}

function sizeOf({ added, removed, changed }: Differences): number {
  return added.length + removed.length + changed.length
}

function ListingPart({
  resource,
  differences,
  isForbidden = false,
  isUnsure,
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
    const why = isForbidden ? texts.listingForbidden : texts.betweenTooMany(inSentence(what))
    return html`<section class="difference">${head}<p class="empty">${why}</p></section>`
  }
  const { added, removed, changed } = differences
  const lineOf = (row: Row, state: string, more?: Shown) => html`<li key=${row['id']}
    class=${state}><${Name} resource=${resource} row=${row} />${more}</li>`
  const change = (one: ChangedRow) =>
    lineOf(one.after, 'changed', html`<${Fields} resource=${resource} change=${one} />`)
  return html`<section class="difference" tabindex="-1">${head}
    <${Group} title=${texts.betweenChanged} items=${changed} itemOf=${change} />
    <${Group} title=${isUnsure ? texts.betweenEither : texts.betweenAdded} items=${added}
      itemOf=${(row: Row) => lineOf(row, 'added')} />
    <${Group} title=${texts.betweenRemoved} items=${removed}
      itemOf=${(row: Row) => lineOf(row, 'gone')} />
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

/** What names a record, and what else distinguishes it. */
function Name({ resource, row }: NameProps) {
  const { fields, changeFields } = resource
  // Nothing else may be known of a record that is gone.
  if (Object.keys(row).length === 1) return html`<strong>${texts.record(row['id'])}</strong>`
  if (changeFields !== undefined) return changeName(changeFields, row)
  const title = fields.find(({ isTitle }) => isTitle)
  const others = fields.filter(({ filter, name }) => filter === 'value' && name !== title?.name)
  const more = others.filter((field) => row[field.name] !== null)
  const name = title === undefined ? row['id'] : row[title.name]
  const details = more.slice(0, 3).map((field) => plainText(row[field.name], field))
  const detail = cutText(details.join(' · '), detailMax)
  return html`<strong><${LongText} text=${plainText(name, title)} /></strong>${' '}
    <span class="detail"><bdi>${detail}</bdi></span>`
}

function changeName(names: ChangeFields, row: Row) {
  return html`<strong dir="auto">${labelOf(String(row[names.attr]))}</strong>,${' '}
    ${formatTimestamp(String(row[names.date]))}: <span class="from-to"><${Became}
      former=${plainText(row[names.before])} later=${plainText(row[names.after])} /></span>`
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
    const textIn = (row: Row) => plainText(memberOf(row, name), field)
    return html`<div key=${name}><dt>${field?.label ?? labelOf(name)}</dt><dd><${Became}
      former=${textIn(before)} later=${textIn(after)} /></dd></div>`
  })}</dl>`
}
