// The pager of a listing: the current page, links to the others, and the page size.

import { formatCount } from '../format.ts'
import { html } from '../html.ts'
import { pageSizes } from './listing-query.ts'
import { StepButton } from '../step-button.ts'
import { texts } from '../texts.ts'

interface PagerProps {
  /** As in the address. */
  readonly page: number
  readonly size: number
  /** The last page that is known. */
  readonly last: number
  /** How many records precede those that are shown, and how many are shown. */
  readonly offset: number
  readonly length: number
  /** How many records the pages cover, and how many there are without filters. */
  readonly selected: number
  readonly total: number
  readonly toPage: (number: number) => void
  readonly onSize: (size: string) => void
}

export function Pager(props: PagerProps) {
  const { page, last, size, offset, length, selected, total, toPage, onSize } = props
  const step = (number: number, label: string, path: string, isOff: boolean) =>
    html`<${StepButton} label=${label} path=${path} isOff=${isOff}
      onStep=${() => toPage(number)} />`
  const sizes = [...new Set([...pageSizes, size])].sort((a, b) => a - b)
  return html`<nav class="row pager" aria-label=${texts.pages}>
    <p class="range" role="status">
      ${texts.shown(formatCount(offset + 1), formatCount(offset + length), formatCount(selected))}${
        selected === total ? '' : texts.filteredOf(formatCount(total))
      }</p>
    <div class="row steps">
      ${step(1, texts.firstPage, 'M11 4l-4 4 4 4M5 4v8', page <= 1)}
      ${step(page - 1, texts.previousPage, 'M10 4L6 8l4 4', page <= 1)}
      <input type="number" min="1" max=${last} value=${page}
        aria-label=${texts.pageNumber(formatCount(last))}
        onChange=${(event: Event) => {
          const field = event.target as HTMLInputElement
          const { valueAsNumber: number } = field
          const next = Number.isInteger(number) ? Math.min(Math.max(1, number), last) : page
          // Set here, since nothing is rendered again if this is the page already.
          field.value = String(next)
          toPage(next)
        }} />
      ${step(page + 1, texts.nextPage, 'M6 4l4 4-4 4', page >= last)}
      ${step(last, texts.lastPage, 'M5 4l4 4-4 4M11 4v8', page >= last)}
    </div>
    <label class="size"><select value=${String(size)} onChange=${(event: Event) =>
      onSize((event.target as HTMLSelectElement).value)}>${sizes.map(
      (one) => html`<option key=${one} value=${String(one)}>${formatCount(one)}</option>`,
    )}</select> <span>${texts.perPage}</span></label>
  </nav>`
}
