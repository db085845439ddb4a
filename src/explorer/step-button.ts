// A button with an arrow or a magnifying glass, which keeps the focus when it leads no further.

import { html } from './html.ts'

interface StepProps {
  readonly label: string
  /** The picture on it, as a path in a square of 16 units. */
  readonly path: string
  readonly isOff: boolean
  readonly onStep: () => void
}

export function StepButton({ label, path, isOff, onStep }: StepProps) {
  return html`<button type="button" class="step" aria-label=${label} title=${label}
    aria-disabled=${isOff} onClick=${() => isOff || onStep()}>
    <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><path d=${path} /></svg>
  </button>`
}
