// The shared parts of the OpenAPI document: parameters, headers, schemas and failures, by name.

import { rateSecondsMax } from '../../src/config/rate.ts'
import { linkLengthMax, locationLengthMax } from '../../src/http/answers/links.ts'
import { formatName, recordFormats } from '../../src/http/requests/formats.ts'
import { type Parameter, parameters } from '../../src/http/requests/listing-request.ts'
import { STATUS_CODES } from '../../src/http/wire/node-http.ts'
import { metaTypeBytesMax } from '../../src/resources/resource.ts'
import { type FailureDescription, failures } from './failures.ts'
import {
  companySchema,
  companyText,
  countSchema,
  type JsonSchema,
  member,
  objectOf,
  okSchema,
  query,
  ref,
  registerNumberPattern,
  schemaRef,
  type Schemas,
  shortText,
} from './schemas.ts'
import { versionComponents } from './selection.ts'

/** The validators of an answer and what caches need to know (contract section 5). */
const validatorHeaders = ['ETag', 'Cache-Control', 'Vary', 'Data-Version', 'Last-Modified']
/** The headers of every response to a key with a rate limit, once the key is known. */
const rateHeaders = ['RateLimit', 'RateLimit-Policy']

/** The headers of a 200 or a 304. @param more those besides the ones that each has. */
export function answerHeaders(more: readonly string[] = []): string[] {
  return ['X-Request-Id', ...more, ...validatorHeaders, ...rateHeaders]
}

/** References to headers, by name. */
export function headerRefs(names: readonly string[]): Schemas {
  return Object.fromEntries(names.map((name) => [name, ref('headers', name)]))
}

/** A parameter in a query that is a number. */
export function numberParameter(
  name: string,
  { default: usual, minimum, maximum }: Parameter,
  description: string,
): JsonSchema {
  const schema = { type: 'integer', format: 'int64', default: usual, minimum, maximum }
  return query(name, { description, schema, example: usual })
}

/** What the parameters of every listing mean. */
export const parameterMeanings: Readonly<Record<keyof typeof parameters, string>> = {
  page:
    'Page number. An import between two requests may move records to other pages; the link ' +
    '`next` of a listing stays on one version',
  limit: 'Records per page',
}

const limit = numberParameter('limit', parameters.limit, parameterMeanings.limit)

export const parameterComponents: Schemas = {
  company_id: {
    name: 'company_id',
    in: 'path',
    required: true,
    description: 'Id of the company, or its register number: `GB:09876543`',
    // The reference page takes no list of types.
    schema: {
      oneOf: [companySchema, { ...companyText, pattern: `^${registerNumberPattern}$` }],
    },
    example: 1,
  },
  page: numberParameter('page', parameters.page, parameterMeanings.page),
  limit,
  limit_or_all: {
    ...limit,
    description: 'Records per page; `all` of them in one answer',
    // The number has the default: generated checks of both have no type for one beside them.
    schema: { oneOf: [limit['schema'], { type: 'string', enum: ['all'] }] },
  },
  format: query(formatName, {
    description: 'JSON; without it, `Accept` chooses',
    schema: { type: 'string', enum: ['json'], default: 'json', examples: ['json'] },
  }),
  record_format: query(formatName, {
    ...{ required: true, description: 'CSV, or one line of JSON each' },
    schema: { type: 'string', enum: recordFormats },
    example: recordFormats[0],
  }),
  ...versionComponents,
  'If-None-Match': requestHeader(
    'If-None-Match',
    'The `ETag` of an earlier response; gives a 304 if nothing has changed',
    'W/"5d1c3f9a1c0b7d2e-q83vEjRWeJA0"',
  ),
  Range: requestHeader('Range', 'The requested part of the file', 'bytes=1048576-'),
  'If-Range': requestHeader(
    'If-Range',
    'The `ETag` of the file of which you have a part; gives the whole file if it has changed',
    '"5d41402abc4b2a76b9719d911017c592ae1d2c3b4f5a6978879695a4b3c2d1e0"',
  ),
  'X-Request-Id': requestHeader(
    'X-Request-Id',
    'Your own id for this request: 1 to 64 characters of `[A-Za-z0-9._-]`',
    'order-4711',
  ),
}

function requestHeader(name: string, description: string, example: string): JsonSchema {
  // The reference page would fill in, and send, an example of the parameter itself.
  return { name, in: 'header', description, schema: { ...shortText, examples: [example] } }
}

