// Failures and waits as sentences, with what to do.

import { useEffect, useState } from 'preact/hooks'
import { Failure, type Wait } from './api.ts'
import { formatMoment } from './format.ts'
import { html, type Shown } from './html.ts'
import { forgetKey, keyChanged } from './key/key.ts'
import { texts } from './texts.ts'
import type { Loaded } from './use-answer.ts'

/** What is wrong with an answer, if anything. */
export function Notice({ loaded }: { readonly loaded: Loaded<{ readonly at?: number }> }) {
  const { failure, wait, value, retry } = loaded
  if (wait !== undefined) return html`<${Waiting} ...${wait} />`
  if (failure === undefined) return null
  const again = html`<button type="button" onClick=${retry}>${texts.tryAgain}</button>`
  if (failure.kind === 'offline') {
    const { at } = value ?? {}
    const text = at === undefined ? texts.offlineNothing : texts.offlineKept(formatMoment(at))
    return html`<div class="notice" role="status"><p>${text}</p>${again}</div>`
  }
  return html`<div class="notice" role="alert">
    <p>${sentence(failure)}</p>
    <div class="actions">${failure.kind === 'fault' && again}<${Exit} failure=${failure}
      /></div>
  </div>`
}

/** Holds the place of what loads, and says so where that takes long. */
export function Loading() {
  return html`<div class="waiting" role="status"><span class="hint">${texts.loading}</span></div>`
}

/** A failure in words; what else was thrown is a fault. */
export function sentence(error: unknown): Shown {
  const { kind, message } = error instanceof Failure ? error : new Failure('fault')
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
function Exit({ failure }: { readonly failure: Failure }) {
  if (failure.kind === 'key' || failure.kind === 'scope') {
    const forget = () => {
      forgetKey()
      dispatchEvent(new Event(keyChanged))
    }
    return html`<button type="button" onClick=${forget}>${texts.otherKey}</button>`
  }
  if (failure.kind === 'missing') return html`<a class="button" href="#/">${texts.toStart}</a>`
  return null
}

/** That a request waits for its turn, and how long. */
export function Waiting({ until, isBusy }: Wait) {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [])
  const seconds = Math.max(1, Math.ceil((until - now) / 1_000))
  const text = isBusy ? texts.waitBusy(seconds) : texts.wait(seconds)
  return html`<div class="notice" role="status"><p>${text}</p></div>`
}
