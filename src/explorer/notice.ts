// Failures and waits as sentences, with what to do.

import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { type Failure, failureFrom, type Wait } from './api.ts'
import { formatMoment } from './format.ts'
import { html, type Shown } from './html.ts'
import { forgetKey } from './key/key.ts'
import { versionQuery } from './listing/listing-query.ts'
import { addressOf, parsePlace } from './place.ts'
import { texts } from './texts.ts'
import type { Loaded } from './use-answer.ts'

/** What is wrong with an answer, if anything. */
export function Notice({ loaded }: { readonly loaded: Loaded<{ readonly at?: number }> }) {
  const { failure, wait, value, retry, isLoading } = loaded
  if (wait !== undefined) return html`<${Waiting} ...${wait} />`
  if (failure === undefined) return null
  if (failure.kind === 'offline') return html`<${Offline} at=${value?.at} isLoading=${isLoading} />`
  return html`<div class="row notice" role="alert"><${Said} error=${failure}>
    ${failure.kind === 'fault' && html`<${Again} isLoading=${isLoading} onClick=${retry} />`}
      <//></div>`
}

/** The notices that the service cannot be reached. Only the first is shown, for all of them. */
const offline = new Set<() => void>()

interface OfflineProps {
  /** When the content that is still shown was loaded. */
  readonly at: number | undefined
  readonly isLoading: boolean
}

function Offline({ at, isLoading }: OfflineProps) {
  const [isFirst, setFirst] = useState(false)
  useLayoutEffect(() => {
    const update = () => setFirst([...offline][0] === update)
    offline.add(update)
    update()
    return () => {
      offline.delete(update)
      for (const other of offline) other()
    }
  }, [])
  if (!isFirst) return null
  const text = at === undefined ? texts.offlineNothing : texts.offlineKept(formatMoment(at))
  const retryAll = () => dispatchEvent(new Event('online'))
  return html`<div class="row notice" role="status"><p>${text}</p>
    <${Again} isLoading=${isLoading} onClick=${retryAll} /></div>`
}

interface AgainProps {
  readonly isLoading: boolean
  readonly onClick: () => void
}

function Again({ isLoading, onClick }: AgainProps) {
  return html`<button type="button" aria-disabled=${isLoading}
    onClick=${() => isLoading || onClick()}>${texts.tryAgain}</button>`
}

interface SaidProps {
  readonly error: unknown
  /** What else can be done. */
  readonly children?: ComponentChildren
}

/** A failure in words, with the way out of it. */
export function Said({ error, children }: SaidProps) {
  return html`<p>${sentence(error)}</p>
    <div class="row">${children}<${Exit} kind=${failureFrom(error).kind} /></div>`
}

/** Reserves the space of what is loading, and says so if that takes long. */
export function Loading() {
  return html`<div class="waiting" role="status"><span class="hint">${texts.loading}</span></div>`
}

/** A failure in words; anything else that is thrown is a fault. */
export function sentence(error: unknown): Shown {
  const { kind, message } = failureFrom(error)
  const detail = html`<span class="detail">${message}</span>`
  const said = {
    key: texts.keyRefused,
    scope: texts.forbidden,
    missing: message === '' ? texts.missing : message,
    gone: html`${texts.gone} ${detail}`,
    invalid: html`${texts.invalid} ${detail}`,
    offline: texts.offline,
    fault: texts.fault,
  }
  return said[kind]
}

/** The way out of a failure. */
function Exit({ kind }: Pick<Failure, 'kind'>) {
  if (kind === 'key' || kind === 'scope')
    return html`<button type="button" onClick=${forgetKey}>${texts.otherKey}</button>`
  if (kind === 'offline' || kind === 'fault') return null
  const { company, view, query } = parsePlace(location.hash)
  if (query.size === 0) return html`<a class="button" href="#/">${texts.toStart}</a>`
  // The version is kept unless it is all that the address asks for.
  const version = versionQuery(query)
  const rest = version.size < query.size ? version : new URLSearchParams()
  const address = addressOf({ company, view, query: rest })
  return html`<a class="button" href=${address}>${texts.reset}</a>`
}

/** That a request waits, and for how long. */
export function Waiting({ until, isBusy }: Wait) {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [])
  const seconds = Math.max(1, Math.ceil((until - now) / 1_000))
  // Screen readers would read out each second.
  return html`<div class="row notice" role="status"><p>${isBusy ? texts.waitBusy : texts.wait}<span
    aria-hidden="true">${texts.inSeconds(seconds)}</span>.</p></div>`
}
