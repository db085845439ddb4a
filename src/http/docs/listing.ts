// The OpenAPI description of a listing, derived from the declaration of its resource.

import type { JsonSchema } from '../../resources/field.ts'
import {
  exampleRecord,
  metaTypesMax,
  recordSchema,
  type Resource,
} from '../../resources/resource.ts'
import type { Operation } from '../endpoints/endpoint.ts'
import { parameters } from '../requests/listing-request.ts'
import { selectionParameters, versionComponents } from './selection.ts'
import { counterSchemas, objectOf, okSchema, schemaRef } from './components.ts'
import { describeTagged } from './tagged-answer.ts'

/** The description of a resource's endpoint. */
export function describeListing(resource: Resource): Operation {
  const name = schemaName(resource)
  return describeTagged({
    id: `list_${resource.name}`,
    tag: 'listings',
    summary: `${resource.title}s of a company`,
    description:
      `${resource.description} Ordered by ${orderInWords(resource)}. To walk it, follow the link ` +
      '`next`. As CSV or NDJSON, and whole: see `export_listing`.',
    parameters: [
      'company_id',
      'page',
      'limit',
      'format',
      ...Object.keys(versionComponents),
      ...selectionParameters(resource),
    ],
    answer: {
      description: 'A page of the listing',
      headers: ['Link', 'Content-Location'],
      schema: `${name}Page`,
      example: { name: 'page', summary: 'One record', value: examplePage(resource) },
    },
    unchanged: 'The page has not changed',
    schemas: { [name]: recordSchema(resource), [`${name}Page`]: pageSchema(resource) },
  })
}

/** The name of the schema of a resource's records. */
export function schemaName({ name }: Resource): string {
  return name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

function orderInWords({ order }: Resource): string {
  const { by, direction } = order
  return by === 'id' ? `\`id\`, ${direction}` : `\`${by}\`, then \`id\`, both ${direction}`
}

function pageSchema(resource: Resource): JsonSchema {
  return objectOf(`A page of ${resource.name}`, {
    ok: okSchema,
    [resource.name]: {
      type: 'array',
      maxItems: parameters.limit.maximum,
      items: schemaRef(schemaName(resource)),
    },
    ...(resource.metaOf === undefined
      ? {}
      : { meta: { type: 'array', maxItems: metaTypesMax, items: schemaRef('Meta') } }),
    ...counterSchemas('records in the listing'),
  })
}

function examplePage(resource: Resource): JsonSchema {
  const record = exampleRecord(resource)
  const meta =
    resource.metaOf === undefined ? {} : { meta: [{ type: record[resource.metaOf], count: 1 }] }
  return {
    ok: true,
    [resource.name]: [record],
    ...meta,
    total: 1,
    pagination_total: 1,
    pagination_offset: 0,
  }
}
