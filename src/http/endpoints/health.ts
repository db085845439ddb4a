// For load balancers and supervisors: does the process live, and does the store answer? Neither
// check needs a key, and neither tells anything of the data.

import type { FastifyReply } from 'fastify'
import { type FailureStatus, unavailable } from '../errors.ts'
import { type Endpoint, type Operation, readMethods } from './endpoint.ts'

/** What HTTP itself asks for, and what the checks are there to say. */
const failures: readonly FailureStatus[] = [400, 405, 408, 413, 417, 431, 503, 505]

const live: Endpoint = {
  path: '/healthz',
  methods: readMethods,
  scope: undefined,
  isAlwaysAnswered: true,
  operation: describe('live', 'The process is running'),
  createHandler: () => (_request, reply) => sendOk(reply),
}

/** A draining server lives, but is not ready: its clients should send requests elsewhere. */
const ready: Endpoint = {
  path: '/readyz',
  methods: readMethods,
  scope: undefined,
  isAlwaysAnswered: true,
  operation: describe('ready', 'The service can answer requests'),
  createHandler:
    ({ store, isDraining }) =>
    async (_request, reply) => {
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
        headers: ['X-Request-Id'],
        schema: 'Ok',
        example: { name: 'ok', value: { ok: true } },
      },
    },
    failures,
  }
}

function sendOk(reply: FastifyReply): FastifyReply {
  return reply.header('cache-control', 'no-store').send({ ok: true })
}
