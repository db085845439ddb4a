// Looking back: a slider over the versions that changed something of the company, a field for a
// day, and what the version shown is.

import { useEffect, useState } from 'preact/hooks'
import type { Company, CompanyAnswer, Version } from '../answers.ts'
import { ask, Failure } from '../api.ts'
import { html } from '../html.ts'
import { companyPath, isOfPast, versionNames } from '../listing/listing-query.ts'
import { addressOf, differences, goTo, type Place, withQuery } from '../place.ts'
import { type States, useStates } from './states.ts'
import { texts } from '../texts.ts'
import { daysOf, describeVersion, lastTouch, versionAt } from './versions.ts'

/** How long the slider rests before its version is shown, in milliseconds. */
const restMs = 200

interface TimeProps {
  readonly place: Place
  readonly id: string
  readonly versions: readonly Version[] | undefined
  /** The company at the version that is looked at, and at present. */
  readonly company: Company | undefined
  readonly now: Company | undefined
  /** The version of the answer that is shown. */
  readonly shown: number | undefined
}

export function TimeBar({ place, id, versions, company, now, shown }: TimeProps) {
  const [isOpen, setOpen] = useState(false)
  const isPast = isOfPast(place.query)
  const present = now ?? company
  const last = versions?.at(-1)
  const touched = company === undefined || !isPast ? 0 : lastTouch(company)
  const earliest = versions?.[0]?.version ?? 1
  const states = useStates(id, { now: present, shown: touched, earliest }, isOpen)
  if (versions === undefined || last === undefined)
    return html`<div class="time" aria-hidden="true"></div>`
  const open = html`<button type="button" class="plain" onClick=${() => setOpen(true)}>
    ${isPast ? texts.timeOthers : texts.timeLook}</button>`
  if (!isPast && !isOpen) {
    return html`<div class="time"><p>
      ${texts.timeNow} · ${texts.timeVersion(last.version)}, ${daysOf(last)}</p>${open}</div>`
  }
  const compared = comparison(place, isPast ? (shown ?? last.version) : undefined, last, present)
  return html`<section class=${isPast ? 'time open past' : 'time open'} aria-label=${texts.time}>
    <div class="time-where">
      ${isPast && html`<p class="past-says"><${Past} versions=${versions} shown=${shown} /></p>`}
      ${
        isOpen &&
        html`<${Slider} place=${place} versions=${versions} states=${states}
          touched=${touched === 0 && present !== undefined ? lastTouch(present) : touched} />
          <${DayForm} place=${place} id=${id} />`
      }
    </div>
    <div class="actions">
      ${!isOpen && open}
      ${
        isPast &&
        html`<a class="button" href=${addressOf(toVersion(place, undefined))}
        onClick=${() => setOpen(false)}>${texts.timeBack}</a>`
      }
      ${
        versions.length > 1 &&
        html`<a class="button" href=${addressOf(compared)}>
          ${isPast ? texts.timeDiffer : texts.between}</a>`
      }
      ${
        !isPast &&
        html`<button type="button" class="plain" onClick=${() => setOpen(false)}>
        ${texts.timeHide}</button>`
      }
    </div>
  </section>`
}

/** That the past is looked at, and which. */
function Past({
  versions,
  shown,
}: {
  readonly versions: readonly Version[]
  readonly shown: number | undefined
}) {
  const version = versionAt(versions, shown ?? 0)
  return version === undefined
    ? texts.timePastUnknown
    : html`${texts.timePast} <strong>${texts.timeVersion(version.version)}</strong>, ${daysOf(
        version,
      )}`
}

/** The comparison of a version, or of the state before the present one, with now. */
function comparison(
  { company }: Place,
  shown: number | undefined,
  last: Version,
  present: Company | undefined,
): Place {
  const touch = present === undefined ? last.version : lastTouch(present)
  const from = shown ?? Math.max(1, touch - 1)
  const query = new URLSearchParams({ from: String(from), to: String(last.version) })
  return { company, view: differences, query }
}

function toVersion(place: Place, version: number | undefined): Place {
  const none = Object.fromEntries(versionNames.map((name) => [name, undefined]))
  const view = place.view === differences ? undefined : place.view
  const query = withQuery(place.view === differences ? new URLSearchParams() : place.query, {
    ...none,
    version: version === undefined ? undefined : String(version),
    page: undefined,
  })
  return { ...place, view, query }
}

interface SliderProps {
  readonly place: Place
  readonly versions: readonly Version[]
  readonly states: States
  /** The version that made the state shown. */
  readonly touched: number
}

function Slider({ place, versions, states, touched }: SliderProps) {
  const { numbers, hasMore, isLoading, loadMore } = states
  const at = Math.max(0, numbers.indexOf(touched))
  const [chosen, setChosen] = useState(touched)
  useEffect(() => setChosen(touched), [touched])
  useEffect(() => {
    if (chosen === touched) return undefined
    const timer = setTimeout(() => {
      const isLast = chosen === numbers.at(-1)
      goTo(toVersion(place, isLast ? undefined : chosen), { isReplacing: true })
    }, restMs)
    return () => clearTimeout(timer)
  }, [chosen])
  if (isLoading && numbers.length < 2)
    return html`<p class="slider-says" role="status">${texts.loading}</p>`
  const found = numbers.indexOf(chosen)
  const index = found === -1 ? at : found
  const number = numbers[index] ?? touched
  const version = versionAt(versions, number)
  const about = version?.version === number ? describeVersion(version) : texts.timeVersion(number)
  if (numbers.length === 1 && !hasMore)
    return html`<p class="slider-says">${texts.timeOne} ${about}</p>`
  const step = (
    to: number,
    label: string,
    path: string,
  ) => html`<button type="button" class="step" aria-label=${label}
    title=${label} disabled=${numbers[to] === undefined}
    onClick=${() => setChosen(numbers[to] ?? number)}><svg viewBox="0 0 16 16"
    width="16" height="16" aria-hidden="true"><path d=${path} /></svg></button>`
  return html`<div class="slider">
    ${step(index - 1, texts.timeOlder, 'M10 4L6 8l4 4')}
    <input type="range" min="0" max=${numbers.length - 1} value=${index}
      aria-label=${texts.timeSlider} aria-valuetext=${about}
      onInput=${(event: InputEvent) =>
        setChosen(numbers[(event.target as HTMLInputElement).valueAsNumber] ?? number)} />
    ${step(index + 1, texts.timeNewer, 'M6 4l4 4-4 4')}
    <p class="slider-says">${about}${
      hasMore &&
      html` <button type="button" class="plain" onClick=${loadMore}>${texts.timeMore}</button>`
    }</p>
  </div>`
}

/** Leads to the company as extracts of a day had it. */
function DayForm({ place, id }: { readonly place: Place; readonly id: string }) {
  const [said, setSaid] = useState('')
  const submit = async (event: Event) => {
    event.preventDefault()
    const field = (event.target as HTMLFormElement).elements[0] as HTMLInputElement
    try {
      const query = new URLSearchParams({ as_of: field.value })
      const { version, isPast } = await ask<CompanyAnswer>(companyPath(id, query))
      setSaid('')
      goTo(toVersion(place, isPast ? version : undefined))
    } catch (error) {
      setSaid(error instanceof Failure ? `${error.message}.` : String(error))
    }
  }
  return html`<form class="day-form" onSubmit=${submit}>
    <label>${texts.timeDay} <input type="date" required /></label>
    <button type="submit">${texts.timeGo}</button>
    <span class="hint" role="status">${said}</span></form>`
}
