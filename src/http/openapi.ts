// The OpenAPI 3.1 document: all of it derives from the declared resources and from the tables of
// parameters and errors, so it cannot say anything else than what the service does.

import { STATUS_CODES } from 'node:http'
import {
  exampleRecord,
  metaTypeBytesMax,
  metaTypesMax,
  recordSchema,
  type Resource,
} from '../resources/resource.ts'
import type { JsonSchema } from '../resources/field.ts'
import { healthPaths } from './health.ts'
import { listingPath } from './listing-route.ts'
import { parameters } from './parameters.ts'

/** An OpenAPI document, as far as its readers here need to know. */
export interface OpenApi {
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly [member: string]: unknown
}

const company = { type: 'integer', format: 'int64', minimum: 1, maximum: Number.MAX_SAFE_INTEGER }
const count = { type: 'integer', format: 'int64', minimum: 0, maximum: Number.MAX_SAFE_INTEGER }
const shortText = { type: 'string', maxLength: 1_024 }

/** What may go wrong with a listing, and when (contract section 4). */
const failures: Readonly<Record<number, { when: string; example?: string }>> = {
  400: {
    when:
      'A parameter, `company_id` or the body is not valid; or the page would be larger than 16 ' +
      'MiB, and the message names a `limit` that fits.',
    example: 'limit is "0"; it takes an integer from 1 to 1000',
  },
  403: {
    when: 'The key is missing, malformed, unknown, expired, revoked or not for this listing.',
  },
  404: {
    when: 'The registry does not know the company.',
    example: 'Company 123 is not in the registry',
  },
  405: { when: 'Another method than GET and HEAD.' },
  408: { when: 'The request did not arrive in time.' },
  413: { when: 'The body is larger than 16 KiB.' },
  415: { when: 'The body is not `application/json`.' },
  417: { when: 'An `Expect` field other than `100-continue`.' },
  429: { when: 'The client asks too often, or has tried too many keys that are none.' },
  431: { when: 'The header is larger than 16 KiB, or has more than 100 fields.' },
  500: { when: 'A fault of the service. Its log has more under the same `X-Request-Id`.' },
  503: { when: 'The store cannot be reached, or the service is overloaded or stopping.' },
  505: { when: 'Another version of HTTP than 1.0 and 1.1.' },
}

const description = `Five listings of a company, page by page.

Send your key with every request, as \`Authorization: Bearer <API_KEY>\`. Without a good key every
answer under \`/api/\` is the same 403.

\`page\` and \`limit\` may also come as members of a JSON object in the body of the GET request;
browsers cannot send one, so this page does not offer it.`

/** Makes the document; `version` is the program's. */
export function createOpenApi(resources: readonly Resource[], version: string): OpenApi {
  const entries = resources.map((resource) => [
    listingPath(resource).replace(':company_id', '{company_id}'),
    { get: listingOperation(resource) },
  ])
  return {
    openapi: '3.1.0',
    info: {
      title: 'Dossier',
      summary: 'Company registry data: read-only listings of a company',
      description,
      version,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      contact: { name: 'The operator of this service' },
    },
    servers: [{ url: '/', description: 'This service', 'x-internal': false }],
    security: [{ key: [] }],
    tags: [
      { name: 'listings', description: 'What the registry knows of a company' },
      { name: 'health', description: 'For load balancers and supervisors' },
    ],
    paths: {
      ...(Object.fromEntries(entries) as OpenApi['paths']),
      [healthPaths.live]: { get: healthOperation('live', 'The process lives') },
      [healthPaths.ready]: { get: healthOperation('ready', 'The store answers') },
    },
    components: {
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer', description: 'A key: `dossier_` and 49 characters' },
      },
      parameters: parameterComponents(),
      headers: headerComponents,
      schemas: schemaComponents(resources),
      responses: responseComponents(),
    },
  }
}

function ref(kind: string, name: string): JsonSchema {
  return { $ref: `#/components/${kind}/${name}` }
}

