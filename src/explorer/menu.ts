// A button that opens a panel: closed by Escape, by a click elsewhere, and when the focus leaves.

import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { html, type Shown } from './html.ts'

interface MenuProps {
  readonly label: Shown
  /** Whether something is set in the panel. */
  readonly isOn?: boolean
  readonly className?: string
  readonly children: (close: () => void) => Shown
}

export function Menu({ label, isOn = false, className = '', children }: MenuProps) {
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  const root = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  // At once: an effect that waits for the next frame may come when the panel is about to close.
  useLayoutEffect(() => {
    if (!isOpen) return undefined
    root.current?.querySelector<HTMLElement>('.panel input, .panel button, .panel a')?.focus()
    const outside = (event: Event) => {
      if (!root.current?.contains(event.target as Node)) setOpen(false)
    }
    document.addEventListener('pointerdown', outside)
    return () => document.removeEventListener('pointerdown', outside)
  }, [isOpen])
  const close = () => {
    setOpen(false)
    button.current?.focus()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && isOpen) close()
  }
  const onFocusOut = (event: FocusEvent) => {
    const to = event.relatedTarget as Node | null
    if (to !== null && !root.current?.contains(to)) setOpen(false)
  }
  return html`<div ref=${root} class=${`menu ${className}`} onKeyDown=${onKeyDown}
    onFocusOut=${onFocusOut}>
    <button ref=${button} type="button" class=${isOn ? 'opener on' : 'opener'}
      aria-expanded=${isOpen}
      aria-controls=${isOpen ? id : undefined} onClick=${() => setOpen(!isOpen)}>${label}<svg
        class="caret"
      viewBox="0 0 10 6" width="10" height="6" aria-hidden="true"><path d="M1 1l4 4 4-4" /></svg>
        </button>
    ${isOpen && html`<div class="panel" id=${id}>${children(close)}</div>`}
  </div>`
}
