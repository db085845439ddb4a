// Starts the page: takes a key out of the address before anything else sees it, or asks other tabs
// for one, then renders.

import { render } from 'preact'
import { App } from './app.ts'
import { html } from './html.ts'
import { keyChanged, takeKey } from './key/key.ts'
import { askOtherTabs, shareKey } from './key/key-sharing.ts'
import { restoreScroll } from './scroll.ts'

function takeKeyFromAddress(): void {
  const rest = takeKey(location.hash)
  if (rest === location.hash) return
  history.replaceState(null, '', rest)
  dispatchEvent(new Event(keyChanged))
}

takeKeyFromAddress()
// First among the listeners: an address with a key may be pasted into an open tab.
addEventListener('hashchange', takeKeyFromAddress)
shareKey()
restoreScroll()
await askOtherTabs()

const page = document.getElementById('page')
// What is there until all files have arrived.
page?.replaceChildren()
if (page !== null) render(html`<${App} />`, page)
