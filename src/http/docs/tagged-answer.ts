// The description of endpoints whose answers have a tag: what they all have is said once.

import type { AnswerDescription, Operation } from '../endpoints/endpoint.ts'
import { failureStatuses } from '../errors.ts'
import { answerHeaders, sharedSchemas } from './components.ts'
import { exampleOf, schemaRef } from './schemas.ts'

interface TaggedRead extends Omit<Operation, 'answers' | 'failures'> {
  /** Its 200, with the headers besides those that each has. */
  readonly answer: Omit<AnswerDescription, 'headers'> & { readonly headers?: readonly string[] }
  /** What has not happened if the answer is a 304, as the beginning of a sentence. */
  readonly unchanged: string
}

/** The headers of a 200 that its 304 has, too. */
const unchangedHeaders = ['Content-Location', 'Accept-Ranges', 'Repr-Digest']

export function describeTagged({ answer, unchanged, ...operation }: TaggedRead): Operation {
  const { headers = [], schema } = answer
  const schemas = { ...operation.schemas, ...sharedSchemas }
  const example = schema === undefined ? {} : { example: exampleOf(schemaRef(schema), schemas) }
  return {
    ...operation,
    parameters: [...operation.parameters, 'If-None-Match', 'X-Request-Id'],
    answers: {
      200: { ...example, ...answer, headers: answerHeaders(headers) },
      304: {
        description: `${unchanged} since the response with the tag in \`If-None-Match\``,
        headers: answerHeaders(headers.filter((name) => unchangedHeaders.includes(name))),
      },
    },
    failures: failureStatuses,
  }
}
