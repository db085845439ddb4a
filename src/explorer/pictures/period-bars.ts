// Bars from a first to a last day, below steps that show how many there were at each time.

import { useMemo } from 'preact/hooks'
import { within } from '../format.ts'
import { html } from '../html.ts'
import { axisHeight, TimeAxis } from './axis.ts'
import { pointIn, whenLeft } from './frame.ts'
import { fitText } from './labels.ts'
import { dayMs, type Scale, scaleOf } from './scale.ts'

const rowHeight = 18
const areaHeight = 64
const firstRow = areaHeight + axisHeight + 6

/** The height of a number of bars, in pixels, with the steps above them. */
export const periodsHeight = (count: number): number => firstRow + count * rowHeight + 4

export interface Span {
  readonly id: unknown
  readonly label: string
  readonly detail: string
  /** The first day, in milliseconds since 1970; -Infinity if it is not known. */
  readonly from: number
  /** The last day; undefined if there is none. */
  readonly to: number | undefined
}

/** How many there were from a moment on. */
export interface Step {
  readonly ms: number
  readonly count: number
}

interface BarsProps {
  readonly spans: readonly Span[]
  readonly steps: readonly Step[]
  readonly width: number
  readonly from: number
  readonly to: number
  /** The day at the pointer. */
  readonly day: number | undefined
  readonly onDay: (day: number | undefined) => void
  readonly onChoose: (day: number) => void
}

/** Whether a day is in a period, which includes its last day. */
export function isThere({ from, to }: Span, ms: number): boolean {
  return from <= ms && (to === undefined || to + dayMs > ms)
}

export function PeriodBars(props: BarsProps) {
  const { spans, steps, width, from, to, day, onDay, onChoose } = props
  const left = within(width * 0.22, 96, 220)
  const scale = scaleOf(from, to, left, width - 8)
  const height = periodsHeight(spans.length)
  const bottom = height - 4
  const at = (event: MouseEvent) => within(scale.valueAt(pointIn(event).x), from, to)
  const onPointer = (event: PointerEvent) => onDay(at(event))
  return html`<svg class="brushable" width=${width} height=${height}
    onPointerMove=${onPointer} onPointerDown=${onPointer}
    onPointerLeave=${whenLeft(() => onDay(undefined))}
    onClick=${(event: MouseEvent) => onChoose(at(event))}>
    <${TimeAxis} scale=${scale} width=${width} top=${0} bottom=${areaHeight} />
    <path class="area" d=${areaPath(steps, scale)} />
    ${spans.map(
      (span, n) => html`<${Bar} key=${span.id} span=${span} left=${left}
        y=${firstRow + n * rowHeight}
        scale=${scale} isOn=${day !== undefined && isThere(span, day)} />`,
    )}
    ${
      day !== undefined &&
      html`<line class="cursor" x1=${scale.at(day)} x2=${scale.at(day)} y1="0" y2=${bottom} />`
    }
  </svg>`
}

interface BarProps {
  readonly span: Span
  readonly y: number
  readonly left: number
  readonly scale: Scale
  readonly isOn: boolean
}

function Bar({ span: { label, from, to }, y, left, scale, isOn }: BarProps) {
  const x = scale.at(from)
  const end = scale.at(to ?? scale.to)
  const className = isOn ? 'bar on' : 'bar'
  const width = Math.max(2, end - x - (to === undefined ? 5 : 0))
  // An open end is an arrow: a shape, not a colour, shows it.
  const arrow = `M${(end - 6).toFixed(1)} ${y + 3}l6 4.5-6 4.5z`
  // Measured once, not at each move of the pointer.
  const name = useMemo(() => fitText(label, left - 8), [label, left])
  return html`<g><text class="label" x="0" y=${y + 12}>${name}</text>
    <rect class=${className} x=${x} y=${y + 4} rx="2" height="7" width=${width} />
    ${to === undefined && html`<path class=${className} d=${arrow} />`}</g>`
}

/** The number at each time, as steps. */
function areaPath(steps: readonly Step[], scale: Scale): string {
  const most = steps.reduce((greatest, { count }) => Math.max(greatest, count), 1)
  const x = (ms: number) => scale.at(Math.min(ms, scale.to)).toFixed(1)
  const y = (count: number) => (areaHeight - (count / most) * (areaHeight - 8)).toFixed(1)
  const parts = steps.map(({ ms, count }) => `H${x(ms)}V${y(count)}`)
  return `M${x(scale.from)} ${areaHeight}${parts.join('')}H${x(scale.to)}V${areaHeight}Z`
}
