// The listener that Prometheus scrapes, if the settings ask for one: apart from the API, without
// keys, on loopback by default.

import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { Settings } from '../config/settings.ts'
import { failureBody } from '../http/errors.ts'
import { answerBrokenRequest, createBrokenLog } from '../http/wire/broken-requests.ts'
import { createServer, STATUS_CODES } from '../http/wire/node-http.ts'
import { urlOf } from '../http/wire/server.ts'
import { explainListenError, sharing } from './listening.ts'

const metricsPath = '/metrics'
/** The text format of Prometheus. */
const contentType = 'text/plain; version=0.0.4; charset=utf-8'
/** A scrape is quick and has no body. */
const timeoutMs = 10_000

/**
 * @param registry has the metrics in the text format of Prometheus.
 * @throws OperatorError if it cannot listen on the address.
 */
export async function listenForMetrics(
  settings: Settings,
  registry: Pick<Registry, 'metrics'>,
  logger: Logger,
) {
  const { metricsHost: host, metricsPort: port } = settings
  const server = createServer(
    { requestTimeout: timeoutMs, headersTimeout: timeoutMs, keepAliveTimeout: timeoutMs },
    createHandler(registry, logger),
  )
  const logBroken = createBrokenLog(logger)
  server.on('clientError', (error, socket) =>
    answerBrokenRequest(error, socket as never, logBroken),
  )
  try {
    server.listen({ host, port, exclusive: true, ...sharing(settings) })
    await once(server, 'listening')
  } catch (error) {
    throw explainListenError(error, { host, port }, '--metrics-')
  }
  return {
    /** The URL of the metrics, such as `http://127.0.0.1:9464/metrics`. */
    url: urlOf(server) + metricsPath,
    async close(): Promise<void> {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

function createHandler(registry: Pick<Registry, 'metrics'>, logger: Logger): RequestListener {
  return ({ url, method }, response) => {
    const fail = (status: number) => {
      const type = { 'content-type': 'application/json; charset=utf-8' }
      const headers = { ...type, 'cache-control': 'no-store', connection: 'close' }
      response.writeHead(status, headers).end(failureBody(status, STATUS_CODES[status] ?? ''))
    }
    if (url?.split('?', 1)[0] !== metricsPath) return fail(404)
    if (method !== 'GET' && method !== 'HEAD') return fail(405)
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': contentType }).end(text),
      (error: unknown) => {
        logger.error({ err: error }, 'the metrics could not be collected')
        fail(500)
      },
    )
  }
}
