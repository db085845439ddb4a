// The client's guide as Markdown, and an index of the documents for agents (llmstxt.org). What
// derives from the code in them is generated here: endpoints, parameters, fields and errors.

import { readFileSync } from 'node:fs'
import type { FieldKind } from '../../resources/field.ts'
import { isNullable } from '../../resources/field.ts'
import type { Resource } from '../../resources/resource.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import { parameters } from '../requests/listing-request.ts'
import { failureComponents } from './components.ts'
import { type Described, describedOf } from './openapi.ts'

/** The guide, with the parts that were generated for the resources of this program. */
const guideFile = new URL('../../../docs/client.md', import.meta.url)

/** The guide for the endpoints and resources of a service. */
export function clientGuide(
  endpoints: readonly Endpoint[],
  resources: readonly Resource[],
): string {
  return regenerate(readFileSync(guideFile, 'utf8'), clientParts(endpoints, resources))
}

// The form has one line of quotation.
const summary =
  'A read-only service of company registry data: companies by number and name, a company as a ' +
  'whole, and listings of its records, page by page, as they are and as they were.'

/**
 * The index of the documents, and the endpoints in a line each, in the form of llmstxt.org.
 *
 * @param base the address of the service, without a path.
 */
export function documentIndex(described: readonly Described[], base: string): string {
  const lines = described.map(({ path, operation: { tag, id, summary } }) => {
    return `- [GET ${path}](${base}/docs#/${tag}/${id}): ${summary}`
  })
  return `# Dossier

> ${summary}

Every request under \`/api/\` needs a key: \`Authorization: Bearer <API_KEY>\`. Without a valid one,
every answer is the same 403.

## Documents

- [Client's guide](${base}/docs/client.md): the whole API, with examples
- [OpenAPI 3.1](${base}/openapi.json): endpoints, parameters, schemas
- [Reference](${base}/docs): a page for trying requests

## Endpoints

${lines.join('\n')}
`
}

/** Makes generated parts, by their names in markers. */
type Parts = Readonly<Record<string, () => string>>

/** The generated parts of the client's guide. */
export function clientParts(endpoints: readonly Endpoint[], resources: readonly Resource[]): Parts {
  return {
    endpoints: () => endpointsTable(describedOf(endpoints, resources)),
    parameters: parametersTable,
    fields: () => resources.map(fieldsTable).join('\n\n'),
    errors: errorsTable,
  }
}

/** The markers around a generated part; its name and an arrow follow the first one. */
const begin = '<!-- generated: '
const end = '<!-- end -->'

/**
 * Replaces the generated parts of a guide's text.
 *
 * @throws Error for a marker that names an unknown part.
 */
export function regenerate(text: string, parts: Parts): string {
  const [first = '', ...marked] = text.split(begin)
  const fresh = marked.map((rest) => {
    const name = rest.slice(0, rest.indexOf(' '))
    const part = parts[name]
    if (part === undefined) throw new Error(`there is no generated part named ${name}`)
    const after = rest.slice(rest.indexOf(end))
    return `${begin}${name} -->\n\n${part()}\n\n${after}`
  })
  return first + fresh.join('')
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

export function code(text: string): string {
  return `\`${text}\``
}

function endpointsTable(described: readonly Described[]): string {
  const rows = described.map(({ path, scope, operation, isOpen }) => {
    return [code(path), operation.summary, scope === undefined ? (isOpen ? 'none' : 'any') : scope]
  })
  return table(['path', 'answers', 'scope of the key'], rows)
}

/** Each kind of field, in words. */
export const kindInWords: Readonly<Record<FieldKind, string>> = {
  id: 'id',
  text: 'text',
  integer: 'integer',
  timestamp: 'timestamp',
  timestamp_ms: 'timestamp with milliseconds',
  text_list: 'list of texts',
}

const valueInWords: Readonly<Record<FieldKind, string>> = {
  ...kindInWords,
  id: 'integer',
  timestamp: '`YYYY-MM-DDTHH:MM:SSZ`',
  timestamp_ms: '`YYYY-MM-DDTHH:MM:SS.mmmZ`',
}

function fieldsTable(resource: Resource): string {
  const rows = Object.entries(resource.fields).map(([name, field]) => [
    code(name),
    valueInWords[field.kind] + (isNullable(field) ? ' or null' : ''),
    field.description,
  ])
  const { by, direction } = resource.order
  const order = by === 'id' ? '`id`' : `${code(by)}, then \`id\``
  return [
    `### ${resource.name}`,
    `${resource.description} In the order of ${order}, ${direction}.`,
    table(['field', 'value', 'meaning'], rows),
  ].join('\n\n')
}

function parametersTable(): string {
  const rows = Object.entries(parameters).map(([name, { description, minimum, ...parameter }]) => [
    code(name),
    description,
    `${minimum} to ${parameter.maximum}`,
    String(parameter.default),
  ])
  return table(['parameter', 'meaning', 'takes', 'default'], rows)
}

function errorsTable(): string {
  const rows = Object.entries(failureComponents()).map(([name, response]) => [
    name.replace('Error', ''),
    (response as { description: string }).description,
  ])
  return table(['status', 'when'], rows)
}
