// The values of a filter with their counts, or a text field where there are many.

import { useState } from 'preact/hooks'
import type { ValueCount } from '../answers.ts'
import { formatCount, wordsOf } from '../format.ts'
import { html } from '../html.ts'
import type { FieldDescription } from '../resources.ts'
import { texts } from '../texts.ts'

interface ValueFilterProps {
  readonly field: FieldDescription
  readonly query: URLSearchParams
  readonly counts: readonly ValueCount[]
  readonly onApply: (changes: Readonly<Record<string, readonly string[] | undefined>>) => void
}

export function ValueFilter({
  field: { name, label, description, isNullable },
  query,
  counts,
  onApply,
}: ValueFilterProps) {
  const given = query.getAll(name)
  const known = counts.map(({ value }) => (value === null ? '' : String(value)))
  // An address may have several values that are not listed; the last of them can be changed.
  const last = given.findLast((value) => value !== '' && !known.includes(value))
  const [chosen, setChosen] = useState(given.filter((value) => value !== last))
  const [other, setOther] = useState(last ?? '')
  const toggle = (value: string) =>
    setChosen(chosen.includes(value) ? chosen.filter((one) => one !== value) : [...chosen, value])
  const submit = (event: Event) => {
    event.preventDefault()
    const values = new Set([...chosen, ...(other.trim() === '' ? [] : [other])])
    onApply({ [name]: [...values] })
  }
  return html`<form onSubmit=${submit}>
    <p class="hint">${description}</p>
    ${
      counts.length > 0 &&
      html`<fieldset class="options"><legend class="unseen">${label}</legend>${counts.map(
        ({ value, count }) => {
          const text = value === null ? '' : String(value)
          return html`<label key=${text} class="option"><input type="checkbox"
            checked=${chosen.includes(text)}
            onChange=${() => toggle(text)} /><span class="option-text" dir="auto">${
              value === null ? html`<em>${texts.notKnown}</em>` : wordsOf(text)
            }</span><span class="count">${formatCount(count)}</span></label>`
        },
      )}</fieldset>`
    }
    <label class="stacked">${counts.length > 0 ? texts.filterOthers : texts.filterValue}<input
      type="text" value=${other}
      autocomplete="off" spellcheck=${false}
      onInput=${(event: InputEvent) => setOther((event.target as HTMLInputElement).value)} />
        </label>
    ${
      counts.length === 0 &&
      isNullable &&
      html`<label class="option"><input type="checkbox" checked=${chosen.includes('')}
        onChange=${() => toggle('')} />
        <span><em>${texts.notKnown}</em></span></label>`
    }
    <div class="row"><button type="submit" class="primary">${texts.filterApply}</button>
      <button type="button" onClick=${() => onApply({ [name]: undefined })}>${texts.filterClear}
        </button></div>
  </form>`
}
