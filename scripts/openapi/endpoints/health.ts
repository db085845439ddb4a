// The health checks.

import type { FailureStatus } from '../failures.ts'
import type { Operation } from '../operation.ts'
import { schemaRef } from '../schemas.ts'

/** The failures of HTTP itself, and the 503 of a failed check. */
const failures: readonly FailureStatus[] = [400, 405, 408, 413, 417, 431, 503, 505]

/** @param name of the check. */
export function describeHealth(name: string, summary: string): Operation {
  return {
    id: `health_${name}`,
    tag: 'health',
    summary,
    description: `200 if ${summary.charAt(0).toLowerCase()}${summary.slice(1)}. Needs no key.`,
    parameters: [],
    answers: {
      200: {
        description: summary,
        headers: ['X-Request-Id', 'Cache-Control'],
        types: { 'application/json': { schema: schemaRef('Ok'), example: { ok: true } } },
      },
    },
    failures,
  }
}
