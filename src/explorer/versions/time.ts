// Looking back: a slider over the versions that changed the company, a field for a day, and the
// version that is shown.

import { useEffect, useRef, useState } from 'preact/hooks'
import type { Company, CompanyAnswer, Version } from '../answers.ts'
import { ask, type Wait } from '../api.ts'
import { DayInput } from '../day-input.ts'
import { html, type Shown } from '../html.ts'
import { companyPath, isOfPast, listingPath, versionNames } from '../listing/listing-query.ts'
import { Notice, sentence, Waiting } from '../notice.ts'
import { addressOf, differences, goTo, parsePlace, type Place, withQuery } from '../place.ts'
import { resourceNamed } from '../resources.ts'
import { type States, useStates } from './states.ts'
import { StepButton } from '../step-button.ts'
import { texts } from '../texts.ts'
import { daysOf, describeVersion, lastTouch, versionAt } from './versions.ts'

/** How long the slider rests before its version is shown, in milliseconds. */
const restMs = 200

interface TimeProps {
  readonly place: Place
  readonly id: string
  readonly versions: readonly Version[] | undefined
  /** The first version that is kept. */
  readonly earliest: number
  /** The company at the version that is shown, and at present. */
  readonly company: Company | undefined
  readonly now: Company | undefined
  /** The version of the answer that is shown. */
  readonly shown: number | undefined
  /** Whether the company must not be shown. */
  readonly isHidden: boolean
}

export function TimeBar(props: TimeProps) {
  const { place, id, versions, earliest, company, now, shown, isHidden } = props
  const [isAsked, setAsked] = useState(false)
  const isPast = isOfPast(place.query)
  const present = now ?? company
  // A company that is not known has no past to show.
  const isOpen = isAsked && present !== undefined
  const last = versions?.at(-1)
  // While the company at a version of the past is loading, the slider is at the present.
  const state = company ?? now
  const touched = state === undefined ? 0 : lastTouch(state)
  const states = useStates(id, { now: present, shown: touched, earliest }, isOpen)
  if (versions === undefined || last === undefined)
    return html`<div class="row time" aria-hidden="true"></div>`
  // Until it is loaded, the button is shown, so that nothing below moves.
  const open =
    (present !== undefined || !isHidden) &&
    html`<button type="button" class="plain" onClick=${() => setAsked(true)}>
    ${isPast ? texts.timeOthers : texts.timeLook}</button>`
  if (!isPast && !isOpen) {
    return html`<div class="row time"><p>
      ${texts.timeNow} · ${texts.timeVersion(last.version)}, ${daysOf(last)}</p>${open}</div>`
  }
  const from = isPast ? shown : Math.max(earliest, (touched || last.version) - 1)
  return html`<section class=${`row time open ${isPast ? 'past' : ''}`} aria-label=${texts.time}>
    <div class="time-where">
      ${isPast && html`<p class="past-says"><${Past} versions=${versions} shown=${shown} /></p>`}
      ${
        isOpen &&
        html`<${Slider} versions=${versions} states=${states} touched=${touched}
            earliest=${earliest} />
          <${DayForm} id=${id} />`
      }
    </div>
    <div class="row">
      ${!isOpen && open}
      ${
        isPast &&
        html`<a class="button" href=${addressOf(toVersion(place, undefined))}
        onClick=${() => setAsked(false)}>${texts.timeBack}</a>`
      }
      ${
        from !== undefined &&
        from < last.version &&
        html`<a class="button" href=${addressOf(comparison(place, from, last.version))}>
          ${isPast ? texts.timeDiffer : texts.between}</a>`
      }
      ${
        !isPast &&
        html`<button type="button" class="plain" onClick=${() => setAsked(false)}>
        ${texts.timeHide}</button>`
      }
    </div>
  </section>`
}

/** Which version of the past is shown. */
function Past({
  versions,
  shown,
}: {
  readonly versions: readonly Version[]
  readonly shown: number | undefined
}) {
  if (shown === undefined) return texts.timePastUnknown
  const version = versionAt(versions, shown)
  const says = shown === versions.at(-1)?.version ? texts.timeNewest : texts.timePast
  return html`${says} <strong>${texts.timeVersion(shown)}</strong>${
    version !== undefined && `, ${daysOf(version)}`
  }`
}

