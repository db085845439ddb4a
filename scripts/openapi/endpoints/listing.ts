// A company's listing of a resource.

import { metaTypesMax, type Resource } from '../../../src/resources/resource.ts'
import { describeTagged, type Operation } from '../operation.ts'
import { recordSchema } from '../records.ts'
import {
  counterSchemas,
  type JsonSchema,
  listOf,
  objectOf,
  okSchema,
  schemaName,
} from '../schemas.ts'
import { selectionParameters, versionComponents } from '../selection.ts'

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
