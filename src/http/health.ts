// For load balancers and supervisors: does the process live, and does the store answer?

import type { FastifyInstance } from 'fastify'
import type { StoreReader } from '../store/reading.ts'
import { unavailable } from './errors.ts'

export const healthPaths = { live: '/healthz', ready: '/readyz' } as const

/** Whether it is one of the checks, which are answered however much there is to do. */
export function isHealthPath(url: string): boolean {
  return url === healthPaths.live || url === healthPaths.ready
}

/**
 * Adds the two checks; neither needs a key, and neither tells anything of the data. A server that
 * drains lives, but is not ready: whoever watches sends its requests elsewhere.
 */
export function addHealth(
  app: FastifyInstance,
  store: StoreReader,
  stop: { readonly isDraining: boolean },
): void {
  app.get(healthPaths.live, (_request, reply) => sendOk(reply))
  app.get(healthPaths.ready, async (_request, reply) => {
    if (stop.isDraining) throw unavailable()
    try {
      await store.ping()
    } catch (error) {
      throw unavailable(error)
    }
    return sendOk(reply)
  })
}

function sendOk(reply: { header(name: string, value: string): { send(body: unknown): unknown } }) {
  return reply.header('cache-control', 'no-store').send({ ok: true })
}
