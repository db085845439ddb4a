// Download and share: the view as a link, as commands, and as a file.

import { useState } from 'preact/hooks'
import type { ListingAnswer } from '../answers.ts'
import { download, urlOf, type Wait } from '../api.ts'
import { formatCount } from '../format.ts'
import { html, type Shown } from '../html.ts'
import { isOfPast, listingPath, pageQuery } from './listing-query.ts'
import { Menu } from '../menu.ts'
import { Said, Waiting } from '../notice.ts'
import { addressOf, parsePlace, withQuery } from '../place.ts'
import { printCompany } from './print-view.ts'
import type { ResourceDescription } from '../resources.ts'
import { texts } from '../texts.ts'

/** A listing that can be downloaded as it is shown. */
interface Downloadable {
  readonly query: URLSearchParams
  readonly id: string
  readonly resource: ResourceDescription
  readonly answer: ListingAnswer
}

interface TakeProps {
  /** The path of the API for what is shown. */
  readonly path: string
  /** The version of what is shown. */
  readonly version: number | undefined
  readonly listing?: Downloadable | undefined
  /** Whether the key may see the company, which can then be printed. */
  readonly isPrintable?: boolean
}

export function Take(props: TakeProps) {
  // A download continues when the menu closes.
  const [said, setSaid] = useState<Saying['said']>({})
  const onSay: Saying['onSay'] = (path, line) => setSaid((last) => ({ ...last, [path]: line }))
  return html`<${Menu} className="take" label=${texts.take}>${() => html`
    <${Ways} ...${props} said=${said} onSay=${onSay} />`}<//>`
}

/** A download that is running or has failed. */
interface Line {
  /** The name of what is downloaded. */
  readonly what: string
  readonly shown: Shown
  readonly isRunning: boolean
}

/** The messages about downloads, by path; undefined for a complete one. */
interface Saying {
  readonly said: Readonly<Record<string, Line | undefined>>
  readonly onSay: (path: string, line: Line | undefined) => void
}

function Ways({ path, version, listing, isPrintable = true, said, onSay }: TakeProps & Saying) {
  const [isFixed, setFixed] = useState(false)
  const place = parsePlace(location.hash)
  const url = urlOf(path)
  const names = isOfPast(url.searchParams)
  const fixed = isFixed && !names && version !== undefined ? { version: String(version) } : {}
  for (const [name, value] of Object.entries(fixed)) url.searchParams.set(name, value)
  const hash = addressOf({ ...place, query: withQuery(place.query, fixed) })
  const link = new URL(hash, location.href).href
  // By its text, so that another one does not count as copied.
  const copy = (label: string, text: string, hint?: string) =>
    html`<${CopyText} key=${text} label=${label} text=${text} hint=${hint} />`
  return html`
    ${
      !names &&
      version !== undefined &&
      html`<label class="option"><input type="checkbox" checked=${isFixed}
        onChange=${() => setFixed(!isFixed)} /><span>${texts.takeVersion(version)}</span></label>`
    }
    ${
      listing !== undefined &&
      html`<${Downloads} ...${listing} query=${withQuery(listing.query, fixed)} said=${said}
        onSay=${onSay} />`
    }
    ${copy(texts.takeLink, link, texts.takeLinkHint)}
    ${copy(texts.takeCurl, curlOf(url), texts.takeKeyHint)}
    ${copy(texts.takeFetch, fetchOf(url))}
    ${
      isPrintable &&
      html`<button type="button" onClick=${() => printCompany(place)}>${texts.printWhole}</button>`
    }`
}

/** The request as a command for a shell; the key stays in a variable. */
function curlOf(url: URL): string {
  return `curl -H "Authorization: Bearer $KEY" '${url.href.replaceAll("'", '%27')}'`
}

function fetchOf(url: URL): string {
  const headers = '{ authorization: `Bearer ${KEY}` }'
  return [
    `const response = await fetch(${JSON.stringify(url.href)}, {`,
    `  headers: ${headers},`,
    '})',
    'const page = await response.json()',
  ].join('\n')
}

function CopyText({
  label,
  text,
  hint,
}: {
  readonly label: string
  readonly text: string
  readonly hint?: string | undefined
}) {
  const [state, setState] = useState('')
  const copy = async (event: Event) => {
    const field = (event.currentTarget as HTMLElement).parentElement?.querySelector('textarea')
    try {
      await navigator.clipboard.writeText(text)
      setState(texts.copied)
    } catch {
      // Browsers permit the clipboard only to pages of https and of this machine.
      field?.focus()
      field?.select()
      setState(texts.copyFailed)
    }
  }
  return html`<div class="copy">
    <label class="stacked">${label}<textarea readonly rows=${text.includes('\n') ? 4 : 2}
      spellcheck=${false} value=${text}
      onFocus=${(event: FocusEvent) => (event.target as HTMLTextAreaElement).select()}></textarea>
        </label>
    <button type="button" aria-label=${`${texts.copy}: ${label}`} onClick=${copy}>${texts.copy}
      </button>
    <span class="hint" role="status">${state === '' ? hint : state}</span>
  </div>`
}

const formats = ['csv', 'ndjson'] as const
type Format = (typeof formats)[number]

function Downloads({ query: shown, id, resource, answer, said, onSay }: Downloadable & Saying) {
  const rows = answer[resource.name] as readonly unknown[]
  const load = async (what: string, path: string, format: Format) => {
    const say = (text: Shown, isRunning = true) => onSay(path, { what, shown: text, isRunning })
    const onWait = (wait: Wait | undefined) =>
      say(wait === undefined ? texts.downloading : html`<${Waiting} ...${wait} />`)
    onWait(undefined)
    try {
      const content = await download(path, { onWait })
      saveAs(content, `${resource.name}-${id.replace(/[^\w-]/g, '-')}.${format}`)
      onSay(path, undefined)
    } catch (error) {
      say(html`${texts.downloadFailed}<${Said} error=${error} />`, false)
    }
  }
  const button = (label: string, format: Format, isAll: boolean) => {
    const what = `${format.toUpperCase()}: ${label}`
    const all = isAll ? { limit: 'all', page: undefined } : {}
    const path = listingPath(id, resource, withQuery(pageQuery(shown), { format, ...all }))
    const isOff = said[path]?.isRunning === true
    return html`<button type="button" aria-label=${`${texts.download} ${what}`}
      aria-disabled=${isOff} onClick=${() => isOff || load(what, path, format)}>
      ${format.toUpperCase()}</button>`
  }
  const row = (
    label: string,
    isAll: boolean,
  ) => html`<div class="row download"><span>${label}</span>
    ${formats.map((format) => button(label, format, isAll))}</div>`
  return html`<div class="downloads"><p class="field-label">${texts.download}</p>
    ${row(texts.downloadPage(formatCount(rows.length)), false)}
    ${row(texts.downloadAll(formatCount(answer.pagination_total)), true)}
    <div class="hint" role="status">${Object.entries(said).map(
      ([path, line]) => line && html`<div key=${path}>${line.what}. ${line.shown}</div>`,
    )}</div></div>`
}

function saveAs(content: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  // The browser reads the content after the click.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
