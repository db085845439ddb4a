// Health checks for load balancers and supervisors: is the process alive, and does the store
// answer? Neither check needs a key or reveals any data.

import type { HttpReply } from '../wire/exchange.ts'
import { schemaRef } from '../docs/schemas.ts'
import { type FailureStatus, unavailable } from '../errors.ts'
import { type Endpoint, type Operation } from './endpoint.ts'

/** The failures of HTTP itself, and the 503 of a failed check. */
const failures: readonly FailureStatus[] = [400, 405, 408, 413, 417, 431, 503, 505]

const live: Endpoint = {
  path: '/healthz',
  scope: undefined,
  isAlwaysAnswered: true,
  operation: describe('live', 'The process is running'),
  createHandler:
    () =>
    ({ reply }) =>
      sendOk(reply),
}

/** A draining server is alive but not ready: clients should send requests elsewhere. */
const ready: Endpoint = {
  path: '/readyz',
  scope: undefined,
  isAlwaysAnswered: true,
  operation: describe('ready', 'The service can answer requests'),
  createHandler:
    ({ store, isDraining }) =>
    async ({ reply }) => {
      if (isDraining()) throw unavailable()
      try {
        await store.ping()
      } catch (error) {
        throw unavailable(error)
      }
      return sendOk(reply)
    },
}

export const healthChecks: readonly Endpoint[] = [live, ready]

function describe(name: string, summary: string): Operation {
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

function sendOk(reply: HttpReply): HttpReply {
  return reply
    .header('content-type', 'application/json; charset=utf-8')
    .header('cache-control', 'no-store')
    .send('{"ok":true}')
}
