// An axis of time below a picture, with lines through it.

import { html } from '../html.ts'
import { placeLabels } from './labels.ts'
import { type Scale, timeTicks } from './scale.ts'

interface AxisProps {
  readonly scale: Scale
  readonly width: number
  readonly top: number
  readonly bottom: number
}

const labelHeight = 18
const timeWidth = 68

/** The height of an axis below its picture. */
export const axisHeight = labelHeight + 4

export function TimeAxis({ scale, width, top, bottom }: AxisProps) {
  // As many as fit with their labels.
  const count = Math.max(1, (scale.at(scale.to) - scale.at(scale.from)) / timeWidth)
  const ticks = timeTicks(scale, count)
  const places = ticks.map(({ value, label }) => ({ label, x: Math.round(scale.at(value)) + 0.5 }))
  return html`<g aria-hidden="true">${places.map(
    ({ x }) => html`<line key=${x} class="grid" x1=${x} x2=${x} y1=${top} y2=${bottom} />`,
  )}${placeLabels(places, width).map(
    ({
      label,
      x,
    }) => html`<text key=${label} x=${x} y=${bottom + labelHeight - 2} text-anchor="middle">
      ${label}</text>`,
  )}</g>`
}
