// `dossier company`: shows one company: attributes, counts of records, latest events.

import { locate } from '../../http/requests/company-request.ts'
import { unknownCompany } from '../../http/store-errors.ts'
import { formatCount } from '../../text/format-count.ts'
import { attributeText } from '../../store/companies/attribute-text.ts'
import { OperatorError } from '../../config/operator-error.ts'
import { changeResource, resources } from '../../resources/index.ts'
import { shortMoment } from '../../text/moment.ts'
import type { CompanyState, StoreReader } from '../../store/reading.ts'
import { openStoreInspector, openStoreForShowing } from '../../store/open-store.ts'
import type { StoreInspector } from '../../store/inspecting.ts'
import { textOf } from '../../store/record-texts.ts'
import { wholeListing } from '../../store/selection.ts'
import type { ListingCounts } from '../../store/serving/value-counts.ts'
import { type Command, print } from '../command.ts'
import { parseCompany } from '../option-values.ts'
import { oneLine, tableLines } from '../table.ts'
import { explainApiError } from './api-error.ts'
import { storeOf } from '../progress.ts'

const latestMax = 10

type WireRecord = Readonly<Record<string, unknown>>

export const company: Command = {
  name: 'company',
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
    const locating = { resource: undefined, isNearTold: true }
    try {
      const { companyId } = await locate(reader, named, locating)
      const state = await reader.readCompany({ companyId, version: undefined, resources })
      if (state === undefined || 'outside' in state) throw unknownCompany(companyId)
      const overview = await overviewOf(state, reader, inspector)
      print(input, context, companyJson(overview), lines(overview))
      return 0
    } catch (error) {
      throw explainApiError(error)
    }
  },
}

type Overview = Awaited<ReturnType<typeof overviewOf>>

/** A company with its listings and its latest changes. */
async function overviewOf(
  { company, sources, listings }: CompanyState,
  reader: StoreReader,
  inspector: StoreInspector,
) {
  if (sources === undefined) {
    throw new OperatorError(`company ${company.id} has attributes of more than 16 MiB`)
  }
  const lastSeen = await inspector.readLastSeen(company.id)
  const page = await reader.readPage(wholeListing(changeResource, company.id), 0, latestMax)
  const latest = page === undefined || 'outside' in page ? [] : page.records
  return {
    ...company,
    attributes: sources.map(({ attributes, asOf, ...source }) => ({
      ...source,
      asOf: asOf ?? undefined,
      /** The day of the last import that certainly contained the company, in wire form. */
      lastSeen: lastSeen.get(source.source),
      attributes: JSON.parse(attributes) as Readonly<Record<string, unknown>>,
    })),
    listings: Object.fromEntries(listings.map((one) => [one.resource.name, one])),
    latest: JSON.parse(`[${textOf(latest)}]`) as WireRecord[],
  }
}

/** The members of the API's company, and those that only operators see. */
function companyJson({ id, jurisdiction, identifier, name, ...overview }: Overview): object {
  const sources = overview.attributes.map(({ source, version, isPresent, ...one }) => {
    const { asOf: as_of = null, lastSeen: last_seen = null, attributes } = one
    return { source, present: isPresent, as_of, version, last_seen, attributes }
  })
  const listings = Object.entries(overview.listings).map(([listing, one]) => {
    const { total, version } = one
    return [listing, { total, version, counts: countsJson(one.counts) }]
  })
  return {
    id,
    jurisdiction,
    identifier,
    name,
    sources,
    listings: Object.fromEntries(listings) as object,
    latest: overview.latest,
  }
}

/** The number of records for each value of each filter. */
function countsJson(counts: ListingCounts): object {
  const fields = Object.entries(counts).map(([field, values]) => [
    field,
    values.map(([value, count]) => ({ value, count })),
  ])
  return Object.fromEntries(fields) as object
}

function lines(overview: Overview): string[] {
  const { id, jurisdiction, identifier, name, listings } = overview
  const register = identifier === null ? '' : `${jurisdiction ?? ''} ${identifier}  `
  return [
    oneLine(`${register}${name === null ? '' : `${name}  `}(company ${id})`),
    ...overview.attributes.flatMap((one) => ['', ...attributeLines(one)]),
    '',
    'Listings',
    ...tableLines(
      Object.entries(listings).map(([listing, { total }]) => [`  ${listing}`, formatCount(total)]),
    ),
    ...latestLines(overview),
  ]
}

function attributeLines(one: Overview['attributes'][number]): string[] {
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
