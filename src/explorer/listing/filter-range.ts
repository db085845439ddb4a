// A filter of days or numbers from one to another, or of those that are not known.

import { useState } from 'preact/hooks'
import { isMoment } from '../format.ts'
import { html } from '../html.ts'
import type { FieldDescription } from '../resources.ts'
import { texts } from '../texts.ts'

/** The type of a field of days. */
const dayInput = `date`

interface RangeFilterProps {
  readonly field: FieldDescription
  readonly query: URLSearchParams
  readonly onApply: (changes: Readonly<Record<string, string | undefined>>) => void
}

export function RangeFilter({ field, query, onApply }: RangeFilterProps) {
  const { name, description } = field
  const valueOf = (key: string) => query.get(`${name}[${key}]`) ?? ''
  // A day stands for its first moment with gte and for its last with lte (contract 10.2).
  const [from, setFrom] = useState(valueOf('gte') || valueOf('gt'))
  const [to, setTo] = useState(valueOf('lte') || valueOf('lt'))
  const [isUnknown, setUnknown] = useState(query.get(name) === '')
  const none = { [`${name}[gt]`]: undefined, [`${name}[lt]`]: undefined, [name]: undefined }
  const range = (least: string, most: string) => ({
    ...none,
    [`${name}[gte]`]: least === '' ? undefined : least,
    [`${name}[lte]`]: most === '' ? undefined : most,
  })
  const submit = (event: Event) => {
    event.preventDefault()
    onApply(isUnknown ? { ...range('', ''), [name]: '' } : range(from, to))
  }
  const isOfDays = isMoment(field)
  const input = (label: string, value: string, set: (text: string) => void) =>
    html`<label class="stacked">${label}<input type=${isOfDays ? dayInput : 'number'}
      step=${isOfDays ? undefined : 'any'}
      value=${isOfDays ? value.slice(0, 10) : value} disabled=${isUnknown}
      onInput=${(event: InputEvent) => set((event.target as HTMLInputElement).value)} /></label>`
  return html`<form onSubmit=${submit}>
    <p class="hint">${description}</p>
    <div class="pair">${input(texts.filterFrom, from, setFrom)}${input(texts.filterTo, to, setTo)}
      </div>
    <label class="option"><input type="checkbox" checked=${isUnknown}
      onChange=${() => setUnknown(!isUnknown)} />
      <span><em>${texts.notKnown}</em></span></label>
    <div class="actions"><button type="submit" class="primary">${texts.filterApply}</button>
      <button type="button" onClick=${() => onApply(range('', ''))}>${texts.filterClear}</button>
        </div>
  </form>`
}