function schemaName({ name }: Resource): string {
  return name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

function listingOperation(resource: Resource): JsonSchema {
  return {
    operationId: `list_${resource.name}`,
    tags: ['listings'],
    summary: `${resource.title}s of a company`,
    description: `${resource.description} Ordered by ${orderInWords(resource)}.`,
    // Here and not beside the operation: the reference page does not resolve it there.
    parameters: [
      ref('parameters', 'company_id'),
      ref('parameters', 'page'),
      ref('parameters', 'limit'),
      ref('parameters', 'If-None-Match'),
      ref('parameters', 'X-Request-Id'),
    ],
    responses: {
      200: {
        description: 'A page of the listing',
        headers: headerRefs(['X-Request-Id', 'Link', ...validatorHeaders, ...rateHeaders]),
        content: {
          'application/json': {
            schema: ref('schemas', `${schemaName(resource)}Page`),
            examples: { page: { summary: 'One record', value: examplePage(resource) } },
          },
        },
      },
      304: {
        description: 'The page is still what the tag in If-None-Match says',
        headers: headerRefs(['X-Request-Id', ...validatorHeaders, ...rateHeaders]),
      },
      ...Object.fromEntries(
        Object.keys(failures).map((code) => [code, ref('responses', `Error${code}`)]),
      ),
    },
  }
}

function orderInWords({ order }: Resource): string {
  const way = order.direction === 'ascending' ? 'ascending' : 'descending'
  return order.by === 'id' ? `\`id\`, ${way}` : `\`${order.by}\`, then \`id\`, both ${way}`
}

/** What may go wrong with a health check: what HTTP asks for, and what it is there to tell. */
const healthFailures = ['400', '405', '408', '413', '417', '431', '503', '505']

function healthOperation(name: string, summary: string): JsonSchema {
  const ok = {
    description: summary,
    headers: headerRefs(['X-Request-Id']),
    content: {
      'application/json': {
        schema: ref('schemas', 'Ok'),
        examples: { ok: { value: { ok: true } } },
      },
    },
  }
  return {
    operationId: `health_${name}`,
    tags: ['health'],
    summary,
    description: `${summary}: 200. Needs no key.`,
    security: [],
    responses: {
      200: ok,
      ...Object.fromEntries(healthFailures.map((code) => [code, ref('responses', `Error${code}`)])),
    },
  }
}

function parameterComponents(): Readonly<Record<string, JsonSchema>> {
  const paging = Object.entries(parameters).map(([name, parameter]) => [
    name,
    {
      name,
      in: 'query',
      description: parameter.description,
      schema: {
        type: 'integer',
        format: 'int64',
        minimum: parameter.minimum,
        maximum: parameter.maximum,
        default: parameter.default,
      },
      example: parameter.default,
    },
  ])
  const header = (name: string, text: string, example: string) => ({
    name,
    in: 'header',
    description: text,
    // An example of the parameter itself would be filled in, and sent, by the reference page.
    schema: { ...shortText, examples: [example] },
  })
  return {
    company_id: {
      name: 'company_id',
      in: 'path',
      required: true,
      description: 'Unique identifier of the company',
      schema: company,
      example: 1,
    },
    ...(Object.fromEntries(paging) as Record<string, JsonSchema>),
    'If-None-Match': header(
      'If-None-Match',
      'The `ETag` of an earlier answer: 304 while nothing has changed',
      'W/"3f9a1c0b7d2e-1-100"',
    ),
    'X-Request-Id': header(
      'X-Request-Id',
      'An id of your own for this request, at most 64 characters of `[A-Za-z0-9._-]`',
      'order-4711',
    ),
  }
}

const validatorHeaders = ['ETag', 'Cache-Control', 'Vary', 'Data-Version', 'Last-Modified']

/** On every answer to a key that has a limit, but for what is answered before it is known. */
const rateHeaders = ['RateLimit', 'RateLimit-Policy']
const beforeTheKey = ['403', '408', '417', '431', '505']

const headerComponents = {
  'X-Request-Id': responseHeader('The id of this request, yours if you gave one', 'order-4711'),
  Link: responseHeader(
    'The `first`, `prev`, `next` and `last` page (RFC 8288)',
    '</api/v1/companies/1/rights?page=2&limit=100>; rel="next"',
  ),
  ETag: responseHeader('Changes when this listing changes', 'W/"3f9a1c0b7d2e-1-100"'),
  'Cache-Control': responseHeader('Keep it, but ask before using it', 'private, no-cache'),
  Vary: responseHeader('What else the answer depends on', 'Accept-Encoding'),
  'Data-Version': {
    description: "The registry's version that the answer was read from",
    schema: count,
    example: 12,
  },
  'Last-Modified': responseHeader(
    'When this listing last changed',
    'Tue, 17 Jan 2023 16:03:05 GMT',
  ),
  Allow: responseHeader('The methods that the path takes', 'GET, HEAD'),
  RateLimit: responseHeader(
    'Where the key has a limit: `r` more requests within the next `t` seconds',
    '"default";r=50;t=30',
  ),
  'RateLimit-Policy': responseHeader(
    'Where the key has a limit: `q` requests in a window of `w` seconds',
    '"default";q=600;w=300',
  ),
  'Retry-After': {
    description: 'After how many seconds to try again',
    schema: { type: 'integer', format: 'int32', minimum: 0, maximum: 86_400 },
    example: 5,
  },
}

function responseHeader(text: string, example: string): JsonSchema {
  return { description: text, schema: shortText, example }
}

function headerRefs(names: readonly string[]): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(names.map((name) => [name, ref('headers', name)]))
}

