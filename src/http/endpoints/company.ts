// The endpoint of a company as a whole: who it is, what its sources say, what its listings have.

import type { HttpReply, HttpRequest } from '../wire/exchange.ts'
import { filterFields } from '../../resources/filters.ts'
import type { JsonSchema } from '../../resources/field.ts'
import type { Resource } from '../../resources/resource.ts'
import { companyMembers } from '../../store/companies/company-text.ts'
import type { CompanyState, ListingSummary, StoreReader } from '../../store/reading.ts'
import { companiesScope, hasScope } from '../../store/keys.ts'
import {
  countedLengthMax,
  countedValuesMax,
  type ListingCounts,
} from '../../store/serving/value-counts.ts'
import {
  companyForm,
  companyPath,
  type CompanyQuestion,
  readCompanyRequest,
} from '../requests/company-request.ts'
import {
  companySchemas,
  countSchema,
  listOf,
  member,
  nullableText,
  objectOf,
  okSchema,
  schemaRef,
  shortText,
} from '../docs/schemas.ts'
import { versionComponents } from '../docs/selection.ts'
import { describeTagged } from '../docs/tagged-answer.ts'
import { fromStore, requireFound, tooLarge } from '../store-errors.ts'
import { linkTo } from '../answers/links.ts'
import { sendCached, type StateAnswer } from '../answers/state-answer.ts'
import { type Endpoint, type Operation, type Service } from './endpoint.ts'

export function company(resources: readonly Resource[]): Endpoint {
  return {
    path: companyPath(),
    scope: companiesScope,
    operation: describeOperation(resources),
    createHandler: (service) => (request) => answer(request, resources, service),
  }
}

async function answer(
  request: HttpRequest,
  resources: readonly Resource[],
  service: Service,
): Promise<HttpReply> {
  const asked = await readCompanyRequest(request, service.store)
  const form = companyForm(asked)
  if (asked.isByName) request.reply.header('content-location', form)
  const readable = resources.filter(({ name }) => hasScope(request.key?.scopes, name))
  return sendCached(request, service, {
    form: [form, ...readable.map(({ name }) => name)].join(' '),
    make: () => describe(service.store, asked, readable),
  })
}

/** @throws ApiError 404 or 410 if there is no such company or version; 400 if it is too large. */
async function describe(
  store: StoreReader,
  asked: CompanyQuestion,
  resources: readonly Resource[],
): Promise<StateAnswer> {
  const { companyId, version } = asked
  const read = await fromStore(() => store.readCompany({ companyId, version, resources }))
  const path = companyPath(companyId)
  const state = requireFound(read, asked, () => path)
  const text = companyText(state)
  if (text === undefined) {
    throw tooLarge(`Company ${companyId} has attributes of`, 'ask for its listings one by one')
  }
  const { registry, lineage, changedAt } = state
  const isFormer = version !== undefined && version < registry.version
  return {
    text,
    identity: lineage + text,
    registry,
    version,
    changedAt,
    ...(isFormer ? { link: linkTo('latest-version', path) } : {}),
  }
}

/** The body; undefined if it would be larger than an answer may be. */
function companyText({ company, sources, listings }: CompanyState): string | undefined {
  if (sources === undefined) return undefined
  const listingsText = `"listings":{${listings.map(listingText).join(',')}}`
  return `{"ok":true,"company":{${companyMembers(company, sources)},${listingsText}}}`
}

function listingText({ resource, total, version, counts }: ListingSummary): string {
  return `"${resource.name}":{"total":${total},"version":${version},"counts":${countsText(counts)}}`
}

function countsText(counts: ListingCounts): string {
  const fields = Object.entries(counts).map(([field, values]) => {
    const entries = values.map(([value, count]) => {
      return `{"value":${JSON.stringify(value)},"count":${count}}`
    })
    return `"${field}":[${entries.join(',')}]`
  })
  return `{${fields.join(',')}}`
}

const versionSchema = member(countSchema, 'Version of the registry in which it changed', 7)

function describeOperation(resources: readonly Resource[]): Operation {
  const summaries = resources.map((resource) => [resource.name, summarySchema(resource)])
  const listings = {
    ...{ type: 'object', description: 'The listings that the key may read' },
    ...{ properties: Object.fromEntries(summaries) as JsonSchema, additionalProperties: false },
  }
  return describeTagged({
    id: 'get_company',
    tag: 'companies',
    summary: 'A company as a whole',
    description:
      'Who the company is, what each source says about it, and for each listing that the key may ' +
      'read how many records it has, and how many have which value of a filter.',
    parameters: ['company_id', ...Object.keys(versionComponents)],
    answer: {
      description: 'The company',
      headers: ['Link', 'Content-Location'],
      schema: 'CompanyAnswer',
    },
    unchanged: 'It has not changed',
    schemas: {
      SourceStatement: sourceSchema,
      ValueCount: objectOf('How many records have a value', {
        value: member({ ...nullableText, maxLength: countedLengthMax }, 'The value; null is one'),
        count: member({ ...countSchema, minimum: 1 }, 'Number of records that have it'),
      }),
      Company: objectOf('A company as a whole', { ...companySchemas, listings }),
      CompanyAnswer: objectOf('A company as a whole', {
        ok: okSchema,
        company: schemaRef('Company'),
      }),
    },
  })
}

const sourceSchema = objectOf('What a source says about a company', {
  source: member(shortText, 'Name of the source', 'gb-register'),
  present: member(
    { type: 'boolean' },
    "Whether the source's last snapshot has the company; if not, what it last said",
    true,
  ),
  as_of: member(
    { type: ['string', 'null'], maxLength: 20 },
    'Day since which the source says so; null if it is not known',
    '2023-01-17T00:00:00Z',
  ),
  version: versionSchema,
  attributes: member(
    // More than any source says of a company: a row has at most 1 MiB.
    { type: 'object', properties: {}, maxProperties: 262_144, additionalProperties: {} },
    'The attributes, as the source names them',
    { name: 'Northwind Trading Ltd', address: '12 Quay Street, Felixstowe' },
  ),
})

function summarySchema(resource: Resource): JsonSchema {
  const { name, fields } = resource
  const counted = filterFields(resource).filter((field) => fields[field]?.filter === 'value')
  const counts = counted.map((field) => {
    return [
      field,
      {
        ...listOf('ValueCount', countedValuesMax),
        examples: [[{ value: fields[field]?.example, count: 2 }]],
      },
    ]
  })
  return objectOf(`The listing ${name}, without its records`, {
    total: member(countSchema, 'Number of records in the listing', 2),
    version: versionSchema,
    counts: {
      type: 'object',
      description:
        `For each filter with up to ${countedValuesMax} values, how many records have which: ` +
        'most first, then by value',
      properties: Object.fromEntries(counts) as JsonSchema,
      additionalProperties: false,
    },
  })
}
