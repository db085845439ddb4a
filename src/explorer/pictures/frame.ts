// The frame of every picture: a sentence on what it shows, the picture, a line that describes the
// thing at the pointer, and the data as a table.

import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { formatCount } from '../format.ts'
import { html, type Shown } from '../html.ts'
import { Scroller } from '../listing/scroller.ts'
import { texts } from '../texts.ts'

export interface Figures {
  readonly head: readonly string[]
  /** Texts, or numbers to be compared. */
  readonly rows: readonly (readonly (string | number)[])[]
}

interface FrameProps {
  readonly title: string
  readonly says: string
  /** What is at the pointer. */
  readonly readout?: Shown
  readonly controls?: Shown
  readonly figures?: Figures | undefined
  /** Whether it may be higher than its frame, and scrolls. */
  readonly isLong?: boolean
  /** Arrow keys and Enter, when the picture has the focus. */
  readonly onKeyDown?: (event: KeyboardEvent) => void
  /** Draws it in a given width; undefined if there is nothing to draw. */
  readonly children?: (width: number) => Shown
}

export function Frame(props: FrameProps) {
  const { title, says, readout, controls, figures, isLong = false, onKeyDown, children } = props
  const [width, plot] = useWidth()
  const id = useId()
  return html`<figure class="card picture" aria-labelledby=${id}>
    <div class="row picture-head"><h2 id=${id}>${title}</h2><div class="row">${controls}</div></div>
    <p class="picture-says">${says}</p>
    ${
      children !== undefined &&
      html`<div ref=${plot} class=${isLong ? 'plot long' : 'plot'} tabindex="0" role="group"
        aria-label=${`${title}. ${texts.pictureKeys}`} onKeyDown=${onKeyDown}>
        ${width > 0 && children(width)}</div>`
    }
    ${readout !== undefined && html`<div class="readout" role="status">${readout}</div>`}
    ${figures !== undefined && html`<${FiguresTable} title=${title} figures=${figures} />`}
  </figure>`
}

interface FiguresProps {
  readonly title: string
  readonly figures: Figures
}

function FiguresTable({ title, figures: { head, rows } }: FiguresProps) {
  const [isOpen, setOpen] = useState(false)
  const onToggle = (event: Event) => setOpen((event.target as HTMLDetailsElement).open)
  const classOf = (n: number) => (typeof rows[0]?.[n] === 'number' ? 'number' : '')
  const table =
    () => html`<${Scroller} className="figures" label=${`${title}: ${texts.pictureData}`}><table>
      <thead><tr>${head.map(
        (cell, n) => html`<th key=${n} scope="col" class=${classOf(n)}>${cell}</th>`,
      )}</tr></thead>
      <tbody>${rows.map(
        ([first, ...cells], n) => html`<tr key=${n}><th scope="row"><bdi>${first}</bdi></th>
          ${cells.map(
            (cell, at) =>
              html`<td key=${at} class=${classOf(at + 1)}><bdi>${
                typeof cell === 'number' ? formatCount(cell) : cell
              }</bdi></td>`,
          )}</tr>`,
      )}</tbody></table><//>`
  return html`<details onToggle=${onToggle}><summary>${texts.pictureData}</summary>
    ${isOpen && table()}</details>`
}

/** The width of an element in CSS pixels, known before it is first painted. */
function useWidth() {
  const [width, setWidth] = useState(0)
  const element = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const { current } = element
    if (current === null) return undefined
    const observer = new ResizeObserver(() => setWidth(current.clientWidth))
    observer.observe(current)
    setWidth(current.clientWidth)
    return () => observer.disconnect()
  }, [])
  return [width, element] as const
}

/** Does work when a pointer leaves; a finger does so after each tap, which must not undo that. */
export const whenLeft = (work: () => void) => (event: PointerEvent) => {
  if (event.pointerType !== 'touch') work()
}

/** Where a pointer is, in the pixels of the picture. */
export function pointIn(event: MouseEvent): { readonly x: number; readonly y: number } {
  const box = (event.currentTarget as Element).getBoundingClientRect()
  return { x: event.clientX - box.left, y: event.clientY - box.top }
}
