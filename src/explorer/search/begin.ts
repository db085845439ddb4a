// The first page: a field for a name or number, and the companies that were opened before. The
// words are in the address, so that Back returns to their results.

import { useEffect } from 'preact/hooks'
import { html } from '../html.ts'
import { goTo, type Place, withQuery } from '../place.ts'
import { useRecentCompanies } from './recent.ts'
import { CompanyLinks, SearchField } from './search.ts'
import { texts } from '../texts.ts'

export function BeginPage({ place }: { readonly place: Place }) {
  useEffect(() => {
    document.title = `${texts.welcome} · ${texts.product}`
  }, [])
  const lookFor = (words: string) => {
    const query = withQuery(place.query, { q: words === '' ? undefined : words })
    goTo({ ...place, query }, { isReplacing: true })
  }
  const recent = useRecentCompanies()
  return html`<div class="welcome">
    <h1>${texts.welcome}</h1>
    <${SearchField} given=${place.query.get('q') ?? ''} onWords=${lookFor} />
    ${
      recent.length > 0 &&
      html`<section aria-labelledby="recent">
        <h2 id="recent">${texts.recent}</h2>
        <${CompanyLinks} companies=${recent} />
      </section>`
    }
  </div>`
}
