// The OpenAPI description of the search for companies.

import type { JsonSchema } from '../../resources/field.ts'
import { companyParameters, identifiersMax, queryLengthMax } from '../requests/companies-request.ts'
import type { Operation } from '../endpoints/endpoint.ts'
import { parameters } from '../requests/listing-request.ts'
import {
  counterSchemas,
  identitySchemas,
  objectOf,
  okSchema,
  schemaRef,
  shortText,
} from './components.ts'
import { describeTagged } from './tagged-answer.ts'

const example = {
  id: 1_000_000_000_042,
  jurisdiction: 'GB',
  identifier: '09876543',
  name: 'Northwind Trading Ltd',
}

const entry = {
  ...objectOf('A company, as a search finds it', identitySchemas),
  examples: [example],
}

const page = objectOf('A page of companies', {
  ok: okSchema,
  companies: {
    type: 'array',
    maxItems: parameters.limit.maximum,
    items: schemaRef('CompanyEntry'),
  },
  ...counterSchemas('companies that were found'),
})

/** The parameters, as components. */
export const companyParameterComponents: Readonly<Record<string, JsonSchema>> = {
  identifier: {
    name: 'identifier',
    in: 'query',
    description: companyParameters.identifier,
    schema: {
      ...{ type: 'array', maxItems: identifiersMax, items: shortText },
      examples: [['09876543']],
    },
    explode: true,
  },
  jurisdiction: {
    name: 'jurisdiction',
    in: 'query',
    description: companyParameters.jurisdiction,
    schema: { ...shortText, examples: ['GB'] },
  },
  q: {
    name: 'q',
    in: 'query',
    description: companyParameters.q,
    schema: { ...shortText, maxLength: queryLengthMax },
    // One of the two ways to ask has an example, so that the reference page sends a sound request.
    example: 'northwind tra',
  },
}

export function describeCompanies(): Operation {
  return describeTagged({
    id: 'find_companies',
    tag: 'companies',
    summary: 'Companies by number or name',
    description:
      'Finds companies by their number in a register (`identifier`), in the order of ' +
      '`jurisdiction` and `identifier`, or by words of their name (`q`), shorter names first. ' +
      'Exactly one of the two is required.',
    parameters: [...Object.keys(companyParameters), ...Object.keys(parameters)],
    answer: {
      description: 'A page of the companies that were found',
      headers: ['Link'],
      schema: 'CompaniesPage',
      example: {
        name: 'page',
        summary: 'One company',
        value: {
          ok: true,
          companies: [example],
          total: 1,
          pagination_total: 1,
          pagination_offset: 0,
        },
      },
    },
    unchanged: 'The page has not changed',
    schemas: { CompanyEntry: entry, CompaniesPage: page },
  })
}
