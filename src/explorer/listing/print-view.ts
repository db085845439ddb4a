// A company for paper: what its sources say and all its listings, on one page, with the version.
// Browsers give a page no time to load anything for printing, so this is a view of its own, which
// the keyboard shortcut for printing opens.

import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { type Company, type ListingAnswer, rowsOf, type Version } from '../answers.ts'
import { formatCount, formatMoment } from '../format.ts'
import { html } from '../html.ts'
import { isOfPast, listingPath, versionQuery } from './listing-query.ts'
import { Notice } from '../notice.ts'
import { addressOf, goTo, type Place, printView, withQuery } from '../place.ts'
import { type ResourceDescription, resources } from '../resources.ts'
import { RecordTable } from './table.ts'
import { inSentence, texts } from '../texts.ts'
import { useAnswer } from '../use-answer.ts'
import { useEvent } from '../use-event.ts'
import { daysOf, Freshness, lastImports, versionAt } from '../versions/versions.ts'

/** How many records of each listing are printed. */
const printedMax = 1_000

/** Whether to print as soon as everything is loaded. */
let isAsked = false

/** Leads to the view of everything, which then prints itself. */
export function printCompany(place: Place): void {
  isAsked = true
  goTo({ company: place.company, view: printView, query: versionQuery(place.query) })
}

/**
 * Makes the keyboard shortcut for printing open the whole company.
 *
 * @param place undefined if the company cannot be shown: browsers print the page as it is.
 */
export function usePrintKeys(place: Place | undefined): void {
  useEffect(() => {
    // Readers who left the view before it was complete no longer want it printed.
    if (place?.view !== printView) isAsked = false
  }, [place])
  const onKeyDown = (event: KeyboardEvent) => {
    const isPrint = event.key.toLowerCase() === 'p' && (event.ctrlKey || event.metaKey)
    if (!isPrint || event.shiftKey || event.altKey) return
    if (place === undefined || place.view === printView) return
    event.preventDefault()
    printCompany(place)
  }
  useEvent('keydown', onKeyDown, [place])
}

interface PrintProps {
  readonly place: Place
  readonly id: string
  readonly name: string
  readonly company: Company
  readonly versions: readonly Version[]
  /** The version that is shown. */
  readonly shown: number
  /** What precedes the listings. */
  readonly children?: ComponentChildren
}

export function PrintView(props: PrintProps) {
  const { place, id, name, company, versions, shown, children } = props
  const readable = resources.filter((resource) => company.listings[resource.name] !== undefined)
  const [loaded, setLoaded] = useState<ReadonlySet<string>>(new Set())
  const isReady = loaded.size === readable.length
  useEffect(() => {
    if (!isReady || !isAsked) return
    isAsked = false
    print()
  }, [isReady])
  const version = versionAt(versions, shown)
  const back = addressOf({ company: place.company, view: undefined, query: place.query })
  return html`<div class="print-view">
    <div class="row print-actions">
      <button type="button" class="primary" disabled=${!isReady} onClick=${() => print()}>
        ${texts.print}</button><a class="button" href=${back}>${texts.printBack}</a>
      <span class="hint" role="status">${isReady ? '' : texts.loading}</span></div>
    <p class="hint printed">${texts.printed(formatMoment(Date.now()), location.href)}
      ${version !== undefined && ` ${texts.timeVersion(shown)}, ${daysOf(version)}.`}</p>
    ${children}
    ${readable.map(
      (resource) => html`<${PrintedListing} key=${resource.name} id=${id} name=${name}
        resource=${resource} query=${place.query} version=${shown}
        imports=${lastImports(versions, resource.name, shown)}
        onLoaded=${() => setLoaded((last) => new Set([...last, resource.name]))} />`,
    )}</div>`
}

interface ListingProps {
  readonly id: string
  readonly name: string
  readonly resource: ResourceDescription
  readonly query: URLSearchParams
  readonly version: number
  readonly imports: readonly Version[]
  readonly onLoaded: () => void
}

function PrintedListing(props: ListingProps) {
  const { id, name, resource, query, version, imports, onLoaded } = props
  const asked = withQuery(new URLSearchParams(), {
    ...(Number.isFinite(version) ? { version: String(version) } : {}),
    limit: String(printedMax),
  })
  const loaded = useAnswer<ListingAnswer>(listingPath(id, resource, asked))
  const isOver = loaded.value !== undefined || loaded.failure !== undefined
  // While the service is away, the page retries: paper would lack what is still to come.
  const isFinal = isOver && loaded.failure?.kind !== 'offline'
  useEffect(() => {
    if (isFinal) onLoaded()
  }, [isFinal])
  const title = texts.plural(resource.title)
  const answer = loaded.value?.body
  const rows = answer === undefined ? [] : rowsOf(resource, answer)
  const total = answer?.total ?? 0
  return html`<section aria-label=${title} aria-busy=${!isOver}>
    <h2>${title} <span class="count">${answer === undefined ? '' : formatCount(total)}</span></h2>
    <${Notice} loaded=${loaded} />
    ${total > rows.length && html`<p>${texts.printFirst(formatCount(rows.length))}</p>`}
    ${
      answer !== undefined &&
      (rows.length === 0
        ? html`<p>${texts.emptyListing(inSentence(title), isOfPast(query))}</p>`
        : html`<${RecordTable} resource=${resource} rows=${rows}
            caption=${texts.tableOf(title, name)} sort=${null} onSort=${undefined} />`)
    }
    <${Freshness} imports=${imports} /></section>`
}
