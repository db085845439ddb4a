// Records as bars from their first to their last day; above them, how many there were at each time.

import { useMemo, useState } from 'preact/hooks'
import { type Changes, currentOn } from '../listing/filters.ts'
import { formatCount, formatDay, isoDay, lastMs, plainText, within } from '../format.ts'
import { html } from '../html.ts'
import type { Selection } from '../listing/load-all.ts'
import { fieldLabel, fieldNamed, type ResourceDescription, type Row } from '../resources.ts'
import { texts } from '../texts.ts'
import { type Figures, Frame } from './frame.ts'
import { isThere, PeriodBars, type Span, type Step } from './period-bars.ts'
import { dayMs } from './scale.ts'

/** What pictures of whole records are made of. */
export interface SelectionProps {
  readonly selection: Selection
  readonly resource: ResourceDescription
  readonly onFilter: (changes: Changes) => void
  /** Until when the records are known, in milliseconds since 1970. */
  readonly until: number | undefined
  /** A sentence if some records are not drawn, else empty. */
  readonly note: string
}

/** How many records have a bar at most. */
export const barsMax = 300
const namedMax = 6
const moves: Readonly<Record<string, number>> = {
  ArrowLeft: -30,
  ArrowRight: 30,
  PageUp: -365,
  PageDown: 365,
}

export function PeriodsPicture({ selection, resource, until, onFilter, note }: SelectionProps) {
  const { rows } = selection
  const spans = useMemo(() => spansOf(rows, resource), [rows])
  const dated = spans.filter((span) => span.from > -Infinity)
  const from = dated[0]?.from ?? 0
  const steps = useMemo(() => stepsOf(spans, from), [spans])
  const [day, setDay] = useState<number>()
  const title = texts.picturePeriods(texts.plural(resource.title))
  if (dated.length === 0) {
    const says = `${texts.undrawn(fieldLabel(resource, resource.period?.from ?? ''))} ${note}`
    return html`<${Frame} title=${title} says=${says} />`
  }
  // Records without a last day continue until today.
  const to = dated.reduce(
    (last, span) => Math.min(lastMs, Math.max(last, (span.to ?? span.from) + dayMs)),
    until ?? from,
  )
  const choose = (ms: number) => onFilter({ [currentOn]: isoDay(ms) })
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && day !== undefined) choose(day)
    const move = moves[event.key]
    if (move === undefined) return
    event.preventDefault()
    setDay(within((day ?? to) + move * dayMs, from, to))
  }
  const says = [
    saysOf(spans, [{ ms: from, count: 0 }, ...steps], resource),
    spans.length > dated.length ? texts.periodsUndated(spans.length - dated.length) : '',
    note,
    dated.length > barsMax ? texts.drawnOnly(formatCount(barsMax), formatCount(dated.length)) : '',
  ]
  const drawn = dated.slice(0, barsMax)
  return html`<${Frame} title=${title} says=${says.join(' ')} isLong
    readout=${readoutOf(spans, day, resource)} figures=${figuresOf(dated, resource)}
    onKeyDown=${onKeyDown}>${(width: number) => html`<${PeriodBars} spans=${drawn} steps=${steps}
      width=${width} from=${from} to=${to} day=${day} onDay=${setDay} onChoose=${choose} />`}<//>`
}

function spansOf(rows: readonly Row[], resource: ResourceDescription): Span[] {
  const { period, picture } = resource
  if (period === undefined || picture?.kind !== 'periods') return []
  const text = (row: Row, name: string) => plainText(row[name], fieldNamed(resource, name))
  // The service counts whole days, too, and records without a first day from the beginning on
  // (contract 10.3).
  const dayOf = (value: unknown) =>
    typeof value === 'string' ? Math.floor(Date.parse(value) / dayMs) * dayMs : undefined
  return rows
    .map((row) => ({
      id: row['id'],
      label: text(row, picture.label),
      detail: text(row, picture.detail),
      from: dayOf(row[period.from]) ?? -Infinity,
      to: dayOf(row[period.to]),
    }))
    .toSorted((a, b) => a.from - b.from)
}

/** @param first the first day that is drawn. */
function stepsOf(spans: readonly Span[], first: number): Step[] {
  // A record that ends before it begins counts on no day.
  const there = spans.filter(({ from, to }) => to === undefined || to >= Math.max(from, first))
  const changes = there.flatMap(({ from, to }) => [
    { ms: Math.max(from, first), by: 1 },
    ...(to === undefined ? [] : [{ ms: to + dayMs, by: -1 }]),
  ])
  let count = 0
  return changes
    .toSorted((a, b) => a.ms - b.ms || a.by - b.by)
    .map(({ ms, by }) => ({ ms, count: (count += by) }))
}

function saysOf(
  spans: readonly Span[],
  steps: readonly Step[],
  { title }: ResourceDescription,
): string {
  const most = steps.reduce((best, step) => (step.count > best.count ? step : best))
  const count = texts.counted(spans.length, title)
  return texts.periodsSays(count, formatCount(most.count), formatDay(most.ms))
}

function readoutOf(spans: readonly Span[], day: number | undefined, resource: ResourceDescription) {
  if (day === undefined) {
    return html`<span class="hint">${texts.onDayHint}${' '}
      <span class="keys">${texts.pictureKeys}</span></span>`
  }
  const there = spans.filter((span) => isThere(span, day))
  const names = there.slice(0, namedMax).map(({ label, detail }) => `${label} (${detail})`)
  const more = there.length > names.length ? [texts.andMore(there.length - names.length)] : []
  const head = texts.onDay(formatDay(day), texts.counted(there.length, resource.title))
  return html`<strong>${head}</strong> <bdi class="detail">${[...names, ...more].join(', ')}</bdi>`
}

function figuresOf(spans: readonly Span[], resource: ResourceDescription): Figures {
  const { period, picture } = resource
  const names =
    period === undefined || picture?.kind !== 'periods'
      ? []
      : [picture.label, picture.detail, period.from, period.to]
  const rows = spans.map(({ label, detail, from, to }) => [
    label,
    detail,
    formatDay(from),
    to === undefined ? texts.open : formatDay(to),
  ])
  return { head: names.map((name) => fieldLabel(resource, name)), rows }
}
