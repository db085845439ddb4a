// The search for companies.

import {
  type companyTexts,
  identifiersMax,
  queryLengthMax,
} from '../../../src/http/endpoints/companies.ts'
import { parameters } from '../../../src/http/requests/listing-request.ts'
import { describeTagged, type Operation } from '../operation.ts'
import {
  counterSchemas,
  identitySchemas,
  type JsonSchema,
  listOf,
  objectOf,
  okSchema,
  query,
  shortText,
} from '../schemas.ts'

const givenText = { ...shortText, minLength: 1 }

/** The parameters that select companies. */
const texts: Readonly<Record<(typeof companyTexts)[number], JsonSchema>> = {
  identifier: {
    description: `Number of the company in its register; up to ${identifiersMax} of them`,
    schema: {
      ...{ type: 'array', maxItems: identifiersMax, items: givenText },
      examples: [['09876543']],
    },
    explode: true,
  },
  jurisdiction: {
    description: 'Jurisdiction of the register, together with `identifier`',
    schema: { ...givenText, examples: ['GB'] },
  },
  q: {
    description:
      'Words of the name, instead of `identifier`: all of them, the last one as a beginning',
    schema: { ...givenText, maxLength: queryLengthMax },
    // One of the two ways to ask has an example, so that the reference page sends a sound request.
    example: 'northwind tra',
  },
}

export function describeCompanies(): Operation {
  const entry = objectOf('A company, as a search finds it', identitySchemas)
  const page = objectOf('A page of companies', {
    ok: okSchema,
    companies: listOf('CompanyEntry'),
    ...counterSchemas('companies found'),
  })
  return describeTagged({
    id: 'find_companies',
    tag: 'companies',
    summary: 'Companies by number or name',
    description:
      'Finds companies by their number in a register (`identifier`), in the order of ' +
      '`jurisdiction` and `identifier`, or by words of their name (`q`), shorter names first. ' +
      'Exactly one of the two is required.',
    parameters: [
      ...Object.entries(texts).map(([name, text]) => query(name, text)),
      ...Object.keys(parameters),
    ],
    answer: {
      description: 'A page of the companies found',
      headers: ['Link'],
      schema: 'CompaniesPage',
    },
    namesNothing: true,
    unchanged: 'The page has not changed',
    schemas: { CompanyEntry: entry, CompaniesPage: page },
  })
}
