// Where the user is: everything that a view depends on except the key, kept in the fragment of the
// address in the form of the API's own paths, such as `#/companies/1/…?page=2&version=17`.

import { useEffect, useState } from 'preact/hooks'

export interface Place {
  /** The company, by id or by its register number; undefined on the first page. */
  readonly company: string | undefined
  /** A resource, `differences` or `print`; undefined for the company as a whole. */
  readonly view: string | undefined
  /** In the form of the API's query. */
  readonly query: URLSearchParams
}

/** The view of what differs between two versions. */
export const differences = 'differences'
/** The view of everything, for paper. */
export const printView = 'print'

/**
 * Reads a fragment; anything unknown leads to the first page. What only the API's files have, a
 * format and `limit=all`, is left out: the page shows the same data.
 */
export function parsePlace(fragment: string): Place {
  const [path = '', query = ''] = fragment.replace(/^#/, '').split(/\?(.*)/s)
  const [, root, company, view] = path.split('/')
  const parameters = new URLSearchParams(query)
  parameters.delete('format')
  parameters.delete('limit', 'all')
  const isCompany = root === 'companies' && company !== undefined && company !== ''
  return {
    company: isCompany ? decoded(company) : undefined,
    view: isCompany && view !== '' ? view : undefined,
    query: parameters,
  }
}

export function addressOf({ company, view, query }: Place): string {
  const path =
    company === undefined
      ? '/'
      : `/companies/${encodeURIComponent(company)}${view === undefined ? '' : `/${view}`}`
  const text = query.toString()
  return `#${path}${text === '' ? '' : `?${text}`}`
}

/** The query with some parameters replaced; undefined or an empty list removes one. */
export function withQuery(
  query: URLSearchParams,
  changes: Readonly<Record<string, string | readonly string[] | undefined>>,
): URLSearchParams {
  const next = new URLSearchParams(query)
  for (const [name, value] of Object.entries(changes)) {
    next.delete(name)
    const values = value === undefined ? [] : typeof value === 'string' ? [value] : value
    for (const one of values) next.append(name, one)
  }
  return next
}

/** The event for an address that `goTo` has changed. */
export const moved = 'dossier:moved'

/** Goes to a place; with `isReplacing`, Back leads to the place before the present one. */
export function goTo(place: Place, { isReplacing = false } = {}): void {
  const address = addressOf(place)
  if (isReplacing) history.replaceState(history.state, '', address)
  else if (address !== location.hash) history.pushState({ y: scrollY }, '', address)
  dispatchEvent(new Event(moved))
}

/** The present place; the component is rendered again when it changes. */
export function usePlace(): Place {
  const [place, setPlace] = useState(() => parsePlace(location.hash))
  useEffect(() => {
    const update = () => setPlace(parsePlace(location.hash))
    const names = [moved, 'popstate', 'hashchange']
    for (const name of names) addEventListener(name, update)
    // The address may have changed between the first rendering and now.
    update()
    return () => names.forEach((name) => removeEventListener(name, update))
  }, [])
  return place
}

/** A text of an address as it is meant. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
