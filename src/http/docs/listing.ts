// The OpenAPI description of a listing, derived from the declaration of its resource.

import type { JsonSchema } from '../../resources/field.ts'
import { metaTypesMax, recordSchema, type Resource } from '../../resources/resource.ts'
import type { Operation } from '../endpoints/endpoint.ts'
import { selectionParameters, versionComponents } from './selection.ts'
import { counterSchemas, listOf, objectOf, okSchema } from './schemas.ts'
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
    [resource.name]: listOf(schemaName(resource)),
    ...(resource.metaOf === undefined ? {} : { meta: listOf('Meta', metaTypesMax) }),
    ...counterSchemas('records in the listing'),
  })
}
