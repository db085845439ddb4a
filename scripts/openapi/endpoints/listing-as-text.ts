// A listing's records alone, as CSV or NDJSON. The paths are those of the listings. It is an
// operation of its own, since generated clients take every type of an operation's answer for
// possible: each caller of a listing would have to rule text out.

import { mediaTypes, recordFormats, recordWriter } from '../../../src/http/requests/formats.ts'
import { listingPath } from '../../../src/http/requests/listing-request.ts'
import type { Resource } from '../../../src/resources/resource.ts'
import { describeTagged, type Operation } from '../operation.ts'
import { exampleRecord } from '../records.ts'
import type { JsonSchema } from '../schemas.ts'
import { selectionParameters, versionComponents } from '../selection.ts'

/** The name of the parameter in whose place the name of a listing stands. */
const placeholder = 'listing'

/** The path of the listings of all resources; that of one listing is matched before it. */
export const listingAsTextPath = listingPath({ name: `{${placeholder}}` })

/** The description of all listings in the formats without counters. */
export function describeListingAsText(resources: readonly Resource[]): Operation {
  const names = resources.map(({ name }) => name)
  return describeTagged({
    id: 'export_listing',
    tag: 'listings',
    summary: 'Records of a listing as CSV or NDJSON',
    description:
      'The records alone, a page of them or, with `limit=all`, all that the request selects. ' +
      'Each listing takes its own filters and orders; another one is a 400.',
    parameters: [
      'company_id',
      {
        ...{ name: placeholder, in: 'path', required: true, description: 'Name of the listing' },
        ...{ schema: { type: 'string', enum: names }, example: names[0] },
      },
      'record_format',
      'page',
      'limit_or_all',
      ...Object.keys(versionComponents),
      ...allSelectionParameters(resources),
    ],
    answer: {
      description: 'The records; their counters are in headers',
      headers: ['Link', 'Content-Location', 'X-Total-Count', 'Content-Disposition'],
      otherTypes: recordTypes(resources),
    },
    unchanged: 'The records have not changed',
  })
}

/** The records in each format, with an example from the first resource. */
function recordTypes([resource]: readonly Resource[]) {
  if (resource === undefined) return {}
  const record = Buffer.from(JSON.stringify(exampleRecord(resource)))
  // A whole listing may be of any length.
  const schema = { type: 'string', maxLength: Number.MAX_SAFE_INTEGER }
  const types = recordFormats.map((format) => {
    const { header, bytes } = recordWriter(format, resource)
    return [mediaTypes[format], { schema, example: header + bytes([record]).toString() }] as const
  })
  return Object.fromEntries(types)
}

/** The filters and orders of all resources, by name, with the listings that take them. */
function allSelectionParameters(resources: readonly Resource[]): JsonSchema[] {
  const all = resources.flatMap((resource) =>
    selectionParameters(resource).map((parameter) => ({ parameter, listing: resource.name })),
  )
  const byName = Map.groupBy(all, ({ parameter }) => parameter['name'])
  return [...byName.values()].map((same) => {
    const [first] = same
    const schemas = same.map(({ parameter }) => parameter['schema'] as JsonSchema)
    const listings = same.map(({ listing }) => `\`${listing}\``).join(', ')
    const values = [...new Set(schemas.flatMap(({ enum: values }) => (values ?? []) as string[]))]
    return {
      ...first?.parameter,
      description: `${String(first?.parameter['description'])} (${listings})`,
      schema: { ...schemas[0], ...(values.length === 0 ? {} : { enum: values }) },
    }
  })
}
