// Stops a server without losing requests: it announces the stop to its clients, then closes.

import { once } from 'node:events'
import type { Server } from 'node:http'
import { Server as ListeningServer } from 'node:net'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { App } from '../http/app.ts'
import { cutConnections } from '../http/wire/server.ts'

/**
 * How long a stopping server keeps answering, with `Connection: close`. A client that gets this
 * opens another connection. If a connection closed without notice, a request that the client had
 * just sent would be lost.
 */
const drainMs = 450

/** How long connections may stay open that were made before the listener closed. */
const lingerMsMax = 250

/** How long to wait for a moment without new connections before the listener closes. */
const quietMsMax = 250
/** A turn of the event loop that took at most this long was idle. */
const quietTurnMs = 0.2

/**
 * Stops a server: it is no longer ready, connections close with their next response, the listener
 * closes, running requests finish.
 *
 * @param deadlineMs is how long running requests may take after the listener has closed; then their
 *   connections are closed.
 */
export async function stopServing(app: App, deadlineMs: number): Promise<void> {
  app.startDraining()
  await sleep(drainMs)
  await untilQuiet(app.server)
  const listenerClosed = app.server.listening ? once(app.server, 'close') : undefined
  // Closes only the listener: an HTTP server's own close() also closes new connections whose first
  // request is still on its way.
  ListeningServer.prototype.close.call(app.server)
  const until = performance.now() + lingerMsMax
  while ((await countConnections(app.server)) > 0 && performance.now() < until) await sleep(10)
  app.stopAnswering()
  // Connections may become idle after the listener has closed.
  const idle = setInterval(() => app.server.closeIdleConnections(), 50)
  const deadline = new AbortController()
  const closed = Promise.all([app.close(), listenerClosed]).finally(() => {
    clearInterval(idle)
    deadline.abort()
  })
  await sleep(deadlineMs, undefined, { signal: deadline.signal }).then(
    () => cutConnections(app.server),
    () => undefined,
  )
  await closed
}

const countConnections = (server: Server): Promise<number> =>
  promisify(server.getConnections.bind(server))()

/**
 * Waits for an idle turn of the event loop without new connections. When a listener closes, the
 * kernel resets connections that it has established and we have not accepted; right after such a
 * turn there are none.
 */
async function untilQuiet(server: Server): Promise<void> {
  let connections = 0
  const count = () => (connections += 1)
  server.on('connection', count)
  const until = performance.now() + quietMsMax
  let turnMs: number
  do {
    connections = 0
    const startedAt = performance.now()
    await turn()
    turnMs = performance.now() - startedAt
  } while ((connections > 0 || turnMs > quietTurnMs) && performance.now() < until)
  server.off('connection', count)
}
