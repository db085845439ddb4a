// The description of endpoints whose answers have a tag: what they all have is said once.

import type { AnswerDescription, Operation } from '../endpoints/endpoint.ts'
import { failureStatuses } from '../errors.ts'
import { answerHeaders, sharedSchemas } from './components.ts'
import { exampleOf, schemaRef } from './schemas.ts'

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
  /** What has not happened if the answer is a 304, as the beginning of a sentence. */
  readonly unchanged: string
}

/** The headers of a 200 that its 304 has, too. */
const unchangedHeaders = ['Content-Location', 'Accept-Ranges', 'Repr-Digest']

export function describeTagged({ answer, unchanged, ...operation }: TaggedRead): Operation {
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
    failures: failureStatuses,
  }
}
