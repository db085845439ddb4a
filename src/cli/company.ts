// `dossier company`: shows operators one company as the registry has it.

import { UsageError } from '../config.ts'
import { formatCount } from '../format-count.ts'
import { attributeText } from '../import/attribute-text.ts'
import { OperatorError } from '../operator-error.ts'
import { changeResource, resources } from '../resources/index.ts'
import { shortMoment } from '../short-moment.ts'
import { openStoreInspector, openStoreReader } from '../store/open-store.ts'
import type { CompanyName, CompanyRecord } from '../store/inspecting.ts'
import type { Command } from './command.ts'
import { nearCompanies } from './near-companies.ts'
import { oneLine, tableLines } from './table.ts'

const latestMax = 10

type WireRecord = Readonly<Record<string, unknown>>

/** A company with its listings, as `--json` prints it. */
interface Overview extends CompanyRecord {
  readonly listings: Readonly<Record<string, number>>
  readonly latest: readonly WireRecord[]
}

export const company: Command = {
  name: 'company',
  summary: 'show a company as the registry has it',
  synopsis: ['company JURISDICTION IDENTIFIER [--json]', 'company ID [--json]'],
  details: `
Shows the company's id, its attributes from each source, the number of records in each listing, and
its latest ${changeResource.name}.

  dossier company US 0000320193
  dossier company 1000000000042 --json`,
  options: [{ name: 'json', meaning: 'print the company as JSON' }],
  settings: ['db'],
  async run({ words, flags, settings }, { stdout }) {
    const name = parseName(words)
    const inspector = await openStoreInspector(settings.db, resources)
    try {
      const found = await inspector.findCompany(name)
      if (found === undefined) {
        const near = typeof name === 'number' ? [] : await nearCompanies(inspector, ...name)
        const advice = near.length > 0 ? `; did you mean ${near.join(', or ')}?` : ''
        throw new OperatorError(`company ${words.join(' ')} is not in the registry${advice}`)
      }
      const overview = await addListings(settings.db, found)
      if (flags.has('json')) stdout.writeJson(overview)
      else stdout.writeLines(...lines(overview))
      return 0
    } finally {
      await inspector.close()
    }
  },
}

function parseName(words: readonly string[]): CompanyName {
  const [first, second, ...more] = words
  if (first !== undefined && second !== undefined && more.length === 0) return [first, second]
  const id = first !== undefined && /^\d{1,16}$/.test(first) ? Number(first) : NaN
  if (second === undefined && Number.isSafeInteger(id)) return id
  throw new UsageError('name one company by JURISDICTION and IDENTIFIER, or by ID')
}

async function addListings(db: string, found: CompanyRecord): Promise<Overview> {
  const reader = await openStoreReader(db, resources)
  try {
    const listings: Record<string, number> = {}
    for (const resource of resources) {
      listings[resource.name] = (await reader.readHead(resource, found.id))?.total ?? 0
    }
    const page = await reader.readPage(changeResource, found.id, 0, latestMax)
    const latest = JSON.parse(`[${page?.records.join(',') ?? ''}]`) as WireRecord[]
    return { ...found, listings, latest }
  } finally {
    await reader.close()
  }
}

function lines(overview: Overview): string[] {
  const { id, jurisdiction, identifier, listings } = overview
  const name = identifier === undefined ? '' : `${jurisdiction ?? ''} ${identifier}  `
  return [
    oneLine(`${name}(company ${id})`),
    ...overview.attributes.flatMap((one) => ['', ...attributeLines(one)]),
    '',
    'Listings',
    ...tableLines(
      Object.entries(listings).map(([listing, total]) => [`  ${listing}`, formatCount(total)]),
    ),
    ...latestLines(overview),
  ]
}

function attributeLines(one: CompanyRecord['attributes'][number]): string[] {
  const version = `version ${one.version}`
  const since = one.asOf === undefined ? version : `${shortMoment(one.asOf)} (${version})`
  const seen = one.lastSeen === undefined ? '' : `, last seen ${shortMoment(one.lastSeen)}`
  return [
    `Attributes from ${one.source}, ${one.isPresent ? 'since' : 'absent since'} ${since}${seen}`,
    ...tableLines(
      Object.entries(one.attributes).map(([attr, value]) => [
        `  ${oneLine(attr)}`,
        oneLine(attributeText(value) ?? ''),
      ]),
    ),
  ]
}

function latestLines({ latest, listings }: Overview): string[] {
  const fields = changeResource.changeFields
  const { name } = changeResource
  if (latest.length === 0 || fields === undefined) return []
  const cell = (value: unknown) => (typeof value === 'string' ? oneLine(value) : '(none)')
  return [
    '',
    `Latest ${name} (${latest.length} of ${formatCount(listings[name] ?? 0)})`,
    ...tableLines(
      latest.map((record) => [
        `  ${shortMoment(cell(record[fields.date]))}`,
        cell(record[fields.attr]),
        `${cell(record[fields.before])} → ${cell(record[fields.after])}`,
      ]),
    ),
  ]
}
