// The description of an endpoint; what all have whose answers have a tag is said once.

import { answerHeaders, sharedSchemas } from './components.ts'
import { type FailureStatus, failureStatuses } from './failures.ts'
import { exampleOf, type JsonSchema, schemaRef } from './schemas.ts'

/** A successful response in OpenAPI; headers are names of components. */
export interface AnswerDescription {
  readonly description: string
  readonly headers: readonly string[]
  /** Its media types; none for an answer without a body. */
  readonly types?: Readonly<
    Record<string, { readonly schema: JsonSchema; readonly example?: unknown }>
  >
}

/** The description of an endpoint in OpenAPI. */
export interface Operation {
  readonly id: string
  readonly tag: string
  readonly summary: string
  readonly description: string
  /** Names of parameters in `parameterComponents`, and parameters of this endpoint alone. */
  readonly parameters: readonly (string | JsonSchema)[]
  readonly answers: Readonly<Record<number, AnswerDescription>>
  readonly failures: readonly FailureStatus[]
  /** The schemas of its responses, except shared ones. */
  readonly schemas?: Readonly<Record<string, JsonSchema>>
}

interface TaggedRead extends Omit<Operation, 'answers' | 'failures'> {
  /** Its 200, with the headers besides those that each has. */
  readonly answer: {
    readonly description: string
    readonly headers?: readonly string[]
    /** The name of the schema of its JSON, and an example, if that is not made of its parts. */
    readonly schema?: string
    readonly example?: unknown
    readonly otherTypes?: AnswerDescription['types']
  }
  /** It names no company, version, cursor or copy, so there is no 404 and no 410. */
  readonly namesNothing?: true
  /** What has not happened if the answer is a 304, as the beginning of a sentence. */
  readonly unchanged: string
}

/** The headers of a 200 that its 304 has, too. */
const unchangedHeaders = ['Link', 'Content-Location', 'Accept-Ranges', 'Repr-Digest']

export function describeTagged(read: TaggedRead): Operation {
  const { answer, unchanged, namesNothing = false, ...operation } = read
  const { description, headers = [], schema, example, otherTypes } = answer
  const schemas = { ...operation.schemas, ...sharedSchemas }
  const json = schema === undefined ? undefined : schemaRef(schema)
  const ofJson = json && { schema: json, example: example ?? exampleOf(json, schemas) }
  return {
    ...operation,
    parameters: [...operation.parameters, 'If-None-Match', 'X-Request-Id'],
    answers: {
      200: {
        ...{ description, headers: answerHeaders(headers) },
        types: { ...(ofJson && { 'application/json': ofJson }), ...otherTypes },
      },
      304: {
        description: `${unchanged} since the response with the tag in \`If-None-Match\``,
        headers: answerHeaders(headers.filter((name) => unchangedHeaders.includes(name))),
      },
    },
    failures: failureStatuses.filter((one) => !(namesNothing && [404, 410].includes(one))),
  }
}