const headers: Schemas = {
  'X-Request-Id': responseHeader('The id of this request; yours, if you sent one', 'order-4711'),
  'Content-Location': responseHeader(
    'If you named the company by its register number, or the version by a date: the same page by ' +
      'id and version, unless that is longer than 4 KiB',
    '/api/v1/companies/1/rights?page=1&limit=100',
    { ...shortText, maxLength: locationLengthMax },
  ),
  Link: responseHeader(
    'Links to the `first`, `prev`, `next` and `last` page of this version (RFC 8288), and to ' +
      'the `latest-version` where there is a later one',
    '</api/v1/companies/1/rights?page=2&limit=100&version=12>; rel="next"',
    { ...shortText, maxLength: linkLengthMax },
  ),
  'X-Total-Count': responseHeader(
    'With CSV and NDJSON: the `pagination_total` of JSON',
    1,
    countSchema,
  ),
  'Changes-Until': responseHeader('The `until` of JSON', '17.5d1c3f9a1c0b7d2e.lkxj9o4x'),
  'Changes-Next': responseHeader(
    'The `next` of JSON; absent at the end',
    '12.5d1cb0d2e3f9a1c7.lke8zl1d~17.5d1c3f9a1c0b7d2e.lkxj9o4x~rights.17.1.0.1~rights.',
  ),
  'Accept-Ranges': responseHeader('Parts of the file can be requested with `Range`', 'bytes'),
  'Content-Range': responseHeader(
    'The bytes in this part, and the size of the file',
    'bytes 0-99/1234',
  ),
  'Repr-Digest': responseHeader(
    'The SHA-256 of the whole file (RFC 9530)',
    'sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:',
  ),
  'Content-Disposition': responseHeader(
    'With CSV and NDJSON: the name of a file',
    'attachment; filename="rights-1-version-12.csv"',
  ),
  ETag: responseHeader('Changes when this listing changes', 'W/"5d1c3f9a1c0b7d2e-q83vEjRWeJA0"'),
  'Cache-Control': responseHeader(
    'Cache the response, but revalidate it before each use; errors and health checks: `no-store`',
    'private, no-cache',
  ),
  Vary: responseHeader('Request headers that the response depends on', 'Accept, Accept-Encoding'),
  'Data-Version': responseHeader(
    'Version of the registry that the response was read from',
    12,
    countSchema,
  ),
  'Last-Modified': responseHeader(
    'When this listing last changed',
    'Tue, 17 Jan 2023 16:03:05 GMT',
  ),
  Allow: responseHeader('The methods that the path supports', 'GET, HEAD'),
  RateLimit: responseHeader(
    'For keys with a rate limit: `r` requests left in the next `t` seconds',
    '"default";r=50;t=30',
  ),
  'RateLimit-Policy': responseHeader(
    'For keys with a rate limit: `q` requests per window of `w` seconds',
    '"default";q=600;w=300',
  ),
  'Retry-After': responseHeader('Seconds to wait before the next attempt', 5, {
    ...{ type: 'integer', format: 'int32', minimum: 0, maximum: rateSecondsMax },
  }),
}

/** Headers that an answer of which they are announced may lack, as they or the guide say. */
const optionalHeaders = ['Content-Location', 'Link', 'Changes-Next', 'Retry-After', ...rateHeaders]

export const headerComponents: Schemas = Object.fromEntries(
  Object.entries(headers).map(([name, header]) => [
    name,
    optionalHeaders.includes(name) ? header : { ...header, required: true },
  ]),
)

function responseHeader(
  description: string,
  example: string | number,
  schema: JsonSchema = shortText,
): JsonSchema {
  return { description, schema, example }
}

/** Schemas that endpoints share. */
export const sharedSchemas: Schemas = {
  Meta: objectOf('Number of events of one kind', {
    type: member({ type: 'string', maxLength: metaTypeBytesMax }, 'Kind of change', 'address'),
    count: member({ ...countSchema, minimum: 1 }, 'Number of events of that kind', 1),
  }),
  Failure: objectOf('An error response', {
    ok: { const: false },
    error: objectOf('What was wrong', {
      code: { type: 'integer', format: 'int32', minimum: 400, maximum: 599 },
      message: shortText,
    }),
  }),
  Ok: objectOf('The check passed', { ok: okSchema }),
}

/** The response of each failure, named `Error` and its status. */
export function failureComponents(): Schemas {
  const described: readonly [string, FailureDescription][] = Object.entries(failures)
  const responses = described.map(([status, failure]) => {
    const headers = [
      'X-Request-Id',
      'Cache-Control',
      ...(failure.isBeforeTheKey === true ? [] : rateHeaders),
      ...(failure.headers ?? []),
    ]
    const message = failure.example ?? STATUS_CODES[status]
    const value = { ok: false, error: { code: Number(status), message } }
    return [
      `Error${status}`,
      {
        description: failure.when,
        headers: headerRefs(headers),
        content: {
          'application/json': { schema: schemaRef('Failure'), examples: { failure: { value } } },
        },
      },
    ]
  })
  return Object.fromEntries(responses) as Schemas
}
