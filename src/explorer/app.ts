// The whole page: its frame and, in it, what the address and the key select.

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { BeginPage } from './search/begin.ts'
import { CompanyPage } from './company/company.ts'
import { html } from './html.ts'
import { heldKey, isKeptInTab, keyChanged } from './key/key.ts'
import { KeyPage } from './key/key-form.ts'
import { forgetEverywhere, keepKey } from './key/key-sharing.ts'
import { type Place, usePlace } from './place.ts'
import { isRestoring } from './scroll.ts'
import { SearchField } from './search/search.ts'
import { texts } from './texts.ts'
import { useEvent } from './use-event.ts'
import { type KnownStates, StatesContext } from './versions/states.ts'
import { useVersions } from './versions/versions.ts'

/** The key in use; the component is rendered again when it changes. */
function useKey(): string | undefined {
  const [{ key }, setState] = useState(() => ({ key: heldKey() }))
  // A new object each time, since the page also shows whether the key is kept.
  useEvent(keyChanged, () => setState({ key: heldKey() }))
  return key
}

export function App() {
  const place = usePlace()
  const key = useKey()
  const toMain = (event: Event) => {
    event.preventDefault()
    document.getElementById('main')?.focus()
  }
  useTopOnArrival(place)
  // Before a part of the page takes the focus as it appears.
  useLayoutEffect(keepFocus, [])
  const isCompany = key !== undefined && place.company !== undefined
  return html`
    <a class="skip" href="#main" onClick=${toMain}>${texts.skip}</a>
    <header class="row masthead">
      <a class="brand" href="#/"><${Mark} />${texts.product}</a>
      ${isCompany && html`<${SearchField} isCompact />`}
      <nav class="row masthead-links" aria-label=${texts.product}>
        <a href="docs/guide">${texts.guide}</a>
        <a href="docs">${texts.reference}</a>
        ${
          key !== undefined &&
          html`${
            !isKeptInTab() &&
            html`<button type="button" class="plain" title=${texts.keyKeepHint}
              onClick=${keepKey}>${texts.keepKey}</button>`
          }<button type="button" class="plain" onClick=${forgetEverywhere}>
            ${texts.forgetKey}</button>`
        }
      </nav>
    </header>
    <main id="main" tabindex="-1">
      ${key === undefined ? html`<${KeyPage} />` : html`<${Content} place=${place} key=${key} />`}
    </main>
  `
}

function useTopOnArrival({ company }: Place): void {
  const last = useRef(company)
  useEffect(() => {
    if (last.current === company) return
    last.current = company
    if (!isRestoring()) scrollTo(0, 0)
  }, [company])
}

/** Moves the focus to the surrounding part of the page when the element that has it is removed. */
function keepFocus(): () => void {
  let path: readonly EventTarget[] = []
  const note = (event: Event) => {
    path = event.composedPath()
  }
  const observer = new MutationObserver(() => {
    const [last, ...around] = path.filter((one) => one instanceof HTMLElement)
    if (last === undefined || last.isConnected || document.activeElement !== document.body) return
    const part = around.find((one) => one.isConnected && one.matches('[tabindex="-1"]'))
    const next = part ?? document.getElementById('main')
    next?.focus({ preventScroll: true })
  })
  observer.observe(document.body, { childList: true, subtree: true })
  addEventListener('focusin', note)
  return () => {
    observer.disconnect()
    removeEventListener('focusin', note)
  }
}

function Content({ place }: { readonly place: Place }) {
  const { company } = place
  // Asked for once, whichever companies are shown.
  const registry = useVersions(company !== undefined)
  const [states] = useState<KnownStates>(() => new Map())
  if (company === undefined) return html`<${BeginPage} place=${place} />`
  return html`<${StatesContext.Provider} value=${states}><${CompanyPage} key=${company}
    place=${place} company=${company} registry=${registry} /><//>`
}

function Mark() {
  return html`<svg class="mark" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
    <path d="M3 2.5h8.5L17 8v9.5H3z" /><path class="fold" d="M6 10h8M6 13.5h5" />
  </svg>`
}
