// The timeline of a company: a lane for each attribute, a mark for each change. A drag over a
// period zooms in, which filters the table below by the same days.

import { useState } from 'preact/hooks'
import { Became } from '../listing/cell.ts'
import type { Changes } from '../listing/filters.ts'
import {
  formatCount,
  formatDay,
  formatTimestamp,
  isoDay,
  labelOf,
  plainText,
  within,
} from '../format.ts'
import { html } from '../html.ts'
import { drawnMax } from '../listing/load-all.ts'
import type { ResourceDescription } from '../resources.ts'
import { inSentence, texts } from '../texts.ts'
import { type Figures, Frame } from './frame.ts'
import type { Bin, Lane, Mark, Timeline } from './timeline-data.ts'
import { dayMs } from './scale.ts'
import { laneLabel, Lanes, type Pointed } from './timeline-lanes.ts'
import { Zoom } from './zoom.ts'

/** How many kinds the sentence names. */
const namedMax = 5

interface TimelineProps {
  readonly timeline: Timeline
  readonly resource: ResourceDescription
  readonly query: URLSearchParams
  readonly onFilter: (changes: Changes) => void
}

export function TimelinePicture({ timeline, resource, query, onFilter }: TimelineProps) {
  const { lanes } = timeline
  const field = resource.changeFields?.date ?? ''
  const moments = momentsOf(lanes)
  const [from, to] = domainOf(moments, query, field)
  const [pointed, setPointed] = useState<Pointed>()
  const bound = (name: string) => `${field}[${name}]`
  const none = { [bound('gt')]: undefined, [bound('lt')]: undefined }
  const all = { ...none, [bound('gte')]: undefined, [bound('lte')]: undefined }
  const zoomTo = (least: number, most: number) =>
    onFilter({ ...none, [bound('gte')]: isoDay(least), [bound('lte')]: isoDay(most) })
  const choose = ({ from: least, to: most }: Bin) => {
    setPointed(undefined)
    zoomTo(least, most)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const bin = lanes[pointed?.lane ?? -1]?.bins[pointed?.index ?? -1]
    if (event.key === 'Enter' && bin !== undefined) choose(bin)
    const next = moveIn(lanes, pointed, event.key)
    if (next === undefined) return
    event.preventDefault()
    setPointed(next)
  }
  const isZoomed = [...query.keys()].some((key) => key.startsWith(`${field}[`))
  const controls = html`<${Zoom} from=${from} to=${to} zoomTo=${zoomTo} isZoomed=${isZoomed}
    onAll=${() => onFilter(all)} />`
  return html`<${Frame} title=${texts.pictureTimeline} says=${saysOf(timeline, moments)}
    controls=${controls} readout=${readoutOf(lanes, pointed, resource)} figures=${figuresOf(lanes)}
    onKeyDown=${onKeyDown}>${(width: number) => html`<${Lanes} lanes=${lanes} width=${width}
      from=${from} to=${to} pointed=${pointed} onPoint=${setPointed}
      onChoose=${choose} zoomTo=${zoomTo} />`}<//>`
}

/** The moments of what is drawn, in milliseconds since 1970. */
function momentsOf(lanes: readonly Lane[]): readonly number[] {
  return lanes.flatMap(({ marks, bins }) => [
    ...marks.map(({ ms }) => ms),
    ...bins.flatMap((bin) => [bin.from, bin.to]),
  ])
}

/** From the first to the last selected moment, in milliseconds since 1970. */
function domainOf(
  moments: readonly number[],
  query: URLSearchParams,
  field: string,
): readonly [number, number] {
  const least = Date.parse(query.get(`${field}[gte]`) ?? '')
  const most = Date.parse(query.get(`${field}[lte]`) ?? '') + dayMs
  const from = Number.isNaN(least) ? Math.min(...moments) : least
  const to = Number.isNaN(most) ? Math.max(...moments) : most
  return to > from ? [from, to] : [from - dayMs, from + dayMs]
}

