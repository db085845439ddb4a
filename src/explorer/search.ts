// Finding a company by its name or number, with results as one types.

import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { CompaniesAnswer, FoundCompany } from './answers.ts'
import { ask, Failure } from './api.ts'
import { formatCount } from './format.ts'
import { html } from './html.ts'
import { goTo } from './place.ts'
import { texts } from './texts.ts'
import { Notice } from './notice.ts'
import { useWork, type Work } from './use-answer.ts'

const shownMax = 20
const pauseMs = 120

interface Found {
  readonly companies: readonly FoundCompany[]
  readonly total: number
  /** What the service says of the words, instead of companies. */
  readonly advice?: string
}

/** @param isCompact shows results over the page instead of in it. */
export function SearchField({ isCompact = false }: { readonly isCompact?: boolean }) {
  const [text, setText] = useState('')
  const [isOpen, setOpen] = useState(true)
  const id = useId()
  const root = useRef<HTMLDivElement>(null)
  const field = useRef<HTMLInputElement>(null)
  const words = useSettled(text.trim())
  const found = useWork(words === '' ? undefined : words, 'search', findWork(words))

  useEffect(() => {
    if (!isCompact) field.current?.focus()
  }, [isCompact])

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') {
      setText('')
      field.current?.focus()
    }
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') moveFocus(root.current, event)
  }
  const onKeyPress = (event: KeyboardEvent) => {
    if (event.key === 'Enter') openOnly(found.value, setText)
  }
  const onFocusOut = (event: FocusEvent) => {
    if (isCompact && !root.current?.contains(event.relatedTarget as Node)) setOpen(false)
  }
  const hasResults = words !== '' && text.trim() !== '' && (isOpen || !isCompact)
  return html`<div ref=${root} class=${isCompact ? 'search compact' : 'search'} role="search"
      onKeyDown=${onKeyDown} onFocusOut=${onFocusOut} onFocusIn=${() => setOpen(true)}>
    <label class=${isCompact ? 'unseen' : 'field-label'} for=${id}>${texts.search}</label>
    <input id=${id} ref=${field} type="search" autocomplete="off" spellcheck=${false} value=${text}
      placeholder=${isCompact ? texts.searchShort : ''}
        aria-describedby=${isCompact ? undefined : `${id}-hint`}
      onInput=${(event: InputEvent) => setText((event.target as HTMLInputElement).value)}
      onKeyPress=${onKeyPress} />
    ${!isCompact && html`<p class="hint" id=${`${id}-hint`}>${texts.searchHint}</p>`}
    ${
      hasResults &&
      html`<div class="results"><${Notice} loaded=${found} />
        <${Results} found=${found.value} onOpen=${() => setText('')} /></div>`
    }
  </div>`
}

function Results({ found, onOpen }: { readonly found?: Found; readonly onOpen: () => void }) {
  if (found === undefined) return html`<p class="hint" role="status">${texts.searching}</p>`
  const { companies, total, advice } = found
  const summary =
    advice ??
    (companies.length === 0
      ? texts.foundNone
      : total > companies.length
        ? texts.foundShown(companies.length, total)
        : texts.found(total))
  return html`<p class="hint" role="status">${summary}</p>
    ${companies.length > 0 && html`<${CompanyLinks} companies=${companies} onOpen=${onOpen} />`}`
}

/** Companies to open. */
export function CompanyLinks({
  companies,
  onOpen,
}: {
  readonly companies: readonly FoundCompany[]
  readonly onOpen?: () => void
}) {
  return html`<ul class="companies">${companies.map(
    ({ id, name, jurisdiction, identifier }) => html`<li key=${id}>
      <a href=${`#/companies/${id}`} onClick=${onOpen}>
        <span class="company-name" dir="auto">${name ?? texts.nameless(id)}</span>
        <span class="company-number"><bdi>${jurisdiction ?? ''}</bdi> <bdi>
          ${identifier ?? formatCount(id)}</bdi></span>
      </a></li>`,
  )}</ul>`
}

/** A text once it has not changed for a moment. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), pauseMs)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}

/** By words of the name, and by number if it could be one; those by number come first. */
function findWork(words: string): Work<Found> {
  return async (signal, onWait) => {
    const queries = [numberQuery(words), new URLSearchParams({ q: words })].filter(
      (query) => query !== undefined,
    )
    const answers = await Promise.all(
      queries.map(async (query) => {
        query.set('limit', String(shownMax))
        try {
          const path = `companies?${query}`
          return (await ask<CompaniesAnswer>(path, { signal, onWait })).body
        } catch (error) {
          if (error instanceof Failure && error.kind === 'invalid') return error.message
          throw error
        }
      }),
    )
    const lists = answers.filter((answer) => typeof answer !== 'string')
    const all = lists.flatMap(({ companies }) => companies)
    const companies = [...new Map(all.map((one) => [one.id, one])).values()]
    const advice = answers.find((answer) => typeof answer === 'string')
    const total = Math.max(companies.length, ...lists.map((list) => list.pagination_total))
    const isAdvised = advice !== undefined && companies.length === 0
    return { companies, total, ...(isAdvised ? { advice: `${advice}.` } : {}) }
  }
}

function numberQuery(words: string): URLSearchParams | undefined {
  if (!/\d/.test(words) || /\s/.test(words)) return undefined
  const [, jurisdiction, identifier] = /^([^:]+):(.+)$/.exec(words) ?? []
  return jurisdiction === undefined || identifier === undefined
    ? new URLSearchParams({ identifier: words })
    : new URLSearchParams({ identifier, jurisdiction })
}

/** Enter opens a company that is the only one found. */
function openOnly(found: Found | undefined, setText: (text: string) => void): void {
  const [only] = found?.companies ?? []
  if (found?.companies.length !== 1 || only === undefined) return
  setText('')
  goTo({ company: String(only.id), view: undefined, query: new URLSearchParams() })
}

/** Arrow keys go through the field and the results. */
function moveFocus(root: HTMLElement | null, event: KeyboardEvent): void {
  const stops = [...(root?.querySelectorAll<HTMLElement>('input, .companies a') ?? [])]
  const at = stops.indexOf(document.activeElement as HTMLElement)
  const to = stops[at + (event.key === 'ArrowDown' ? 1 : -1)]
  if (to === undefined) return
  event.preventDefault()
  to.focus()
}
