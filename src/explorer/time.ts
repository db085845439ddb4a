// Looking back: a slider over the versions of the registry, and what the version shown is.

import { useEffect, useState } from 'preact/hooks'
import type { Version, VersionsAnswer } from './answers.ts'
import { formatMoment, formatTimestamp, labelOf } from './format.ts'
import { html } from './html.ts'
import { versionNames } from './listing-query.ts'
import { addressOf, differences, goTo, type Place, withQuery } from './place.ts'
import { resourceNamed } from './resources.ts'
import { texts } from './texts.ts'
import { useAnswer } from './use-answer.ts'

const versionsMax = 1_000
/** How long the slider rests before its version is shown, in milliseconds. */
const restMs = 200

/** The versions that can still be read, oldest first; undefined until they are known. */
export function useVersions(): readonly Version[] | undefined {
  const { value } = useAnswer<VersionsAnswer>(`versions?limit=${versionsMax}`, 'versions')
  if (value === undefined) return undefined
  const { versions, earliest_version: earliest } = value.body
  return versions.filter(({ version }) => version >= earliest).toReversed()
}

/** What an import brought, such as "Employees from gov". */
export function importOf({ resource, source }: Version): string {
  const known = resourceNamed(resource)
  return texts.timeImport(
    known === undefined ? labelOf(resource) : texts.plural(known.title),
    source,
  )
}

export function momentOf({ committed_at: at }: Version): string {
  return formatMoment(Date.parse(at))
}

interface TimeProps {
  readonly place: Place
  /** The version of the answer that is shown. */
  readonly shown: number | undefined
}

export function TimeBar({ place, shown }: TimeProps) {
  const versions = useVersions()
  const [isOpen, setOpen] = useState(false)
  const last = versions?.at(-1)
  if (versions === undefined || last === undefined)
    return html`<div class="time" aria-hidden="true"></div>`
  const isPast = versionNames.some((name) => place.query.has(name))
  const version = versionOf(versions, isPast ? shown : undefined)
  if (!isPast && !isOpen) {
    return html`<div class="time"><p>
      ${texts.timeNow} · ${texts.timeOf(last.version, momentOf(last))}</p>
      <button type="button" class="plain" onClick=${() => setOpen(true)}>${texts.timeLook}</button>
        </div>`
  }
  return html`<section class=${isPast ? 'time open past' : 'time open'} aria-label=${texts.time}>
    <${Slider} place=${place} versions=${versions} version=${version} />
    <div class="actions">
      ${
        isPast &&
        html`<a class="button" href=${addressOf(toVersion(place, undefined))}
        onClick=${() => setOpen(false)}>${texts.timeBack}</a>`
      }
      ${
        versions.length > 1 &&
        html`<a class="button" href=${addressOf(comparison(place, version, last))}>
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

/** The comparison of a version, or of the last but one, with now. */
function comparison({ company }: Place, { version }: Version, last: Version): Place {
  const earlier = version === last.version ? version - 1 : version
  const query = new URLSearchParams({ from: String(earlier), to: String(last.version) })
  return { company, view: differences, query }
}

/** The version with a number, or the one before it; the last one without a number. */
function versionOf(versions: readonly Version[], number = Infinity): Version {
  const index = versions.findLastIndex(({ version }) => version <= number)
  return versions[Math.max(0, index)] as Version
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
  readonly version: Version
}

function Slider({ place, versions, version }: SliderProps) {
  const at = versions.indexOf(version)
  const [index, setIndex] = useState(at)
  useEffect(() => setIndex(at), [at])
  useEffect(() => {
    if (index === at) return undefined
    const timer = setTimeout(() => {
      const chosen = versions[index]
      const isLast = index === versions.length - 1
      goTo(toVersion(place, isLast ? undefined : chosen?.version), { isReplacing: true })
    }, restMs)
    return () => clearTimeout(timer)
  }, [index])
  const chosen = versions[index] ?? version
  if (versions.length === 1)
    return html`<p>${texts.timeOne} ${texts.timeOf(chosen.version, momentOf(chosen))}</p>`
  const step = (
    to: number,
    label: string,
    path: string,
  ) => html`<button type="button" class="step" aria-label=${label}
    title=${label} disabled=${to < 0 || to >= versions.length} onClick=${() => setIndex(to)}><svg
      viewBox="0 0 16 16"
    width="16" height="16" aria-hidden="true"><path d=${path} /></svg></button>`
  const asOf = chosen.as_of === null ? '' : ` (${formatTimestamp(chosen.as_of)})`
  const about = `${texts.timeOf(chosen.version, momentOf(chosen))} · ${importOf(chosen)}${asOf}`
  return html`<div class="slider">
    ${step(index - 1, texts.timeOlder, 'M10 4L6 8l4 4')}
    <input type="range" min="0" max=${versions.length - 1} value=${index}
      aria-label=${texts.timeSlider}
      aria-valuetext=${about}
        onInput=${(event: InputEvent) => setIndex((event.target as HTMLInputElement).valueAsNumber)}
        />
    ${step(index + 1, texts.timeNewer, 'M6 4l4 4-4 4')}
    <p class="slider-says">${about}</p>
  </div>`
}