function saysOf({ form, lanes, kinds, others }: Timeline, moments: readonly number[]): string {
  const [most] = lanes
  if (most === undefined) return ''
  const days = texts.span(formatDay(Math.min(...moments)), formatDay(Math.max(...moments)))
  if (form === 'equal') {
    const [named, rest] = [kinds.slice(0, namedMax), kinds.slice(namedMax)]
    const list = named.map(
      ({ type, count }) => `${inSentence(labelOf(type))} ${formatCount(count)}`,
    )
    const more = rest.length > 0 ? [texts.andMore(rest.length)] : []
    return [
      texts.timelineSaysAll(most.count, days),
      list.length > 0 ? texts.timelineKinds([...list, ...more].join(', ')) : '',
      texts.timelineEqual(formatCount(drawnMax)),
    ].join('')
  }
  const count = kinds.reduce((sum, kind) => sum + kind.count, 0)
  const kind = inSentence(labelOf(most.kind ?? ''))
  const [bin] = most.bins
  return [
    texts.timelineSays(count, kinds.length, days),
    lanes.length > 1 ? texts.timelineMost(kind, formatCount(most.count)) : '',
    bin === undefined ? '' : texts.timelineDays(Math.round((bin.to - bin.from) / dayMs)),
    others > 0 ? texts.timelineOthers(others) : '',
  ].join('')
}

const steps: Readonly<Record<string, readonly [lane: number, index: number]>> = {
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  Home: [0, -Infinity],
  End: [0, Infinity],
}

/** Where a keystroke leads; undefined for a key that leads nowhere. */
function moveIn(
  lanes: readonly Lane[],
  pointed: Pointed | undefined,
  key: string,
): Pointed | undefined {
  const step = steps[key]
  if (step === undefined) return undefined
  if (pointed === undefined) return { lane: 0, index: 0 }
  const lane = within(pointed.lane + step[0], 0, lanes.length - 1)
  const { marks = [], bins = [] } = lanes[lane] ?? {}
  return { lane, index: within(pointed.index + step[1], 0, marks.length + bins.length - 1) }
}

function readoutOf(
  lanes: readonly Lane[],
  pointed: Pointed | undefined,
  resource: ResourceDescription,
) {
  const lane = lanes[pointed?.lane ?? -1]
  const mark = lane?.marks[pointed?.index ?? -1]
  const bin = lane?.bins[pointed?.index ?? -1]
  if (lane !== undefined && mark !== undefined) {
    return html`<${Change} key=${mark.row['id']} kind=${laneLabel(lane)} mark=${mark}
      resource=${resource} />`
  }
  if (lane !== undefined && bin !== undefined) {
    const { from, to, count } = bin
    const says = texts.bar(laneLabel(lane), count, texts.span(formatDay(from), formatDay(to)))
    return html`<strong>${says}</strong> <span class="hint">${texts.barChoose}</span>`
  }
  return html`<span class="hint">${texts.zoomHint}${' '}
    <span class="keys">${texts.pictureKeys}</span></span>`
}

interface ChangeProps {
  readonly kind: string
  readonly mark: Mark
  readonly resource: ResourceDescription
}

function Change({ kind, mark: { row }, resource: { changeFields } }: ChangeProps) {
  if (changeFields === undefined) return null
  const at = formatTimestamp(String(row[changeFields.date]))
  return html`<strong dir="auto">${kind}</strong>, ${at}: <span class="from-to"><${Became}
    former=${plainText(row[changeFields.before])}
    later=${plainText(row[changeFields.after])} /></span>`
}

function figuresOf(lanes: readonly Lane[]): Figures {
  const rows = lanes.flatMap((lane) => {
    const { count, marks, bins } = lane
    const label = laneLabel(lane)
    const whole = { from: marks[0]?.ms ?? NaN, to: marks.at(-1)?.ms ?? NaN, count }
    return (bins.length === 0 ? [whole] : bins).map((part) => [
      label,
      formatDay(part.from),
      formatDay(part.to),
      part.count,
    ])
  })
  return { head: [texts.kind, texts.filterFrom, texts.filterTo, texts.count], rows }
}
