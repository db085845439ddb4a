// A listing: its picture, its filters, a page of its records, and the ways to the other pages.

import { useEffect } from 'preact/hooks'
import {
  type ListingAnswer,
  type ListingSummary,
  metaOf,
  rowsOf,
  type Version,
} from '../answers.ts'
import { type Answer, movedOn } from '../api.ts'
import type { Differences } from '../versions/differences.ts'
import { type Changes, Filters } from './filters.ts'
import { html } from '../html.ts'
import { Freshness } from '../versions/versions.ts'
import {
  isOfPast,
  listingPath,
  pageOf,
  pageQuery,
  queryOf,
  selectionQuery,
  sizeOf,
  versionQuery,
  withoutFilters,
} from './listing-query.ts'
import { MarksNote, useMarks } from './marks.ts'
import { Loading, Notice } from '../notice.ts'
import { Pager } from './pager.ts'
import { Picture } from './picture.ts'
import { goTo, type Place, withQuery } from '../place.ts'
import type { ResourceDescription } from '../resources.ts'
import { RecordTable } from './table.ts'
import { Take } from './take.ts'
import { inSentence, texts } from '../texts.ts'
import { type Loaded, useAnswer } from '../use-answer.ts'

interface ListingProps {
  readonly place: Place
  readonly id: string
  readonly name: string
  readonly resource: ResourceDescription
  /** As in the company's answer; undefined if the key may not see companies. */
  readonly listing: ListingSummary | undefined
  /** The same listing at present. */
  readonly now: ListingSummary | undefined
  /** Whether these two are of the versions that the address asks for. */
  readonly areOfVersion: boolean
  /** The last import of each source. */
  readonly imports: readonly Version[]
  /** Until when the records are known, in milliseconds since 1970. */
  readonly until: number | undefined
}

export function ListingView(props: ListingProps) {
  const { place, id, name, resource, listing, now, areOfVersion, until } = props
  const { query } = place
  const path = listingPath(id, resource, pageQuery(query))
  const loaded = useAnswer<ListingAnswer>(path, resource.name)
  const isMissing = loaded.failure?.kind === 'missing'
  useEffect(() => {
    // Nothing of a company that has been withheld may stay on the page.
    if (isMissing) dispatchEvent(new Event(movedOn))
  }, [isMissing])
  useVersionOfDay(place, loaded)
  const answer = loaded.value?.body
  // Marks and counts belong to the records that are shown, not to those that are still loading.
  const shownQuery = queryOf(loaded.value?.path ?? '')
  const isShown = areOfVersion && `${versionQuery(query)}` === `${versionQuery(shownQuery)}`
  const marks = useMarks(id, resource, query, isShown ? { listing, now } : {})
  const go = (changes: Changes) => goTo({ ...place, query: withQuery(query, changes) })
  const filter = (changes: Changes) => go({ ...changes, page: undefined })
  const clear = () => goTo({ ...place, query: withoutFilters(query) })
  const what = texts.plural(resource.title)
  const counts = listing?.counts ?? countsOfMeta(resource, answer)
  const toolbar = html`<div class="toolbar">
    <${Filters} resource=${resource} query=${query} counts=${counts}
      onChange=${filter} onClear=${clear} />
    <${Take} path=${path} version=${loaded.value?.version} isPrintable=${listing !== undefined}
      listing=${answer && { query, id, resource, answer }} />
  </div>`
  const isEmpty = answer?.total === 0 || loaded.failure?.kind === 'scope'
  // Without the service, the records of before are shown.
  const isOld = loaded.isLoading || loaded.failure?.kind === 'offline'
  return html`<section class=${isOld ? 'listing stale' : 'listing'} aria-label=${what}
    aria-busy=${loaded.isLoading} tabindex="-1">
    ${!isEmpty && toolbar}
    <${Notice} loaded=${loaded} />
    ${
      answer !== undefined &&
      !isEmpty &&
      answer.pagination_total > 0 &&
      html`<${Picture} id=${id} resource=${resource} query=${shownQuery} answer=${answer}
        counts=${counts} version=${loaded.value?.version} until=${until} onFilter=${filter} />`
    }
    <${MarksNote} marks=${marks} />
    ${
      answer === undefined
        ? loaded.failure === undefined && html`<${Loading} />`
        : html`<${Records} answer=${answer} resource=${resource} query=${query}
          shownQuery=${shownQuery} caption=${texts.tableOf(what, name)}
            go=${go} clear=${clear} differences=${marks.value?.differences} />
          <${Freshness} imports=${props.imports} />`
    }
  </section>`
}

/** A day names another version in each listing: the whole page is shown at the one of this. */
function useVersionOfDay(place: Place, loaded: Loaded<Answer<ListingAnswer>>): void {
  const { value, isLoading, failure } = loaded
  const isAnswered = place.query.has('as_of') && !isLoading && failure === undefined
  const version = isAnswered ? value?.version : undefined
  useEffect(() => {
    if (version === undefined) return
    const changes = { as_of: undefined, version: String(version) }
    goTo({ ...place, query: withQuery(place.query, changes) }, { isReplacing: true })
  }, [version])
}

function countsOfMeta(
  { metaOf: field }: ResourceDescription,
  answer: ListingAnswer | undefined,
): ListingSummary['counts'] {
  if (field === undefined || answer === undefined) return {}
  return { [field]: metaOf(answer).map(({ type, count }) => ({ value: type, count })) }
}

interface RecordsProps {
  readonly answer: ListingAnswer
  readonly resource: ResourceDescription
  /** The query of the address, and the query of what is shown: the previous one during loading. */
  readonly query: URLSearchParams
  readonly shownQuery: URLSearchParams
  readonly caption: string
  readonly go: (changes: Changes) => void
  readonly clear: () => void
  readonly differences: Differences | undefined
}

function Records(props: RecordsProps) {
  const { answer, resource, query, shownQuery, caption, go, clear, differences } = props
  const { total, pagination_total: selected, pagination_offset: offset } = answer
  const rows = rowsOf(resource, answer)
  if (total === 0) {
    const what = inSentence(texts.plural(resource.title))
    return html`<p class="empty">${texts.emptyListing(what, isOfPast(shownQuery))}</p>`
  }
  if (selected === 0) {
    return html`<p class="empty">${texts.emptySelection} <button type="button" onClick=${clear}>
      ${texts.clearFilters}</button></p>`
  }
  const [page, size] = [pageOf(query), sizeOf(query)]
  // The number of pages of another selection is not known before the answer.
  const isSame = selectionQuery(query).toString() === selectionQuery(shownQuery).toString()
  const last = isSame ? Math.max(1, Math.ceil(selected / size)) : page
  const toPage = (number: number) => go({ page: number === 1 ? undefined : String(number) })
  if (rows.length === 0) {
    return html`<p class="empty">${texts.pastEnd} <button type="button"
      onClick=${() => toPage(last)}>${texts.toLastPage}</button></p>`
  }
  const pager = html`<${Pager} ...${{ page, last, size, offset, selected, total, toPage }}
    length=${rows.length} onSize=${(limit: string) => go({ page: undefined, limit })} />`
  return html`<${RecordTable} resource=${resource} rows=${rows} caption=${caption}
    sort=${query.get('sort')}
      onSort=${(sort: string | undefined) => go({ sort, page: undefined })}
        differences=${differences} />
    ${pager}`
}
