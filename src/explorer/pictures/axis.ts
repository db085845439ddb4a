// An axis of time or numbers below a picture, with lines through it.

import { html } from '../html.ts'
import { placeLabels } from './labels.ts'
import { numberTicks, type Scale, type Tick, timeTicks } from './scale.ts'

interface AxisProps {
  readonly scale: Scale
  readonly width: number
  readonly top: number
  readonly bottom: number
  /** Where the labels stand: below the picture unless given. */
  readonly labelsAt?: number
}

const labelHeight = 18
const timeWidth = 68
const numberWidth = 60

/** The height of an axis below its picture. */
export const axisHeight = labelHeight + 4

export function TimeAxis(props: AxisProps) {
  return drawTicks(timeTicks(props.scale, tickCount(props.scale, timeWidth)), props)
}

export function NumberAxis(props: AxisProps) {
  return drawTicks(numberTicks(props.scale, tickCount(props.scale, numberWidth)), props)
}

/** As many as have room for their labels. */
function tickCount({ at, from, to }: Scale, width: number): number {
  return Math.max(1, (at(to) - at(from)) / width)
}

function drawTicks(
  ticks: readonly Tick[],
  { scale, width, top, bottom, labelsAt = bottom + labelHeight - 2 }: AxisProps,
) {
  const places = ticks.map(({ value, label }) => ({ label, x: Math.round(scale.at(value)) + 0.5 }))
  return html`<g aria-hidden="true">${places.map(
    ({ x }) => html`<line key=${x} class="grid" x1=${x} x2=${x} y1=${top} y2=${bottom} />`,
  )}${placeLabels(places, width).map(
    ({ label, x }) => html`<text key=${label} x=${x} y=${labelsAt} text-anchor="middle">
      ${label}</text>`,
  )}</g>`
}
