// The filters of a listing: for each filterable field, a menu of its values with their counts, or a
// range; and the filters that are set, each with a button that removes it.

import type { ListingSummary, ValueCount } from '../answers.ts'
import { bounds, RangeFilter } from './filter-range.ts'
import { ValueFilter } from './filter-values.ts'
import { DayInput } from '../day-input.ts'
import { formatTimestamp, isMoment, wordsOf } from '../format.ts'
import { html } from '../html.ts'
import { type FieldDescription, fieldNamed, type ResourceDescription } from '../resources.ts'
import { Menu } from '../menu.ts'
import { texts } from '../texts.ts'

export type Changes = Readonly<Record<string, string | readonly string[] | undefined>>

interface FiltersProps {
  readonly resource: ResourceDescription
  readonly query: URLSearchParams
  /** Counts of values, by field. */
  readonly counts: ListingSummary['counts']
  readonly onChange: (changes: Changes) => void
  readonly onClear: () => void
}

export const currentOn = 'current_on'

export function Filters({ resource, query, counts, onChange, onClear }: FiltersProps) {
  const fields = resource.fields.filter(({ filter }) => filter !== undefined)
  const chips = chipsOf(resource, query)
  return html`<div class="filters" role="group" aria-label=${texts.filters}
    tabindex="-1">
    <div class="row filter-menus">${fields.map(
      (
        field,
      ) => html`<${FieldMenu} key=${field.name} field=${field} query=${query} onChange=${onChange}
        counts=${counts[field.name]} />`,
    )}${resource.period !== undefined && html`<${DayMenu} query=${query} onChange=${onChange} />`}
      </div>
    ${
      chips.length > 0 &&
      html`<ul class="row chips">${chips.map(
        ({ text, changes }) => html`<li key=${text}><button type="button" class="chip"
          aria-label=${texts.remove(text)} onClick=${() => onChange(changes)}>
          <bdi>${text}</bdi><svg viewBox="0 0 10 10" width="10" height="10"
          aria-hidden="true"><path d="M2 2l6 6M8 2l-6 6" /></svg></button>
            </li>`,
      )}<li><button type="button" class="plain" onClick=${onClear}>
        ${texts.clearFilters}</button></li></ul>`
    }
  </div>`
}

interface FieldMenuProps {
  readonly field: FieldDescription
  readonly query: URLSearchParams
  readonly counts: readonly ValueCount[] | undefined
  readonly onChange: (changes: Changes) => void
}

function FieldMenu({ field, query, counts, onChange }: FieldMenuProps) {
  const { name, filter } = field
  const isOn = [...query.keys()].some((key) => key === name || key.startsWith(`${name}[`))
  return html`<${Menu} label=${field.label} isOn=${isOn}>${(close: () => void) => {
    const apply = (changes: Changes) => {
      onChange(changes)
      close()
    }
    // The menu shows the filters of the address, even after these have changed.
    const props = { key: query.toString(), field, query, onApply: apply }
    return filter === 'range'
      ? html`<${RangeFilter} ...${props} />`
      : html`<${ValueFilter} ...${props} counts=${counts ?? []} />`
  }}<//>`
}

function DayMenu({ query, onChange }: Pick<FieldMenuProps, 'query' | 'onChange'>) {
  const day = query.get(currentOn) ?? ''
  return html`<${Menu} label=${texts.currentOn} isOn=${day !== ''}>${(close: () => void) => {
    const submit = (event: Event) => {
      event.preventDefault()
      const field = (event.target as HTMLFormElement).elements[0] as HTMLInputElement
      onChange({ [currentOn]: field.value || undefined })
      close()
    }
    return html`<form onSubmit=${submit}>
      <label class="stacked">${texts.currentOn}<${DayInput} value=${day} /></label>
      <button type="submit" class="primary">${texts.filterApply}</button></form>`
  }}<//>`
}

interface Chip {
  readonly text: string
  /** What removes it. */
  readonly changes: Changes
}

/** What is set, in words. */
function chipsOf(resource: ResourceDescription, query: URLSearchParams): Chip[] {
  const chips: Chip[] = []
  for (const [key, value] of query) {
    const [name = '', bound] = key.replace(']', '').split('[')
    const field = fieldNamed(resource, name)
    const isDay = key === currentOn
    if (!isDay && field === undefined) continue
    const label = field?.label ?? texts.currentOn
    const shown = value === '' ? texts.notKnown : shownValue(value, field, isDay)
    const sign = bound === undefined ? ' ' : signOf(bound)
    const rest = query.getAll(key).filter((one) => one !== value)
    chips.push({ text: `${label}${sign}${shown}`, changes: { [key]: rest } })
  }
  return chips
}

function signOf(bound: string): string {
  const signs = { gte: ' ≥ ', gt: ' > ', lt: ' < ', lte: ' ≤ ' }
  return signs[bounds.find((one) => one === bound) ?? 'gte']
}

function shownValue(value: string, field: FieldDescription | undefined, isDay: boolean): string {
  if (isDay || (field !== undefined && isMoment(field))) return formatTimestamp(value)
  return wordsOf(value)
}
