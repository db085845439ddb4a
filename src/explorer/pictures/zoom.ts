// Buttons that do what a drag over a picture does, for the keyboard.

import { html } from '../html.ts'
import { StepButton } from '../step-button.ts'
import { texts } from '../texts.ts'
import { dayMs } from './scale.ts'

interface ZoomProps {
  /** What is shown, in milliseconds since 1970. */
  readonly from: number
  readonly to: number
  readonly isZoomed: boolean
  readonly zoomTo: (least: number, most: number) => void
  readonly onAll: () => void
}

/** A shorter span cannot be divided, since bounds are days. */
const spanMsMin = 4 * dayMs
const glass = 'M7 2.5a4.5 4.5 0 100 9 4.5 4.5 0 000-9zM10.3 10.3L14 14'

export function Zoom({ from, to, isZoomed, zoomTo, onAll }: ZoomProps) {
  const span = to - from
  const button = (label: string, path: string, move: () => void, isOff: boolean) =>
    html`<${StepButton} label=${label} path=${path} isOff=${isOff} onStep=${move} />`
  const earlier = () => zoomTo(from - span / 2, to - span / 2)
  const nearer = () => zoomTo(from + span / 4, to - span / 4)
  const farther = () => zoomTo(from - span / 2, to + span / 2)
  const later = () => zoomTo(from + span / 2, to + span / 2)
  return html`
    ${button(texts.earlier, 'M10 4L6 8l4 4', earlier, !isZoomed)}
    ${button(texts.zoomOut, `${glass}M5 7h4`, farther, !isZoomed)}
    ${button(texts.zoomIn, `${glass}M5 7h4M7 5v4`, nearer, span < spanMsMin)}
    ${button(texts.later, 'M6 4l4 4-4 4', later, !isZoomed)}
    <button type="button" aria-disabled=${!isZoomed}
      onClick=${() => isZoomed && onAll()}>${texts.wholeTime}</button>`
}
