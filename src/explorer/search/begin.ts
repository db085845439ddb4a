// The first page: a field for a name or number, and what was opened before.

import { useEffect } from 'preact/hooks'
import { html } from '../html.ts'
import { recentCompanies } from './recent.ts'
import { CompanyLinks, SearchField } from './search.ts'
import { texts } from '../texts.ts'

export function BeginPage() {
  useEffect(() => {
    document.title = `${texts.welcome} · ${texts.product}`
  }, [])
  const recent = recentCompanies()
  return html`<div class="welcome">
    <h1>${texts.welcome}</h1>
    <${SearchField} />
    ${
      recent.length > 0 &&
      html`<section aria-labelledby="recent">
        <h2 id="recent">${texts.recent}</h2>
        <${CompanyLinks} companies=${recent} />
      </section>`
    }
  </div>`
}
