// The key: in memory, and by the user's choice in the session storage of tabs. It is never in a
// cookie, in local storage or in an address.

import { decoded } from '../place.ts'
import { forgetStored, readStored, store } from '../stored.ts'

const storedName = 'key'
const keyPattern = /^[\x21-\x7e]{1,200}$/

/** The event for a key that is replaced or forgotten. */
export const keyChanged = 'dossier:key'

let held = readStored(storedName)

/** The key that is in use. */
export function heldKey(): string | undefined {
  return held
}

/** Whether this tab keeps the key until it is closed. */
export function isKeptInTab(): boolean {
  return readStored(storedName) !== undefined
}

/** Uses a key; with `isKept`, a reload of this tab keeps it. */
export function holdKey(key: string, isKept: boolean): void {
  held = key.trim()
  store(storedName, isKept ? held : undefined)
}

/** Forgets the key, and everything that the tab remembers. */
export function forgetKey(): void {
  held = undefined
  forgetStored()
  dispatchEvent(new Event(keyChanged))
}

/** Whether a text could be sent as a key. */
export function isKeyLike(text: string): boolean {
  return keyPattern.test(text.trim())
}

/**
 * Takes a key out of a fragment, such as `#key=dossier_…/companies/1`.
 *
 * @returns the fragment without it.
 */
export function takeKey(fragment: string): string {
  const [, key = '', rest = ''] = /^#?key=([^/&]+)&?(\/.*)?$/.exec(fragment) ?? []
  if (key === '') return fragment
  const text = decoded(key)
  if (isKeyLike(text)) holdKey(text, false)
  return `#${rest === '' ? '/' : rest}`
}
