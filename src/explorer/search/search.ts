// Finding a company by its name or number, with results while one types.

import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { CompaniesAnswer, CompanyAnswer, FoundCompany } from '../answers.ts'
import { ask, type AskOptions, Failure } from '../api.ts'
import { formatCount } from '../format.ts'
import { html } from '../html.ts'
import { goTo } from '../place.ts'
import { texts } from '../texts.ts'
import { Notice } from '../notice.ts'
import { type Loaded, useWork, type Work } from '../use-answer.ts'
import { useEvent } from '../use-event.ts'

/** How many companies are shown at first, and after each request for more. */
const shownSteps = [20, 100, 1_000] as const
const pauseMs = 120
/** Longer texts, such as pasted ones, are cut: the service refuses them, if it gets them at all. */
const sentMax = 1_100

interface Found {
  readonly words: string
  readonly companies: readonly FoundCompany[]
  readonly total: number
  /** The service's advice on the words, instead of companies. */
  readonly advice?: string
}

interface SearchProps {
  /** Shows results over the page instead of in it. */
  readonly isCompact?: boolean
  /** The words in the address. */
  readonly given?: string
  /** Called when the reader searches for other words. */
  readonly onWords?: (words: string) => void
}

export function SearchField({ isCompact = false, given = '', onWords }: SearchProps) {
  const [text, setText] = useState(given)
  const [isOpen, setOpen] = useState(true)
  const id = useId()
  const root = useRef<HTMLDivElement>(null)
  const field = useRef<HTMLInputElement>(null)
  const words = useSettled(text.trim())
  const { found, more } = useFound(words)

  useEffect(() => {
    if (!isCompact) field.current?.focus()
  }, [isCompact])
  useSlash(field)
  useEffect(() => {
    if (given !== words) setText(given)
  }, [given])
  useEffect(() => {
    if (given !== words) onWords?.(words)
  }, [words])
  const leave = () => {
    if (isCompact) setText('')
  }
  const enter = useEnter(text.trim(), found, leave)

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') {
      setText('')
      field.current?.focus()
    }
    const isTyped = event.target === field.current && !event.isComposing
    if (event.key === 'Enter' && isTyped) enter(field.current?.value.trim() ?? '')
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') moveFocus(root.current, event)
  }
  const onInput = () => {
    setText(field.current?.value ?? '')
    enter('')
  }
  const onFocusOut = (event: FocusEvent) => {
    if (isCompact && !root.current?.contains(event.relatedTarget as Node)) setOpen(false)
  }
  const onOpen = (event: MouseEvent) => {
    // A Ctrl-click opens another tab; the results stay for the next one.
    if (!event.ctrlKey && !event.metaKey && !event.shiftKey) leave()
  }
  const hasResults = words !== '' && text.trim() !== '' && (isOpen || !isCompact)
  return html`<div ref=${root} class=${isCompact ? 'search compact' : 'search'} role="search"
      onKeyDown=${onKeyDown} onFocusOut=${onFocusOut} onFocusIn=${() => setOpen(true)}>
    <label class=${isCompact ? 'unseen' : 'field-label'} for=${id}>${texts.search}</label>
    <input id=${id} ref=${field} type="search" autocomplete="off" spellcheck=${false} value=${text}
      placeholder=${isCompact ? texts.searchShort : ''}
        aria-describedby=${isCompact ? undefined : `${id}-hint`} onInput=${onInput} />
    ${
      !isCompact &&
      html`<p class="hint" id=${`${id}-hint`}>${texts.searchHint}${' '}
      <span class="keys">${texts.searchKeys}</span></p>`
    }
    ${
      hasResults &&
      html`<div class="results"><${Results} found=${found} words=${words}
        onMore=${more} onOpen=${onOpen} /></div>`
    }
  </div>`
}

/**
 * Opens the company that is the only one found, as soon as it is known, or the one of a number, if
 * the key may not search.
 *
 * @returns a function that takes the words for which Enter was pressed, or none when they change.
 */
function useEnter(words: string, { value, failure }: Loaded<Found>, leave: () => void) {
  const [entered, setEntered] = useState('')
  const isRefused = failure?.kind === 'scope'
  useEffect(() => {
    const isAnswered = isRefused || entered === value?.words
    if (entered === '' || entered !== words || !isAnswered) return
    setEntered('')
    const found = value?.companies.map(({ id }) => String(id)) ?? []
    const [only, ...others] = isRefused ? [words].filter(isNumber) : found
    if (only === undefined || others.length > 0) return
    leave()
    goTo({ company: only, view: undefined, query: new URLSearchParams() })
    document.getElementById('main')?.focus()
  }, [entered, words, value, isRefused])
  return setEntered
}

/** What some words find, and a function that asks for more results. */
function useFound(words: string) {
  const [asked, setAsked] = useState({ words, step: 0 })
  const step = asked.words === words ? asked.step : 0
  const shownMax = shownSteps[step] ?? 0
  const name = words === '' ? undefined : `${shownMax} ${words}`
  const found = useWork(name, 'search', findWork(words, shownMax))
  return { found, more: () => setAsked({ words, step: step + 1 }) }
}

interface ResultsProps {
  readonly found: Loaded<Found>
  readonly words: string
  readonly onMore: () => void
  readonly onOpen: (event: MouseEvent) => void
}

