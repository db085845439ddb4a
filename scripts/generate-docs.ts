// Generates the documents that derive from the code: the OpenAPI document, the index of documents
// for agents, and parts of the guides: commands, settings, the values that imports accept,
// ready-made mappings; parameters, fields, errors.
//
//   node scripts/generate-docs.ts

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadCommands } from '../src/cli/command-line.ts'
import { type Command, nameOf } from '../src/cli/command.ts'
import { settings, variableOf } from '../src/config/settings.ts'
import { parameters } from '../src/http/requests/listing-request.ts'
import { normaliserOf } from '../src/import/rows/normalise.ts'
import { Refusal } from '../src/files/refusal.ts'
import type { FieldKind } from '../src/resources/field.ts'
import { resources } from '../src/resources/index.ts'
import type { Resource } from '../src/resources/resource.ts'
import { parameterMeanings } from './openapi/components.ts'
import { guidePage } from './guide-page.ts'
import { documentIndex } from './openapi/document-index.ts'
import { createOpenApi } from './openapi/document.ts'
import { failures } from './openapi/failures.ts'
import { listingAsTextPath } from './openapi/endpoints/listing-as-text.ts'
import { describedOf } from './openapi/operations.ts'

const root = join(import.meta.dirname, '..')
const commands = await loadCommands()

/** The guides that have generated parts. */
export const guides = ['docs/mappings.md', 'docs/commands.md', 'docs/client.md'] as const

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

function code(text: string): string {
  return `\`${text}\``
}

// --- For the operator ------------------------------------------------------------------------

function settingsTable(): string {
  const rows = Object.values(settings).map((setting) => [
    code(`--${setting.name}`),
    code(variableOf(setting)),
    code(setting.default),
    setting.meaning,
  ])
  return table(['option', 'variable', 'default', 'meaning'], rows)
}

function commandPart({ synopsis, options, settings: taken }: Command): string {
  const rows = Object.entries(options).map(([option, meaning]) => [code(option), meaning])
  const ofAll = taken.map((key) => code(`--${settings[key].name}`)).join(', ')
  return [
    `### dossier ${nameOf({ synopsis })}`,
    `\`\`\`text\n${synopsis.map((line) => `dossier ${line}`).join('\n')}\n\`\`\``,
    ...(rows.length > 0 ? [table(['option', 'meaning'], rows)] : []),
    `Settings: ${ofAll}.`,
  ].join('\n\n')
}

/** Values that show which ones are accepted and which are refused. */
const samples: Readonly<Partial<Record<FieldKind, readonly unknown[]>>> = {
  text: ['Ödön ', ' ', '', 12],
  integer: [32000, '32000', '-5', 15.45, '32,000', '1e3'],
  timestamp: [
    '2024-05-31',
    '2024-05-31 23:59',
    '2024-05-31T23:59:59',
    '2024-05-31T23:59:59.999Z',
    '2024-05-31T23:59:59+02:00',
    '31/05/2024',
    '2024-02-30',
    '2016-12-31T23:59:60Z',
    1717113600,
  ],
  timestamp_ms: ['2024-05-31', '2024-05-31T23:59:59,123456Z'],
  text_list: [['Ann', ' ', 'Bob'], '["Ann","Bob"]', 'Ann', '[Ann'],
}

/** Each kind of field, in words. */
const kindInWords: Readonly<Record<FieldKind, string>> = {
  id: 'id',
  text: 'text',
  integer: 'integer',
  timestamp: 'timestamp',
  timestamp_ms: 'timestamp with milliseconds',
  text_list: 'list of texts',
}

/** A table of the samples, as the check of an import judges them. */
function acceptedTable(): string {
  const rows = Object.entries(samples).flatMap(([key, values]) => {
    const kind = key as FieldKind
    const normalise = normaliserOf({
      kind,
      description: '',
      example: '',
      required: false,
      filter: undefined,
      sortable: false,
      personal: undefined,
    })
    return values.map((value) => {
      const stored = normalise(value)
      const outcome =
        stored instanceof Refusal ? `refused: ${stored.reason}` : code(JSON.stringify(stored))
      return [kindInWords[kind], code(JSON.stringify(value)), outcome]
    })
  })
  return table(['field', 'given', 'stored'], rows)
}

/** The first sentence of a mapping's comment, and the target of the command in it. */
function mappingRow(file: string): readonly string[] {
  const text = readFileSync(join(root, 'mappings', file), 'utf8')
  const comment = [...text.matchAll(/^-- ?(.*)$/gm)].map(([, line]) => String(line)).join(' ')
  const [sentence = ''] = comment.split(/[.;] /, 1)
  const target = /dossier import (\w+)/.exec(comment)?.[1] ?? ''
  return [code(file.replace(/\.sql$/, '')), target, sentence.trim()]
}

function mappingsTable(): string {
  const files = readdirSync(join(root, 'mappings')).filter((name) => name.endsWith('.sql'))
  return table(['mapping', 'gives', 'of'], files.sort().map(mappingRow))
}

// --- For the client --------------------------------------------------------------------------

function endpointsTable(): string {
  // This path is only in the OpenAPI document, which describes the listings as text under it.
  const endpoints = describedOf(resources).filter(({ path }) => path !== listingAsTextPath)
  const rows = endpoints.map(({ path, scope, operation, isOpen }) => {
    return [code(path), operation.summary, scope === undefined ? (isOpen ? 'none' : 'any') : scope]
  })
  return table(['path', 'answers', 'scope of the key'], rows)
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
    valueInWords[field.kind] + (field.required && field.kind !== 'id' ? ', never null' : ''),
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
  const names = Object.keys(parameters) as (keyof typeof parameters)[]
  const rows = names.map((name) => {
    const { minimum, maximum, default: usual } = parameters[name]
    return [code(name), parameterMeanings[name], `${minimum} to ${maximum}`, String(usual)]
  })
  return table(['parameter', 'meaning', 'takes', 'default'], rows)
}

function errorsTable(): string {
  return table(
    ['status', 'when'],
    Object.entries(failures).map(([status, { when }]) => [status, when]),
  )
}

/** The generated parts of all guides, by their names in markers. */
const parts: Readonly<Record<string, () => string>> = {
  commands: () => commands.map(commandPart).join('\n\n'),
  settings: settingsTable,
  accepted: acceptedTable,
  mappings: mappingsTable,
  endpoints: endpointsTable,
  parameters: parametersTable,
  fields: () => resources.map(fieldsTable).join('\n\n'),
  errors: errorsTable,
}

/** The markers around a generated part; its name and an arrow follow the first one. */
const begin = '<!-- generated: '
const end = '<!-- end -->'

/** Replaces the generated parts of a guide's text. @throws Error for an unknown one. */
export function regenerate(text: string): string {
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

/** The documents that are generated as a whole; the service sends them. */
export const wholes: Readonly<Record<string, () => string>> = {
  'docs/openapi.json': () => JSON.stringify(createOpenApi(resources)),
  'docs/llms.txt': () => documentIndex(resources),
  'docs/guide.html': () => guidePage(readFileSync(join(root, 'docs/client.md'), 'utf8')),
}

if (import.meta.main) {
  for (const name of [...guides, ...Object.keys(wholes)]) {
    const path = join(root, name)
    writeFileSync(path, wholes[name]?.() ?? regenerate(readFileSync(path, 'utf8')))
  }
}
