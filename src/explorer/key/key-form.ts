// The page without a key: what this service is, and a field for the key.

import { useEffect, useRef, useState } from 'preact/hooks'
import type { KeyAnswer } from '../answers.ts'
import { ask, type AskOptions, keyPath, type Wait } from '../api.ts'
import { html, type Shown } from '../html.ts'
import { forgetKey, holdKey, isKeyLike, keyChanged } from './key.ts'
import { sentence, Waiting } from '../notice.ts'
import { texts } from '../texts.ts'

export function KeyPage() {
  return html`<div class="welcome">
    <h1>${texts.welcome}</h1>
    <p class="lead">${texts.about}</p>
    <${KeyForm} />
  </div>`
}

function KeyForm() {
  const [text, setText] = useState('')
  const [isKept, setKept] = useState(false)
  const [fault, setFault] = useState<Shown>()
  const [isBusy, setBusy] = useState(false)
  const [wait, setWait] = useState<Wait>()
  const field = useRef<HTMLInputElement>(null)
  const abort = useRef(new AbortController())
  useEffect(() => {
    document.title = texts.product
    field.current?.focus()
    return () => abort.current.abort()
  }, [])

  const submit = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    const { signal } = abort.current
    const found = await faultOf(text, { signal, onWait: setWait })
    // An address may have brought another key meanwhile.
    if (signal.aborted) return
    setBusy(false)
    setFault(found)
    if (found !== undefined) return field.current?.focus()
    holdKey(text, isKept)
    dispatchEvent(new Event(keyChanged))
  }

  return html`<form class="card key-form" onSubmit=${submit}>
    <label class="field-label" for="key">${texts.keyTitle}</label>
    <div class="key-row">
      <input id="key" ref=${field} type="password" autocomplete="off" spellcheck=${false}
        autocapitalize="off" value=${text} aria-describedby="key-hint"
        aria-invalid=${fault === undefined ? undefined : 'true'}
        onInput=${(event: InputEvent) => setText((event.target as HTMLInputElement).value)} />
      <button type="submit" class="primary" disabled=${isBusy || text === ''}>${texts.keyUse}
        </button>
    </div>
    <p id="key-hint" class="hint" role="status">${
      fault === undefined ? texts.keyHint : html`<span class="fault">${fault}</span>`
    }</p>
    ${wait !== undefined && html`<${Waiting} ...${wait} />`}
    <label class="choice">
      <input type="checkbox" checked=${isKept} onChange=${() => setKept(!isKept)} />
      <span>${texts.keyKeep}<small>${texts.keyKeepHint}</small></span>
    </label>
  </form>`
}

/** What is wrong with a key, as a sentence; undefined if the service accepts it. */
async function faultOf(text: string, options: AskOptions): Promise<Shown | undefined> {
  if (!isKeyLike(text)) return texts.keyUnlike
  holdKey(text, false)
  try {
    await ask<KeyAnswer>(keyPath, options)
    return undefined
  } catch (error) {
    if (!options.signal?.aborted) forgetKey()
    return sentence(error)
  }
}
