// A value in a cell: dates, lists, codes and nulls in readable form, and long texts that expand.

import { createContext } from 'preact'
import { useContext, useState } from 'preact/hooks'
import { cutText, isMoment, plainText } from '../format.ts'
import { html, type Shown } from '../html.ts'
import type { FieldDescription } from '../resources.ts'
import { texts } from '../texts.ts'

/** Longer texts are cut. */
const textLengthMax = 160
const listLengthMax = 4
/** Longer texts are wide enough for some words in each line. */
const wordLengthMax = 40

/** Whether everything is shown whole, since paper has no buttons. */
export const IsWhole = createContext(false)

export function Cell({
  value,
  field,
}: {
  readonly value: unknown
  readonly field: FieldDescription
}): Shown {
  if (value === null || value === undefined || (Array.isArray(value) && value.length === 0))
    return html`<${Unknown} />`
  if (Array.isArray(value)) return html`<${List} values=${value as unknown[]} />`
  const text = plainText(value, field)
  if (isMoment(field) && typeof value === 'string') {
    return html`<time datetime=${value} title=${value}>${text}</time>`
  }
  if (typeof value === 'number') return text
  return html`<${LongText} text=${text} />`
}

/** No value: a dash, so that values stand out. */
export function Unknown() {
  return html`<span class="none" title=${texts.notKnown}><span aria-hidden="true">–</span><span
    class="unseen">${texts.notKnown}</span></span>`
}

/** Text from the register: isolated, so that marks of direction change nothing around it. */
export function LongText({ text }: { readonly text: string }) {
  const [isOpen, setOpen] = useState(useContext(IsWhole))
  const className = text.length > wordLengthMax ? 'text sentence' : 'text'
  if (text.length <= textLengthMax) return html`<bdi class=${className}>${text}</bdi>`
  const shown = isOpen ? text : cutText(text, textLengthMax - 20)
  return html`<bdi class=${className}>${shown} <button
    type="button" class="plain more" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>${
      isOpen ? texts.less : texts.more
    }</button></bdi>`
}

/** What a value was, and what it has become. */
export function Became({ former, later }: { readonly former: string; readonly later: string }) {
  return html`<del><${LongText} text=${former} /></del> <span role="img"
    aria-label=${texts.becomes}>→</span> <ins><${LongText} text=${later} /></ins>`
}

function List({ values }: { readonly values: readonly unknown[] }) {
  const [isOpen, setOpen] = useState(useContext(IsWhole))
  const shown = isOpen ? values : values.slice(0, listLengthMax)
  return html`<ul class="list">${shown.map(
    (value, n) => html`<li key=${n}><${LongText}
    text=${plainText(value)} /></li>`,
  )}</ul>${
    values.length > listLengthMax &&
    html`<button type="button" class="plain more" aria-expanded=${isOpen}
      onClick=${() => setOpen(!isOpen)}>${
        isOpen ? texts.less : texts.andMore(values.length - listLengthMax)
      }</button>`
  }`
}
