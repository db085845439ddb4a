// What the service uses of `node:http`. An `import` of that reads all of its exports, and some of
// them load Node's client for `fetch` and WebSocket: 14 MB of memory, and 35 ms of each start.

import type { RequestListener, Server, ServerOptions } from 'node:http'

const http = process.getBuiltinModule('node:http')
export const { METHODS, request, STATUS_CODES } = http

// RFC 9110 section 15.5.14: Node still has the phrase of the specification before it. It writes
// status lines from this table, so both the line and our body have this one.
STATUS_CODES[413] = 'Content Too Large'

/**
 * Creates a server that also answers a client that has closed its sending side after its request:
 * Node would drop the answer.
 */
export function createServer(options: ServerOptions, listener: RequestListener): Server {
  return Object.assign(http.createServer(options, listener), { httpAllowHalfOpen: true })
}
