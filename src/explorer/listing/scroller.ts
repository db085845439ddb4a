// A table that may be wider than its container: it scrolls, and says so while there is more.

import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { html } from '../html.ts'
import { isRestoring } from '../scroll.ts'
import { texts } from '../texts.ts'

interface ScrollerProps {
  /** Its name, or the id of the element that has its name. */
  readonly label?: string
  readonly labelledBy?: string
  readonly className?: string
  /** Its content: the table returns to its top when this changes. */
  readonly content?: unknown
  readonly children?: ComponentChildren
}

export function Scroller({ label, labelledBy, className = '', content, children }: ScrollerProps) {
  const [element, { isWide, hasMore }] = useSides()
  useTop(element, content)
  const frame = `scroll-frame${hasMore ? ' more-right' : ''}`
  return html`<div class=${frame}>
    ${isWide && html`<p class="hint scroll-hint">${texts.scrollHint}</p>`}
    <div ref=${element} class=${`scroller ${className}`} tabindex="0" role="region"
      aria-label=${label} aria-labelledby=${labelledBy}>${children}</div>
  </div>`
}

/** Scrolls an element, and the window to it, to its top when its content is replaced. */
function useTop(element: { readonly current: HTMLElement | null }, content: unknown): void {
  const last = useRef(content)
  useEffect(() => {
    const { current } = element
    if (current === null || last.current === content) return
    last.current = content
    current.scrollTo({ top: 0 })
    const { top, height } = current.getBoundingClientRect()
    if (top < 0 && height > innerHeight && !isRestoring()) current.scrollIntoView()
  }, [content])
}

/** Whether an element's content is wider than it is, and whether some of it is beyond its end. */
function useSides() {
  const element = useRef<HTMLDivElement>(null)
  const [sides, setSides] = useState({ isWide: false, hasMore: false })
  // Before the table is first painted, so that the words above it do not push it down.
  useLayoutEffect(() => {
    const { current } = element
    if (current === null) return undefined
    const update = () => {
      const beyond = current.scrollWidth - current.clientWidth
      // A fraction of a pixel is not a column.
      const next = { isWide: beyond > 1, hasMore: beyond - Math.abs(current.scrollLeft) > 1 }
      setSides((last) =>
        last.isWide === next.isWide && last.hasMore === next.hasMore ? last : next,
      )
    }
    update()
    const observer = new ResizeObserver(update)
    observer.observe(current)
    if (current.firstElementChild !== null) observer.observe(current.firstElementChild)
    current.addEventListener('scroll', update, { passive: true })
    return () => {
      observer.disconnect()
      current.removeEventListener('scroll', update)
    }
  }, [])
  return [element, sides] as const
}
