// Back and Forward lead to where the reader was. Browsers restore the position before the answers
// arrive, when the page is not yet high enough.

import { moved } from './place.ts'

/** Where the user was, in pixels; undefined as soon as they scroll, type or click. */
let wanted: number | undefined

/** Whether the page is held where the user was. */
export const isRestoring = (): boolean => wanted !== undefined

/** Notes the position of each place in the browser's history, and restores it. */
export function restoreScroll(): void {
  history.scrollRestoration = 'manual'
  const note = () => {
    if (wanted === undefined) history.replaceState({ y: scrollY }, '')
  }
  const restore = () => {
    if (wanted !== undefined) scrollTo(0, wanted)
  }
  const arrive = () => {
    wanted = (history.state as { readonly y: number } | null)?.y
    note()
    restore()
  }
  const leave = () => {
    wanted = undefined
  }
  addEventListener('popstate', arrive)
  for (const name of [moved, 'wheel', 'touchmove', 'pointerdown', 'keydown'])
    addEventListener(name, leave, { capture: true, passive: true })
  // A click may lead away before the event of the last scroll.
  for (const name of ['scrollend', 'click']) addEventListener(name, note, { capture: true })
  new ResizeObserver(restore).observe(document.body)
  arrive()
}
