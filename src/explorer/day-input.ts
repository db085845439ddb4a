// A field for a day.

import { firstDay, lastDay } from './format.ts'
import { html } from './html.ts'

/** Takes the attributes of an `input`. */
export const DayInput = (attributes: Readonly<Record<string, unknown>>) =>
  html`<input ...${attributes} type="date" min=${firstDay} max=${lastDay} />`
