// A company as a whole.

import { filterFields } from '../../../src/resources/filters.ts'
import type { Resource } from '../../../src/resources/resource.ts'
import { countedLengthMax, countedValuesMax } from '../../../src/store/serving/value-counts.ts'
import { describeTagged, type Operation } from '../operation.ts'
import {
  companySchemas,
  countSchema,
  type JsonSchema,
  listOf,
  member,
  momentSchema,
  nullableText,
  objectOf,
  okSchema,
  orNull,
  schemaRef,
  shortText,
} from '../schemas.ts'
import { versionComponents } from '../selection.ts'

const versionSchema = member(countSchema, 'Version of the registry in which it changed', 7)

export function describeCompany(resources: readonly Resource[]): Operation {
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
      'The company, what each source says about it, and for each listing that the key may read the ' +
      'number of its records, in all and by value of each filter.',
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
        value: member(
          { ...nullableText, maxLength: countedLengthMax },
          'The value, which may be null',
        ),
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
    "Whether the source's last snapshot has the company; if not, these are its last attributes",
    true,
  ),
  as_of: member(
    orNull(momentSchema),
    'Day from which the source gives these attributes; null if unknown',
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
        `For each filter with up to ${countedValuesMax} values, the number of records by value: ` +
        'most first, then by value',
      properties: Object.fromEntries(counts) as JsonSchema,
      additionalProperties: false,
    },
  })
}