function schemaComponents(resources: readonly Resource[]): Readonly<Record<string, JsonSchema>> {
  const ok: JsonSchema = {
    type: 'object',
    description: 'All is well',
    properties: { ok: { type: 'boolean', const: true } },
    required: ['ok'],
    additionalProperties: false,
  }
  const kinds = resources.flatMap((resource) => [
    [schemaName(resource), recordSchema(resource)],
    [`${schemaName(resource)}Page`, pageSchema(resource)],
  ])
  return {
    ...(Object.fromEntries(kinds) as Record<string, JsonSchema>),
    Meta: metaSchema,
    Failure: failureSchema,
    Ok: ok,
  }
}

const metaSchema: JsonSchema = {
  type: 'object',
  description: 'How many records of the listing are of one kind of change',
  properties: {
    type: {
      type: 'string',
      maxLength: metaTypeBytesMax,
      description: 'Kind of change',
      examples: ['address'],
    },
    count: { ...count, minimum: 1, description: 'Number of events of that kind', examples: [3] },
  },
  required: ['type', 'count'],
  additionalProperties: false,
}

const failureSchema: JsonSchema = {
  type: 'object',
  description: 'Why the request was not answered',
  properties: {
    ok: { const: false },
    error: {
      type: 'object',
      properties: {
        code: { type: 'integer', format: 'int32', minimum: 400, maximum: 599 },
        message: shortText,
      },
      required: ['code', 'message'],
      additionalProperties: false,
    },
  },
  required: ['ok', 'error'],
  additionalProperties: false,
}

function pageSchema(resource: Resource): JsonSchema {
  const properties = {
    ok: { type: 'boolean', const: true },
    [resource.name]: {
      type: 'array',
      maxItems: parameters.limit.maximum,
      items: ref('schemas', schemaName(resource)),
    },
    ...(resource.metaOf === undefined
      ? {}
      : { meta: { type: 'array', maxItems: metaTypesMax, items: ref('schemas', 'Meta') } }),
    total: { ...count, description: 'Records of this kind that the company has' },
    pagination_total: { ...count, description: 'Records that the request pages over' },
    pagination_offset: {
      type: 'integer',
      format: 'int64',
      minimum: 0,
      // Of the last page that can be asked for, at the largest limit.
      maximum: (parameters.page.maximum - 1) * parameters.limit.maximum,
      description: 'Records that stand before the first one of this page',
    },
  }
  return {
    type: 'object',
    description: `A page of ${resource.name}`,
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  }
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

function responseComponents(): Readonly<Record<string, JsonSchema>> {
  const responses = Object.entries(failures).map(([code, { when, example }]) => {
    const headers = ['X-Request-Id']
    if (!beforeTheKey.includes(code)) headers.push(...rateHeaders)
    if (code === '405') headers.push('Allow')
    if (code === '429' || code === '503') headers.push('Retry-After')
    const message = example ?? STATUS_CODES[code]
    const value = { ok: false, error: { code: Number(code), message } }
    return [
      `Error${code}`,
      {
        description: when,
        headers: headerRefs(headers),
        content: {
          'application/json': {
            schema: ref('schemas', 'Failure'),
            examples: { failure: { value } },
          },
        },
      },
    ]
  })
  return Object.fromEntries(responses) as Record<string, JsonSchema>
}
