// Finds the endpoint of a target for any method, so that another one gets a 405 and not a 404.

import createFinder from 'find-my-way'
import { type Endpoint, type Handler, routerPath } from './endpoints/endpoint.ts'
import type { Target } from './wire/exchange.ts'

/** An endpoint with its handler. */
export interface Route {
  readonly endpoint: Endpoint
  readonly handle: Handler
}

/** The target of a request, and what answers it. */
export interface Found extends Target {
  readonly handle: Handler | undefined
}

const nowhere = { endpoint: undefined, handle: undefined, params: {}, query: {} }
const missing: Found = { ...nowhere, isMalformed: false }
const malformed: Found = { ...nowhere, isMalformed: true }

const noWork = () => undefined

/** @returns a function that finds the endpoint of a target, in any form that HTTP allows. */
export function createRouter(routes: readonly Route[]): (target: string) => Found {
  const finder = createFinder({
    // Lets an id that is far too long reach our own check, and get its message.
    maxParamLength: 16_384,
    onBadUrl: noWork,
  })
  for (const route of routes) finder.on('GET', routerPath(route.endpoint), noWork, route)
  return (target) => {
    const found = finder.find('GET', target)
    if (found === null) return missing
    const route = found.store as Route | null
    if (route === null) return malformed
    return {
      endpoint: route.endpoint,
      handle: route.handle,
      params: found.params as Found['params'],
      query: found.searchParams,
      isMalformed: false,
    }
  }
}
