// `dossier company`: shows one company: attributes, counts of records, latest events.

import { locate } from '../../http/requests/company-request.ts'
import { unknownCompany } from '../../http/store-errors.ts'
import { formatCount } from '../../text/format-count.ts'
import { attributeText } from '../../store/companies/attribute-text.ts'
import { companyText } from '../../store/companies/company-text.ts'
import { OperatorError } from '../../config/operator-error.ts'
import { changeResource, resources } from '../../resources/index.ts'
import { shortMoment } from '../../text/moment.ts'
import type { CompanyState, FoundCompany } from '../../store/reading.ts'
import type { StoreReader } from '../../store/serving/store-reader.ts'
import { openStoreInspector, openStoreForShowing } from '../../store/open-store.ts'
import type { StoreInspector } from '../../store/inspecting.ts'
import { textOf } from '../../store/record-texts.ts'
import { wholeListing } from '../../store/selection.ts'
import { type Command, print } from '../command.ts'
import { parseCompany } from '../option-values.ts'
import { oneLine, tableLines } from '../table.ts'
import { explainApiError } from './api-error.ts'
import { storeOf } from '../progress.ts'

const latestMax = 10

type Members = Readonly<Record<string, unknown>>

/** A company as the API has it, and what only operators see. */
interface ShownCompany extends FoundCompany {
  readonly sources: readonly ShownSource[]
  readonly listings: Readonly<Record<string, { readonly total: number }>>
  readonly latest: readonly Members[]
}

interface ShownSource {
  readonly source: string
  readonly present: boolean
  readonly as_of: string | null
  readonly version: number
  /** The day of the last import that certainly contained the company. */
  readonly last_seen: string | null
  readonly attributes: Members
}

export const company: Command = {
  summary: 'show a company: attributes, record counts, latest events',
  synopsis: ['company COMPANY [--json]'],
  details: `
Shows the company's id and name, its attributes from each source, the number of records in each
listing, and its latest ${changeResource.name}. --json adds counts by status, currency and so on.
COMPANY is an id, or a register number: GB:09876543, or GB 09876543.

  dossier company US:0000320193
  dossier company 1000000000042 --json`,
  options: { '--json': 'print the company as JSON' },
  settings: ['db', 'withheld'],
  async run(input, context) {
    const named = { company: parseCompany(input.words), version: undefined }
    const at = storeOf(input, context)
    await using inspector = await openStoreInspector(at, resources)
    await using reader = await openStoreForShowing(at)
    try {
      const { companyId } = await locate(reader, named)
      const state = await reader.readCompany({ companyId, version: undefined, resources })
      if (state === undefined || 'outside' in state) throw unknownCompany(companyId)
      const shown = await shownCompany(state, reader, inspector)
      print(input, context, shown, lines(shown))
      return 0
    } catch (error) {
      throw explainApiError(error)
    }
  },
}

async function shownCompany(
  { company, sources, listings }: CompanyState,
  reader: StoreReader,
  inspector: StoreInspector,
): Promise<ShownCompany> {
  if (sources === undefined) {
    throw new OperatorError(`company ${company.id} has attributes of more than 16 MiB`)
  }
  const lastSeen = await inspector.readLastSeen(company.id)
  const page = await reader.readPage(wholeListing(changeResource, company.id), 0, latestMax)
  const latest = page === undefined || 'outside' in page ? [] : page.records
  const shown = JSON.parse(companyText(company, sources, listings)) as ShownCompany
  return {
    ...shown,
    sources: shown.sources.map(({ attributes, ...one }) => {
      return { ...one, last_seen: lastSeen.get(one.source) ?? null, attributes }
    }),
    latest: JSON.parse(`[${textOf(latest)}]`) as Members[],
  }
}

function lines(shown: ShownCompany): string[] {
  const { id, jurisdiction, identifier, name, sources, listings } = shown
  const register = identifier === null ? '' : `${jurisdiction ?? ''} ${identifier}  `
  return [
    oneLine(`${register}${name === null ? '' : `${name}  `}(company ${id})`),
    ...sources.flatMap((one) => ['', ...attributeLines(one)]),
    '',
    'Listings',
    ...tableLines(
      Object.entries(listings).map(([listing, { total }]) => [`  ${listing}`, formatCount(total)]),
    ),
    ...latestLines(shown),
  ]
}

function attributeLines(one: ShownSource): string[] {
  const version = `version ${one.version}`
  const since = one.as_of === null ? version : `${shortMoment(one.as_of)} (${version})`
  const seen = one.last_seen === null ? '' : `, last seen ${shortMoment(one.last_seen)}`
  return [
    `Attributes from ${one.source}, ${one.present ? 'since' : 'absent since'} ${since}${seen}`,
    ...tableLines(
      Object.entries(one.attributes).map(([attr, value]) => [
        `  ${oneLine(attr)}`,
        oneLine(attributeText(value) ?? ''),
      ]),
    ),
  ]
}

function latestLines({ latest, listings }: ShownCompany): string[] {
  const fields = changeResource.changeFields
  const { name } = changeResource
  if (latest.length === 0 || fields === undefined) return []
  const cell = (value: unknown) => (typeof value === 'string' ? oneLine(value) : '(none)')
  return [
    '',
    `Latest ${name} (${latest.length} of ${formatCount(listings[name]?.total ?? 0)})`,
    ...tableLines(
      latest.map((record) => [
        `  ${shortMoment(cell(record[fields.date]))}`,
        cell(record[fields.attr]),
        `${cell(record[fields.before])} → ${cell(record[fields.after])}`,
      ]),
    ),
  ]
}