/** The comparison of two versions. */
function comparison({ company }: Place, from: number, to: number): Place {
  const query = new URLSearchParams({ from: String(from), to: String(to) })
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
  readonly versions: readonly Version[]
  readonly states: States
  /** The version that made the state shown. */
  readonly touched: number
  /** The first version that is kept. */
  readonly earliest: number
}

function Slider({ versions, states, touched, earliest }: SliderProps) {
  const { numbers, hasMore, loaded, loadMore } = states
  const at = Math.max(0, numbers.indexOf(touched))
  const [chosen, setChosen] = useState(touched)
  // The version that was last put into the address, and the timer for the next one.
  const sent = useRef(touched)
  const waiting = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => {
    // A version that arrives must not move back the slider if the reader has moved it on.
    if (waiting.current !== undefined) return
    sent.current = touched
    setChosen(touched)
  }, [touched])
  useEffect(() => {
    if (chosen === sent.current) return undefined
    waiting.current = setTimeout(() => {
      waiting.current = undefined
      sent.current = chosen
      const isLast = chosen === numbers.at(-1)
      // Readers may have gone to another tab meanwhile.
      const here = parsePlace(location.hash)
      const version = isLast ? undefined : Math.max(earliest, chosen)
      goTo(toVersion(here, version), { isReplacing: true })
    }, restMs)
    return () => {
      clearTimeout(waiting.current)
      waiting.current = undefined
    }
  }, [chosen])
  const notice = html`<${Notice} loaded=${loaded} />`
  if (numbers.length < 2 && (loaded.failure !== undefined || loaded.wait !== undefined))
    return notice
  if (loaded.isLoading && numbers.length < 2)
    return html`<p class="slider-says" role="status">${texts.loading}</p>`
  const found = numbers.indexOf(chosen)
  const index = found === -1 ? at : found
  const number = numbers[index] ?? touched
  const version = versionAt(versions, number)
  const about = version?.version === number ? describeVersion(version) : texts.timeVersion(number)
  if (numbers.length === 1 && !hasMore)
    return html`<p class="slider-says">${texts.timeOne} ${about}</p>`
  const step = (to: number, label: string, path: string) => html`<${StepButton} label=${label}
    path=${path} isOff=${numbers[to] === undefined}
    onStep=${() => setChosen(numbers[to] ?? number)} />`
  return html`${notice}<div class="slider">
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

/** Opens the company as the extracts of a day had it. */
function DayForm({ id }: { readonly id: string }) {
  const [said, setSaid] = useState<Shown>('')
  const abort = useRef(new AbortController())
  useEffect(() => () => abort.current.abort(), [])
  const submit = async (event: Event) => {
    event.preventDefault()
    const field = (event.target as HTMLFormElement).elements[0] as HTMLInputElement
    abort.current.abort()
    abort.current = new AbortController()
    const { signal } = abort.current
    try {
      const query = new URLSearchParams({ as_of: field.value })
      const onWait = (wait: Wait | undefined) =>
        setSaid(wait ? html`<${Waiting} ...${wait} />` : '')
      const options = { signal, onWait }
      const shown = resourceNamed(parsePlace(location.hash).view)
      // If nothing is known of the listing for that day, an empty one would read as "had none".
      if (shown !== undefined)
        await ask(listingPath(id, shown, withQuery(query, { limit: '1' })), options)
      const { version, isPast } = await ask<CompanyAnswer>(companyPath(id, query), options)
      setSaid('')
      goTo(toVersion(parsePlace(location.hash), isPast ? version : undefined))
    } catch (error) {
      if (signal.aborted) return
      setSaid(sentence(error))
    }
  }
  return html`<form class="row day-form" onSubmit=${submit}>
    <label>${texts.timeDay} <${DayInput} required /></label>
    <button type="submit">${texts.timeGo}</button>
    <div class="hint" role="status">${said}</div></form>`
}
