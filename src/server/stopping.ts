// The stop of a server that drops nothing: first it says so, then it closes.

import { once } from 'node:events'
import type { Server } from 'node:http'
import { Server as ListeningServer } from 'node:net'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

/**
 * How long a server that stops goes on answering, each time with `Connection: close`. A client that
 * is told so opens another connection; one whose connection is closed on it unasked may just have
 * sent a request, and that would be lost.
 */
const drainMs = 450

/** For so long at most, connections stay open that were made before the listener closed. */
const lingerMsMax = 250

/** For so long at most the listener waits for a moment in which nobody connects. */
const quietMsMax = 250
/** A turn of the event loop that took no longer had nothing to do. */
const quietTurnMs = 0.2

/**
 * Stops a server: readiness goes, connections close with their next answer, the listener closes,
 * running requests end.
 *
 * @param deadlineMs is how long running requests may take after the listener has closed; what has
 *   not ended then is cut off.
 */
export async function stopServing(app: FastifyInstance, deadlineMs: number): Promise<void> {
  app.startDraining()
  await sleep(drainMs)
  await untilQuiet(app.server)
  const listenerClosed = app.server.listening ? once(app.server, 'close') : undefined
  // The listener alone: an HTTP server's own close hangs up on whoever has connected just now, and
  // whose request is still on its way.
  ListeningServer.prototype.close.call(app.server)
  const until = performance.now() + lingerMsMax
  while ((await countConnections(app.server)) > 0 && performance.now() < until) await sleep(10)
  app.stopAnswering()
  // A connection whose last request ends after the listener has closed is idle only then.
  const idle = setInterval(() => app.server.closeIdleConnections(), 50)
  const deadline = new AbortController()
  const closed = Promise.all([app.close(), listenerClosed]).finally(() => {
    clearInterval(idle)
    deadline.abort()
  })
  await sleep(deadlineMs, undefined, { signal: deadline.signal }).then(
    () => app.server.closeAllConnections(),
    () => undefined,
  )
  await closed
}

function countConnections(server: Server): Promise<number> {
  return new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  )
}

/**
 * Waits for a turn of the event loop in which nobody connects and hardly anything happens. A
 * connection that the kernel has made, and that we have not taken yet, is reset when a listener
 * closes; so it closes when it has just been seen that there is none.
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