function Results({ found, words, onMore, onOpen }: ResultsProps) {
  const { value, failure } = found
  if (failure?.kind === 'scope') return html`<${Unsearchable} words=${words} onOpen=${onOpen} />`
  const searching = html`<p class="hint late" role="status">${texts.searching}</p>`
  const notice = html`<${Notice} loaded=${found} />`
  if (value === undefined) {
    const isOver = failure !== undefined && failure.kind !== 'offline'
    return isOver ? notice : html`${notice}${searching}`
  }
  const { companies, total, advice } = value
  // The results of the last words remain visible, without a count.
  const isOld = value.words !== words
  const summary =
    advice ??
    (companies.length === 0
      ? texts.foundNone
      : total > companies.length
        ? texts.foundShown(formatCount(companies.length), total)
        : texts.found(total))
  const more = (event: Event) => {
    // The button disappears with the last companies; the focus moves to the companies.
    const list = (event.currentTarget as Element).previousElementSibling
    list?.querySelector<HTMLElement>('li:last-child a')?.focus()
    onMore()
  }
  return html`${notice}
    ${isOld ? searching : html`<p class="hint" role="status">${summary}</p>`}
    ${
      companies.length > 0 &&
      html`<div class=${isOld ? 'stale' : ''}><${CompanyLinks} companies=${companies}
        onOpen=${onOpen} /></div>`
    }
    ${
      total > companies.length &&
      companies.length > 0 &&
      !isOld &&
      html`<button type="button" class="more-companies" onClick=${more}>${texts.foundMore}</button>`
    }`
}

const isId = (words: string) => /^[1-9]\d{0,15}$/.test(words)

/** Whether words may be the ID of a company, or its register number. */
const isNumber = (words: string) => isId(words) || /^[^\s:]+:./.test(words)

/** A key that may not search may still read a company whose number is known. */
function Unsearchable({ words, onOpen }: Pick<ResultsProps, 'words' | 'onOpen'>) {
  return html`<p class="hint" role="alert">${texts.unsearchable}</p>
    ${
      isNumber(words) &&
      html`<ul class="companies"><li><a href=${`#/companies/${encodeURIComponent(words)}`}
        onClick=${onOpen}>${texts.nameless(words)}</a></li></ul>`
    }`
}

/** The key `/` moves the focus to the field, unless something is being typed elsewhere. */
function useSlash(field: { readonly current: HTMLInputElement | null }): void {
  useEvent('keydown', (event) => {
    const isTyped = (event.target as Element).closest('input, select, textarea') !== null
    if (event.key !== '/' || isTyped || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    field.current?.focus()
  })
}

/** Companies to open. */
export function CompanyLinks({
  companies,
  onOpen,
}: {
  readonly companies: readonly FoundCompany[]
  readonly onOpen?: (event: MouseEvent) => void
}) {
  return html`<ul class="companies">${companies.map(
    ({ id, name, jurisdiction, identifier }) => html`<li key=${id}>
      <a href=${`#/companies/${id}`} onClick=${onOpen}>
        <span class="company-name" dir="auto">${name ?? texts.nameless(id)}</span>
        <span class="company-number"><bdi>${jurisdiction ?? ''}</bdi> <bdi>
          ${identifier ?? (name === null ? '' : id)}</bdi></span>
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

/** By words of the name, and by number if the words could be one; matches by number come first. */
function findWork(words: string, shownMax: number): Work<Found> {
  return async (signal, onWait) => {
    const sent = words.slice(0, sentMax)
    const queries = [...numberQueries(sent), new URLSearchParams({ q: sent })]
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
    // Names may have the digits of an ID, too. A company that no register names only has an ID.
    if (isId(words) && !all.some(({ identifier }) => identifier === words))
      all.unshift(...(await companyOf(words, { signal, onWait })))
    const companies = [...new Map(all.map((one) => [one.id, one])).values()]
    const advice = answers.find((answer) => typeof answer === 'string')
    const total = Math.max(companies.length, ...lists.map((list) => list.pagination_total))
    const isAdvised = advice !== undefined && companies.length === 0
    return { words, companies, total, ...(isAdvised ? { advice } : {}) }
  }
}

/** The company with an ID, if there is one. */
async function companyOf(id: string, options: AskOptions): Promise<readonly FoundCompany[]> {
  try {
    return [(await ask<CompanyAnswer>(`companies/${id}`, options)).body.company]
  } catch (error) {
    if (error instanceof Failure && (error.kind === 'missing' || error.kind === 'invalid'))
      return []
    throw error
  }
}

/** Numbers that the words could be: alone, or after their register, as in `GB:09876543`. */
function numberQueries(words: string): URLSearchParams[] {
  if (!/[\p{N}:]/u.test(words)) return []
  // The page itself shows the two with a blank between them, which numbers may have, too.
  const [, jurisdiction = '', number = ''] = /^([^:\s]+)[:\s](.+)$/.exec(words) ?? []
  const identifier = number.trim()
  const registers = new Set([jurisdiction, jurisdiction.toUpperCase()].filter((one) => one !== ''))
  return [
    ...[...registers].map((one) => new URLSearchParams({ identifier, jurisdiction: one })),
    ...(words.includes(':') ? [] : [new URLSearchParams({ identifier: words })]),
  ]
}

/** Arrow keys move through the field and the results. */
function moveFocus(root: HTMLElement | null, event: KeyboardEvent): void {
  const stops = [
    ...(root?.querySelectorAll<HTMLElement>('input, .companies a, .more-companies') ?? []),
  ]
  const at = stops.indexOf(document.activeElement as HTMLElement)
  const to = stops[at + (event.key === 'ArrowDown' ? 1 : -1)]
  if (to === undefined) return
  event.preventDefault()
  to.focus()
}
