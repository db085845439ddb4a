// The text that the demo prints when it is ready: where to look, and requests to paste.

import { formatCount } from '../text/format-count.ts'
import {
  companyCount,
  firstEmptyId,
  longHistoryId,
  longHistoryLength,
  longHistoryListing,
  longHistoryName,
  showcaseId,
} from './registry.ts'

/** The values that the banner shows. */
interface BannerFacts {
  readonly db: string
  /** The server's URL, without a trailing slash. */
  readonly url: string
  readonly key: string
}

/** Each request contains the key itself, so that it works in any shell when pasted alone. */
export function banner({ db, url, key }: BannerFacts): string {
  const get = (path: string) =>
    `curl -s -H "Authorization: Bearer ${key}" "${url}/api/v1/companies${path}"; echo`
  const events = `/${longHistoryId}/${longHistoryListing}`
  const requests: readonly (readonly [string, string])[] = [
    ['A company by words of its name', get(`?q=${longHistoryName.toLowerCase()}`)],
    ['That company as a whole: what it is, and what its listings have', get(`/${longHistoryId}`)],
    ['The first 2 of a company’s more than 200 rights', get(`/${showcaseId}/rights?limit=2`)],
    [
      'Page 3 of its employees, 50 per page: the last 40',
      get(`/${showcaseId}/employees?page=3&limit=50`),
    ],
    [
      `The last page of ${formatCount(longHistoryLength)} events, as fast as the first`,
      get(`${events}?page=${longHistoryLength / 5}&limit=5`),
    ],
    ['A company without jobs: an empty list', get(`/${firstEmptyId}/jobs`)],
    ['A company that does not exist: 404', get(`/${companyCount + 1}/jobs`)],
  ]
  return `
Dossier is serving ${db}: ${formatCount(companyCount)} fictitious companies.

  Explorer, to look at a company:  ${url}/#key=${key}/companies/${showcaseId}
  API reference, to try requests:  ${url}/docs
  Guide to the API:                ${url}/docs/guide
  Key, valid for seven days:       ${key}

Requests to paste into another terminal:

${requests.map(([title, command]) => `# ${title}\n${command}\n`).join('\n')}
Your own data:  bin/dossier import --help
Stop:           Ctrl-C
`
}
