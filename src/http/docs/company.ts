// The OpenAPI description of a company as a whole.

import { filterFields } from '../../resources/filters.ts'
import type { JsonSchema } from '../../resources/field.ts'
import type { Resource } from '../../resources/resource.ts'
import { countedLengthMax, countedValuesMax } from '../../store/serving/value-counts.ts'
import type { Operation } from '../endpoints/endpoint.ts'
import {
  countSchema,
  identitySchemas,
  nullableText,
  objectOf,
  okSchema,
  schemaRef,
  shortText,
} from './components.ts'
import { versionComponents } from './selection.ts'
import { describeTagged } from './tagged-answer.ts'

/** How many sources a company may have in the document: more than any has. */
const sourcesMax = 10_000

/** More than any source says of a company: a row has at most 1 MiB. */
const attributesMax = 262_144

const versionSchema = { ...countSchema, description: 'Version of the registry in which it changed' }

const source = objectOf('What a source says about a company', {
  source: { ...shortText, description: 'Name of the source' },
  present: {
    type: 'boolean',
    description: "Whether the source's last snapshot has the company; if not, what it last said",
  },
  as_of: {
    type: ['string', 'null'],
    maxLength: 20,
    description: 'Day since which the source says so; null if it is not known',
  },
  version: versionSchema,
  attributes: {
    type: 'object',
    description: 'The attributes, as the source names them',
    properties: {},
    maxProperties: attributesMax,
    additionalProperties: {},
  },
})

const valueCount = objectOf('How many records have a value', {
  value: { ...nullableText, maxLength: countedLengthMax, description: 'The value; null is one' },
  count: { ...countSchema, minimum: 1, description: 'Number of records that have it' },
})

function summarySchema(resource: Resource): JsonSchema {
  const counted = filterFields(resource).filter(
    (field) => resource.fields[field]?.filter === 'value',
  )
  const counts = { type: 'array', maxItems: countedValuesMax, items: schemaRef('ValueCount') }
  return objectOf(`The listing ${resource.name}, without its records`, {
    total: { ...countSchema, description: 'Number of records in the listing' },
    version: versionSchema,
    counts: {
      type: 'object',
      description:
        `For each filter with up to ${countedValuesMax} values, how many records have which: ` +
        'most first, then by value',
      properties: Object.fromEntries(counted.map((field) => [field, counts])),
      additionalProperties: false,
    },
  })
}

/** The schemas of a company's answer, besides its listings. */
export const companySchemas = {
  ...identitySchemas,
  sources: {
    type: 'array',
    maxItems: sourcesMax,
    items: schemaRef('SourceStatement'),
    description: 'What each source says about it, in the order of their names',
  },
}

function companyObject(resources: readonly Resource[]): JsonSchema {
  return objectOf('A company as a whole', {
    ...companySchemas,
    listings: {
      type: 'object',
      description: 'The listings that the key may read',
      properties: Object.fromEntries(
        resources.map((resource) => [resource.name, summarySchema(resource)]),
      ),
      additionalProperties: false,
    },
  })
}

function exampleOf(resources: readonly Resource[]): JsonSchema {
  const listings = resources.map((resource) => {
    const { name, fields } = resource
    const [field] = filterFields(resource).filter((one) => fields[one]?.filter === 'value')
    const counts =
      field === undefined ? {} : { [field]: [{ value: fields[field]?.example, count: 2 }] }
    return [name, { total: 2, version: 12, counts }]
  })
  const attributes = { name: 'Northwind Trading Ltd', address: '12 Quay Street, Felixstowe' }
  return {
    ok: true,
    company: {
      ...{ id: 1_000_000_000_042, jurisdiction: 'GB', identifier: '09876543' },
      name: 'Northwind Trading Ltd',
      sources: [
        {
          ...{ source: 'gb-register', present: true, as_of: '2023-01-17T00:00:00Z', version: 7 },
          attributes,
        },
      ],
      listings: Object.fromEntries(listings) as JsonSchema,
    },
  }
}

export function describeCompany(resources: readonly Resource[]): Operation {
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
      example: { name: 'company', summary: 'A company', value: exampleOf(resources) },
    },
    unchanged: 'It has not changed',
    schemas: {
      SourceStatement: source,
      ValueCount: valueCount,
      Company: companyObject(resources),
      CompanyAnswer: objectOf('A company as a whole', {
        ok: okSchema,
        company: schemaRef('Company'),
      }),
    },
  })
}
