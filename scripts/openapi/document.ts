// The OpenAPI 3.1 document, which `npm run generate` writes to docs/openapi.json. It derives from the
// table of endpoints, their descriptions and the catalogue of failures.

import type { Resource } from '../../src/resources/resource.ts'
import { programVersion } from '../../src/server/program-version.ts'
import {
  failureComponents,
  headerComponents,
  headerRefs,
  parameterComponents,
  sharedSchemas,
} from './components.ts'
import type { AnswerDescription } from './operation.ts'
import { type Described, describedOf } from './operations.ts'
import { type JsonSchema, ref } from './schemas.ts'

/** An OpenAPI document, as far as our own code reads it. */
interface OpenApi {
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly [member: string]: unknown
}

const description = `Companies by number or name, a company as a whole, and listings of its records,
page by page, as they are and as they were. The [client's guide](docs/client.md) has examples.

Send your key with every request as \`Authorization: Bearer <API_KEY>\`. Without a valid key, every
request under \`/api/\` gets the same 403.

You may also send parameters as a JSON object in the body of the GET request. Browsers cannot do
that, so this page does not offer it.`

export function createOpenApi(resources: readonly Resource[]): OpenApi {
  const described = describedOf(resources)
  const paths = described.map((one) => [one.path, { get: operationOf(one) }])
  return {
    openapi: '3.1.0',
    info: {
      title: 'Dossier',
      summary: 'Read-only company registry data',
      description,
      version: programVersion(),
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      contact: { name: 'The operator of this service' },
    },
    servers: [{ url: '/', description: 'This service', 'x-internal': false }],
    security: [{ key: [] }],
    tags: [
      { name: 'companies', description: 'Finding a company, and a company as a whole' },
      { name: 'listings', description: 'Records of a company' },
      { name: 'registry', description: 'The registry as a whole' },
      { name: 'key', description: 'The key itself' },
      { name: 'health', description: 'For load balancers and supervisors' },
    ],
    paths: Object.fromEntries(paths) as OpenApi['paths'],
    components: {
      securitySchemes: {
        key: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key: `dossier_` and 49 characters',
        },
      },
      parameters: parameterComponents,
      headers: headerComponents,
      schemas: Object.assign(
        {},
        ...described.map(({ operation }) => operation.schemas),
        sharedSchemas,
      ) as OpenApi['components'][string],
      responses: failureComponents(),
    },
  }
}

function operationOf({ operation, isOpen }: Described): JsonSchema {
  const { id, tag, summary, description, parameters, answers, failures } = operation
  const successes = Object.entries(answers).map(([status, answer]) => [status, answerOf(answer)])
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    // Not in the path item: the reference page does not resolve references there.
    parameters: parameters.map((one) => (typeof one === 'string' ? ref('parameters', one) : one)),
    ...(isOpen ? { security: [] } : {}),
    responses: {
      ...(Object.fromEntries(successes) as Record<string, JsonSchema>),
      ...Object.fromEntries(failures.map((status) => [status, ref('responses', `Error${status}`)])),
    },
  }
}

function answerOf({ description, headers, types = {} }: AnswerDescription): JsonSchema {
  const content = Object.entries(types).map(([type, { schema, example }]) => {
    const examples = { answer: { summary: description, value: example } }
    return [type, { schema, ...(example === undefined ? {} : { examples }) }]
  })
  return {
    ...{ description, headers: headerRefs(headers) },
    ...(content.length === 0 ? {} : { content: Object.fromEntries(content) as JsonSchema }),
  }
}
