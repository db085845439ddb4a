// The picture of a listing: which one it is, and its data.

import { useState } from 'preact/hooks'
import type { ListingAnswer, ListingSummary } from '../answers.ts'
import type { Changes } from './filters.ts'
import { formatCount } from '../format.ts'
import { html } from '../html.ts'
import { selectionQuery } from './listing-query.ts'
import { drawnMax, loadAll, type Selection } from './load-all.ts'
import { Notice } from '../notice.ts'
import { periodsHeight } from '../pictures/period-bars.ts'
import { barsMax, PeriodsPicture } from '../pictures/periods.ts'
import { TimelinePicture } from '../pictures/timeline.ts'
import { lanesMax, loadTimeline, type Timeline } from '../pictures/timeline-data.ts'
import { lanesHeight } from '../pictures/timeline-lanes.ts'
import { YearsPicture, yearsHeight } from '../pictures/years.ts'
import type { ResourceDescription } from '../resources.ts'
import { texts } from '../texts.ts'
import { type Loaded, useWork, type Work } from '../use-answer.ts'

interface PictureProps {
  readonly id: string
  readonly resource: ResourceDescription
  readonly query: URLSearchParams
  readonly answer: ListingAnswer
  /** Counts of values, by field. */
  readonly counts: ListingSummary['counts']
  readonly version: number | undefined
  /** Until when the records are known, in milliseconds since 1970. */
  readonly until: number | undefined
  readonly onFilter: (changes: Changes) => void
}

const wholePictures = {
  periods: PeriodsPicture,
  years: YearsPicture,
}

/** Whether pictures are shown; reset by a reload of the page. */
let areShown = true

export function Picture(props: PictureProps) {
  const [isShown, setShown] = useState(areShown)
  const { picture } = props.resource
  if (picture === undefined) return null
  const toggle = () => {
    areShown = !isShown
    setShown(areShown)
  }
  const label = isShown ? texts.pictureHide : texts.pictureShow
  return html`<div class="picture-box">
    ${
      isShown &&
      (picture.kind === 'timeline'
        ? html`<${ChangesOverTime} ...${props}
      />`
        : html`<${Whole} ...${props} />`)
    }
    <button type="button" class="plain" aria-expanded=${isShown} onClick=${toggle}>${label}</button>
  </div>`
}

/** Names what a picture shows, so that it is made again when that changes. */
function nameOf({ id, resource, query, version }: PictureProps): string {
  return `${id} ${resource.name} ${selectionQuery(query).toString()} ${version ?? ''}`
}

/** A timeline, and what was selected for it. */
interface Drawn {
  readonly timeline: Timeline
  readonly query: URLSearchParams
}

function ChangesOverTime(props: PictureProps) {
  const { id, resource, query, answer, version, onFilter } = props
  // Until the next picture is ready, the last one keeps the days that it shows.
  const work: Work<Drawn> = async (signal, onWait) => {
    const request = { id, resource, query, answer, version }
    return { timeline: await loadTimeline(request, { signal, onWait }), query }
  }
  const loaded = useWork(nameOf(props), `${id} ${resource.name}`, work)
  const { value } = loaded
  if (value === undefined) return html`<${Awaited} ...${props} loaded=${loaded} />`
  return html`<div class=${loaded.isLoading ? 'stale' : ''}><${TimelinePicture} ...${value}
    resource=${resource} onFilter=${onFilter} /></div>`
}

function Whole(props: PictureProps) {
  const { id, resource, query, until, onFilter } = props
  const { picture } = resource
  const work: Work<Selection> = (signal, onWait) =>
    loadAll(id, resource, selectionQuery(query), { signal, onWait }, drawnMax)
  const loaded = useWork(nameOf(props), `${id} ${resource.name}`, work)
  const { value } = loaded
  if (value === undefined || picture === undefined || picture.kind === 'timeline') {
    return html`<${Awaited} ...${props} loaded=${loaded} />`
  }
  const isPart = value.selected > value.rows.length
  const note = isPart ? texts.firstOnly(formatCount(drawnMax), formatCount(value.selected)) : ''
  return html`<div class=${loaded.isLoading ? 'stale' : ''}><${wholePictures[picture.kind]}
    selection=${value} resource=${resource} until=${until}
    onFilter=${onFilter} note=${note} /></div>`
}

/** Reserves the space of a picture, so that nothing below it jumps; or says why there is none. */
function Awaited(props: PictureProps & { readonly loaded: Loaded<unknown> }) {
  const { loaded } = props
  const style = { '--plot-height': `${plotHeight(props)}px` }
  return html`<${Notice} loaded=${loaded} />${
    loaded.failure === undefined &&
    html`<div class="card picture waiting-picture" style=${style} aria-hidden="true"></div>`
  }`
}

/** Higher plots scroll, in pixels. */
const plotHeightMax = 560
/** What a picture has besides its plot, a title, and a line above and below it. */
const moreLines = { ofNames: 20, ofButtons: 6, onEqualBars: 42 }

/** The height of a picture in pixels, estimated from the counts of the listing. */
function plotHeight({ resource, query, answer, counts }: PictureProps): number {
  const { picture, metaOf } = resource
  const { pagination_total: selected } = answer
  if (picture?.kind === 'periods')
    return Math.min(periodsHeight(Math.min(selected, barsMax)), plotHeightMax) + moreLines.ofNames
  const field = (picture?.kind === 'years' ? picture.by : metaOf) ?? ''
  const kinds = query.getAll(field).length || (counts[field]?.length ?? Infinity)
  if (picture?.kind === 'years') return yearsHeight(kinds)
  const isEqual = selected > drawnMax
  const lanes = lanesHeight(isEqual ? 1 : Math.min(kinds, lanesMax))
  return lanes + moreLines.ofButtons + (isEqual ? moreLines.onEqualBars : 0)
}
