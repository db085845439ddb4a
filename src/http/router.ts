// Finds the endpoint of a target for any method, so that another one gets a 405 and not a 404.

import createFinder from 'find-my-way'
import { type Endpoint, routerPath } from './endpoints/endpoint.ts'
import type { Target } from './wire/exchange.ts'

const missing: Target = { endpoint: undefined, params: {}, query: {}, isMalformed: false }
const malformed: Target = { ...missing, isMalformed: true }

const noWork = () => undefined

/** @returns a function that finds the endpoint of a target, in any form that HTTP allows. */
export function createRouter(endpoints: readonly Endpoint[]): (target: string) => Target {
  const finder = createFinder({
    // Lets an id that is far too long reach our own check, and get its message.
    maxParamLength: 16_384,
    onBadUrl: noWork,
  })
  for (const endpoint of endpoints) finder.on('GET', routerPath(endpoint), noWork, endpoint)
  return (target) => {
    const found = finder.find('GET', target)
    if (found === null) return missing
    const endpoint = found.store as Endpoint | null
    if (endpoint === null) return malformed
    const params = found.params as Target['params']
    return { endpoint, params, query: found.searchParams, isMalformed: false }
  }
}
