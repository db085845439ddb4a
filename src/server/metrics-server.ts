// The HTTP server for metrics: apart from the API, without keys, on loopback by default.

import type { Server } from 'node:http'
import type { Logger } from 'pino'
import { failureBody } from '../http/errors.ts'
import { answerBrokenRequest, createBrokenLog } from '../http/wire/broken-requests.ts'
import { createServer } from '../http/wire/node-http.ts'

/** The path of the metrics. */
export const metricsPath = '/metrics'

/** The text format of Prometheus. */
const contentType = 'text/plain; version=0.0.4; charset=utf-8'

/** A scrape is quick and has no body. */
const timeoutMs = 10_000

/**
 * Creates the server for metrics; the caller makes it listen.
 *
 * @param readMetrics returns them in the text format of Prometheus.
 */
export function createMetricsServer(readMetrics: () => Promise<string>, logger: Logger): Server {
  const server = createServer(
    { requestTimeout: timeoutMs, headersTimeout: timeoutMs, keepAliveTimeout: timeoutMs },
    (request, response) => {
      const fail = (status: number, message: string) =>
        response
          .writeHead(status, {
            'content-type': 'application/json; charset=utf-8',
            'cache-control': 'no-store',
            connection: 'close',
          })
          .end(failureBody(status, message))
      const path = request.url?.split('?', 1)[0]
      if (path !== metricsPath) return void fail(404, 'Not Found')
      if (request.method !== 'GET' && request.method !== 'HEAD')
        return void fail(405, 'Method Not Allowed')
      readMetrics().then(
        (text) => response.writeHead(200, { 'content-type': contentType }).end(text),
        (error: unknown) => {
          logger.error({ err: error }, 'the metrics could not be collected')
          fail(500, 'Internal Server Error')
        },
      )
    },
  )
  const logBroken = createBrokenLog(logger)
  server.on('clientError', (error, socket) =>
    answerBrokenRequest(error, socket as never, logBroken),
  )
  return server
}
