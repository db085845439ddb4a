// The catalogue of failures (contract section 4), for the OpenAPI document and the guides.

import { bodyBytesMax, headersMax } from '../../src/http/errors.ts'
import { pageBytesMax } from '../../src/store/page-size.ts'

/** The description of a failure in the OpenAPI document and in the guides. */
export interface FailureDescription {
  readonly when: string
  /** An example message, if messages are not the status's own phrase. */
  readonly example?: string
  /** Headers in addition to those of every failure. */
  readonly headers?: readonly string[]
  /** It is sent before the key is known, so without the headers of the key's rate limit. */
  readonly isBeforeTheKey?: true
}

/** Every failure of a request, by status (contract section 4). */
export const failures = {
  400: {
    when:
      'A parameter, `company_id` or the body is invalid, or the page would be larger than ' +
      `${pageBytesMax >> 20} MiB; then the message names a \`limit\` that fits.`,
    example: 'limit is "0"; it takes an integer from 1 to 1000',
  },
  // One for a listing that a request for changes or a file names comes after the rate limit.
  403: {
    when: 'The key is missing, malformed, unknown, expired, revoked or not valid for this listing.',
  },
  404: {
    when: 'The company, or the version, is not in the registry.',
    example: 'Company GB:9876543 is not in the registry; did you mean GB:09876543?',
    // Where a version is later than the last one.
    headers: ['Retry-After'],
  },
  405: { when: 'The method is neither GET nor HEAD.', headers: ['Allow'] },
  408: { when: 'The request did not arrive in time.', isBeforeTheKey: true },
  410: {
    when:
      'The version was pruned, and the message names the earliest one; or a cursor is of another ' +
      'history, or a copy was withdrawn.',
    example: 'Version 3 was pruned; the earliest one is 12',
    headers: ['Link'],
  },
  413: { when: `The body is larger than ${bodyBytesMax / 1_024} KiB.` },
  415: { when: 'The body is not `application/json`.' },
  416: {
    when: 'The range of bytes is beyond the end of the file.',
    example: "None of the file's 172 bytes is in the range; if you have them all, it is complete",
    headers: ['Content-Range'],
  },
  417: { when: 'The `Expect` header is not `100-continue`.', isBeforeTheKey: true },
  429: {
    when: 'The key is over its rate limit, or the client has tried too many invalid keys.',
    headers: ['Retry-After'],
  },
  431: {
    when: `The headers are larger than 16 KiB, or there are more than ${headersMax}.`,
    isBeforeTheKey: true,
  },
  500: { when: 'A bug in the service. Give its operator the `X-Request-Id`.' },
  503: {
    when: 'The store is unavailable, or the service is overloaded or stopping.',
    headers: ['Retry-After'],
  },
  505: { when: 'The HTTP version is neither 1.0 nor 1.1.', isBeforeTheKey: true },
} as const satisfies Readonly<Record<number, FailureDescription>>

export type FailureStatus = keyof typeof failures

/** The status of what only files have: ranges. */
export const rangeStatus = 416

/** The statuses of all other failures, in ascending order. */
export const failureStatuses = Object.keys(failures)
  .map(Number)
  .filter((status) => status !== rangeStatus) as readonly FailureStatus[]
