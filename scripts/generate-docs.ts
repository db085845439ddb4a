// Writes the parts of the guides that derive from the code: settings, fields, parameters, errors.
//
//   node scripts/generate-docs.ts           writes them
//   node scripts/generate-docs.ts --check   exits 1 where a guide does not say what the code does

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { settings, variableOf } from '../src/config.ts'
import { createOpenApi } from '../src/http/openapi.ts'
import { parameters } from '../src/http/parameters.ts'
import { isNullable } from '../src/resources/field.ts'
import { resources } from '../src/resources/index.ts'
import type { Resource } from '../src/resources/resource.ts'

const root = join(import.meta.dirname, '..')

/** The guides that have generated parts. */
export const guides = ['docs/operating.md', 'docs/client.md'] as const

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

function settingsTable(): string {
  const rows = Object.values(settings).map((setting) => [
    `\`--${setting.name}\``,
    `\`${variableOf(setting)}\``,
    `\`${setting.default}\``,
    setting.meaning,
  ])
  return table(['option', 'variable', 'default', 'meaning'], rows)
}

const typeInWords = {
  id: 'integer',
  text: 'text',
  integer: 'integer',
  timestamp: '`YYYY-MM-DDTHH:MM:SSZ`',
  timestamp_ms: '`YYYY-MM-DDTHH:MM:SS.mmmZ`',
  text_list: 'list of texts',
} as const

function fieldsTable(resource: Resource): string {
  const rows = Object.entries(resource.fields).map(([name, field]) => [
    `\`${name}\``,
    typeInWords[field.kind] + (isNullable(field) ? ' or null' : ''),
    field.description,
  ])
  const { by, direction } = resource.order
  const order = by === 'id' ? '`id`' : `\`${by}\`, then \`id\``
  return [
    `### ${resource.name}`,
    `${resource.description} In the order of ${order}, ${direction}.`,
    table(['field', 'value', 'meaning'], rows),
  ].join('\n\n')
}

function parametersTable(): string {
  const rows = Object.entries(parameters).map(([name, { description, minimum, ...parameter }]) => [
    `\`${name}\``,
    description,
    `${minimum} to ${parameter.maximum}`,
    String(parameter.default),
  ])
  return table(['parameter', 'meaning', 'takes', 'default'], rows)
}

function errorsTable(): string {
  const { responses = {} } = createOpenApi(resources, '').components
  const rows = Object.entries(responses).map(([name, response]) => [
    name.replace('Error', ''),
    (response as { description: string }).description,
  ])
  return table(['status', 'when'], rows)
}

const parts: Readonly<Record<string, () => string>> = {
  settings: settingsTable,
  fields: () => resources.map(fieldsTable).join('\n\n'),
  parameters: parametersTable,
  errors: errorsTable,
}

/** A guide's text with its generated parts made anew. */
export function regenerate(text: string): string {
  return text.replace(
    /<!-- generated: (\w+) -->[^]*?<!-- end -->/g,
    (_whole, name: string) =>
      `<!-- generated: ${name} -->\n\n${parts[name]?.() ?? ''}\n\n<!-- end -->`,
  )
}

if (import.meta.main) {
  const isCheck = process.argv.includes('--check')
  for (const guide of guides) {
    const path = join(root, guide)
    const text = readFileSync(path, 'utf8')
    const fresh = regenerate(text)
    if (fresh === text) continue
    if (!isCheck) writeFileSync(path, fresh)
    else {
      console.error(`${guide} is not what the code says; run: npm run generate`)
      process.exitCode = 1
    }
  }
}
