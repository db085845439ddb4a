// A filter by a range of days or numbers, or for records without a value.

import { useState } from 'preact/hooks'
import { DayInput } from '../day-input.ts'
import { isMoment } from '../format.ts'
import { html } from '../html.ts'
import type { FieldDescription } from '../resources.ts'
import { texts } from '../texts.ts'

/** The bounds of a range, lower ones first (contract 10.1). */
export const bounds = ['gte', 'gt', 'lt', 'lte'] as const

interface RangeFilterProps {
  readonly field: FieldDescription
  readonly query: URLSearchParams
  readonly onApply: (changes: Readonly<Record<string, string | undefined>>) => void
}

export function RangeFilter({ field, query, onApply }: RangeFilterProps) {
  const { name, description, isNullable } = field
  const keyOf = (bound: string) => `${name}[${bound}]`
  // A day stands for its first moment with gte and for its last with lte (contract 10.2). Where an
  // address has gt or lt, these stay.
  const isAfter = query.has(keyOf('gt')) && !query.has(keyOf('gte'))
  const isBefore = query.has(keyOf('lt')) && !query.has(keyOf('lte'))
  const [least, most] = [keyOf(isAfter ? 'gt' : 'gte'), keyOf(isBefore ? 'lt' : 'lte')]
  const [from, setFrom] = useState(query.get(least) ?? '')
  const [to, setTo] = useState(query.get(most) ?? '')
  const [isUnknown, setUnknown] = useState(isNullable && query.get(name) === '')
  const none = Object.fromEntries([name, ...bounds.map(keyOf)].map((key) => [key, undefined]))
  const submit = (event: Event) => {
    event.preventDefault()
    const range = { [name]: undefined, [least]: from || undefined, [most]: to || undefined }
    onApply(isUnknown ? { ...none, [name]: '' } : range)
  }
  const isOfDays = isMoment(field)
  const input = (label: string, value: string, set: (text: string) => void) =>
    html`<label class="stacked">${label}<${isOfDays ? DayInput : 'input'}
      type=${isOfDays ? undefined : 'number'} value=${isOfDays ? value.slice(0, 10) : value}
      disabled=${isUnknown}
      onInput=${(event: InputEvent) => set((event.target as HTMLInputElement).value)} /></label>`
  return html`<form onSubmit=${submit}>
    <p class="hint">${description}</p>
    <div class="pair">
      ${input(isAfter ? texts.filterAfter : texts.filterFrom, from, setFrom)}
      ${input(isBefore ? texts.filterBefore : texts.filterTo, to, setTo)}</div>
    ${
      isNullable &&
      html`<label class="option"><input type="checkbox" checked=${isUnknown}
        onChange=${() => setUnknown(!isUnknown)} />
        <span><em>${texts.notKnown}</em></span></label>`
    }
    <div class="row"><button type="submit" class="primary">${texts.filterApply}</button>
      <button type="button" onClick=${() => onApply(none)}>${texts.filterClear}</button>
        </div>
  </form>`
}
