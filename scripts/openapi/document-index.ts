// The index of the documents for agents, in the form of llmstxt.org.

import type { Resource } from '../../src/resources/resource.ts'
import { describedOf } from './operations.ts'

// The form has one line of quotation.
const summary =
  'A read-only service of company registry data: companies by number and name, a company as a ' +
  'whole, and listings of its records, page by page, as they are and as they were.'

/**
 * The index of the documents, and the endpoints in a line each. The service puts its address before
 * the paths of the links.
 */
export function documentIndex(resources: readonly Resource[]): string {
  const lines = describedOf(resources).map(({ path, operation: { tag, id, summary } }) => {
    return `- [GET ${path}](/docs#/${tag}/${id}): ${summary}`
  })
  return `# Dossier

> ${summary}

Every request under \`/api/\` needs a key: \`Authorization: Bearer <API_KEY>\`. Without a valid one,
every answer is the same 403.

## Documents

- [Client's guide](/docs/client.md): the whole API, with examples
- [OpenAPI 3.1](/openapi.json): endpoints, parameters, schemas
- [Reference](/docs): a page for trying requests

## Endpoints

${lines.join('\n')}
`
}
