// How a past listing differs from now, to be marked in its table.

import { useState } from 'preact/hooks'
import type { ListingSummary } from '../answers.ts'
import { type Differences, differencesOf, noDifferences } from '../versions/differences.ts'
import { formatCount } from '../format.ts'
import { html } from '../html.ts'
import { versionQuery } from './listing-query.ts'
import { comparedMax, loadAll, loadedMax } from './load-all.ts'
import { Notice } from '../notice.ts'
import type { ResourceDescription } from '../resources.ts'
import { texts } from '../texts.ts'
import { type Loaded, useWork, type Work } from '../use-answer.ts'

/** A listing at the version that is shown, and at present; undefined until both are known. */
interface Summaries {
  readonly listing?: ListingSummary | undefined
  readonly now?: ListingSummary | undefined
}

interface Marks {
  readonly differences: Differences
  /** The number of records, if they are too many to compare unasked. */
  readonly tooMany: number | undefined
}

/** The marks of a listing, and a function that compares long listings, too. */
interface UsedMarks extends Loaded<Marks> {
  readonly compare: () => void
}

/** How a past listing differs from now; nothing for the present. */
export function useMarks(
  id: string,
  resource: ResourceDescription,
  query: URLSearchParams,
  { listing, now }: Summaries,
): UsedMarks {
  const version = versionQuery(query)
  const text = version.toString()
  const [asked, setAsked] = useState('')
  const isSame = listing !== undefined && listing.version === now?.version
  const count = Math.max(listing?.total ?? 0, now?.total ?? 0)
  const name =
    text === '' || listing === undefined || now === undefined
      ? undefined
      : `${id} ${resource.name} ${text} ${listing.version} ${now.version}`
  const isTooLong = !isSame && count > (asked === name ? loadedMax : comparedMax)
  const work: Work<Marks> = async (signal, onWait) => {
    const tooMany = isTooLong ? count : undefined
    if (isSame || isTooLong) return { differences: noDifferences, tooMany }
    const options = { signal, onWait }
    const then = await loadAll(id, resource, version, options)
    const present = await loadAll(id, resource, new URLSearchParams(), options)
    return { differences: differencesOf(then.rows, present.rows), tooMany }
  }
  const loaded = useWork(name && `${name} ${isTooLong}`, name ?? '', work)
  return { ...loaded, compare: () => setAsked(name ?? '') }
}

export function MarksNote({ marks }: { readonly marks: UsedMarks }) {
  const { value, compare } = marks
  if (value === undefined) return html`<${Notice} loaded=${marks} />`
  const { differences, tooMany } = value
  const { added, removed, changed } = differences
  const sum = added.length + removed.length + changed.length
  const text =
    tooMany !== undefined
      ? texts.timeTooMany(formatCount(tooMany))
      : sum === 0
        ? texts.timeSame
        : texts.timeChanges(changed.length, removed.length, added.length)
  return html`<p class="hint marks-note" role="status">${text}${
    tooMany !== undefined &&
    tooMany <= loadedMax &&
    html` <button type="button" class="plain" onClick=${compare}>${texts.timeCompare}</button>`
  }</p>`
}
