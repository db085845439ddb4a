// The key in other tabs, if the user keeps it for the browser session: a new tab, such as one that
// a Ctrl-click opens, asks the open tabs. Each has the key in its session storage, so the key
// disappears with the last of them.

import { forgetKey, heldKey, holdKey, isKeptInTab, keyChanged } from './key.ts'
import { ifPermitted, ownName } from '../stored.ts'

/** How long a new tab waits for an answer, in milliseconds. */
const answerMsMax = 150

type Message = { readonly asks: true } | { readonly key: string } | { readonly forgets: string }

const channel = ifPermitted(() => new BroadcastChannel(ownName))

/** Answers other tabs from now on, and forgets a kept key when another tab forgets it. */
export function shareKey(): void {
  channel?.addEventListener('message', ({ data }: MessageEvent<Message>) => {
    const key = heldKey()
    if ('asks' in data && key !== undefined && isKeptInTab()) tell({ key })
    if ('key' in data && key === undefined) use(data.key)
    if ('forgets' in data && data.forgets === key && isKeptInTab()) forgetKey()
  })
}

/** Asks other tabs for the key, if there is none. */
export async function askOtherTabs(): Promise<void> {
  if (heldKey() !== undefined || channel === undefined) return
  await new Promise<void>((resolve) => {
    addEventListener(keyChanged, () => resolve(), { once: true })
    setTimeout(resolve, answerMsMax)
    tell({ asks: true })
  })
}

/** Keeps the key that is in use for the browser session. */
export function keepKey(): void {
  const key = heldKey()
  if (key !== undefined) use(key)
}

/** Forgets the key here, and in the tabs that keep it: a reload would take it from them. */
export function forgetEverywhere(): void {
  const key = heldKey()
  if (key !== undefined) tell({ forgets: key })
  forgetKey()
}

function tell(message: Message): void {
  channel?.postMessage(message)
}

function use(key: string): void {
  holdKey(key, true)
  dispatchEvent(new Event(keyChanged))
}
