// The OpenAPI description of the list of versions.

import type { Operation } from '../endpoints/endpoint.ts'
import { type Parameter, parameters } from '../requests/listing-request.ts'
import {
  counterSchemas,
  countSchema,
  momentSchema,
  objectOf,
  okSchema,
  schemaRef,
  shortText,
} from './components.ts'
import { describeTagged } from './tagged-answer.ts'

const example = {
  version: 17,
  committed_at: '2024-02-01T03:00:12.345Z',
  resource: 'companies',
  source: 'gov',
  as_of: '2024-01-31T00:00:00Z',
  inserted: 120,
  updated: 3,
  removed: 1,
  events: 4,
}

const versionNumber = { ...countSchema, minimum: 1 }

const entry = {
  ...objectOf('A version of the registry: an import, or the revert of one', {
    version: { ...versionNumber, description: 'Its number' },
    committed_at: {
      ...momentSchema,
      description: 'When it was committed; `known_at` finds it by this',
    },
    resource: { ...shortText, description: 'What was imported: a listing, or `companies`' },
    source: { ...shortText, description: 'The source that it came from' },
    as_of: { ...momentSchema, type: ['string', 'null'], description: 'The day of the extract' },
    inserted: { ...countSchema, description: 'Number of new records' },
    updated: { ...countSchema, description: 'Number of changed records' },
    removed: { ...countSchema, description: 'Number of removed records' },
    events: { ...countSchema, description: 'Number of events recorded for the changes' },
  }),
  examples: [example],
}

const page = objectOf('A page of versions', {
  ok: okSchema,
  versions: { type: 'array', maxItems: parameters.limit.maximum, items: schemaRef('Version') },
  ...counterSchemas('versions'),
  earliest_version: {
    ...versionNumber,
    description: 'The earliest version whose listings can still be read',
  },
})

/** @param declared the parameters; `limit` is among those of every listing. */
export function describeVersions(declared: Readonly<Record<string, Parameter>>): Operation {
  return describeTagged({
    id: 'list_versions',
    tag: 'registry',
    summary: 'Versions of the registry',
    description:
      'Every import is a version; newest first. Any valid key may list them. The parameter ' +
      '`version` of a listing names one.',
    parameters: [
      ...Object.entries(declared).map(([name, { description, minimum, maximum }]) =>
        name in parameters
          ? name
          : {
              ...{ name, in: 'query', description },
              schema: { ...versionNumber, minimum, maximum, examples: [maximum] },
            },
      ),
    ],
    answer: {
      description: 'A page of versions',
      headers: ['Link'],
      schema: 'VersionsPage',
      example: {
        name: 'page',
        summary: 'One version',
        value: {
          ok: true,
          versions: [example],
          total: 17,
          pagination_total: 17,
          pagination_offset: 0,
          earliest_version: 1,
        },
      },
    },
    unchanged: 'Nothing was imported',
    schemas: { Version: entry, VersionsPage: page },
  })
}
