// The listener for metrics, if the settings ask for one.

import { once } from 'node:events'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { Settings } from '../config/settings.ts'
import { createMetricsServer, metricsPath } from './metrics-server.ts'
import { urlOf } from '../http/wire/server.ts'
import { explainListenError, sharing } from './listening.ts'

/** A listener that Prometheus scrapes. */
export interface MetricsListener {
  /** The URL of the metrics, such as `http://127.0.0.1:9464/metrics`. */
  readonly url: string
  close(): Promise<void>
}

/** Whether metrics are on; if not, nothing is counted. */
export function isMeasured({ metricsPort }: Settings): boolean {
  return metricsPort !== undefined
}

/** @throws OperatorError if it cannot listen on the address. */
export async function listenForMetrics(
  settings: Settings,
  registry: Pick<Registry, 'metrics'>,
  logger: Logger,
): Promise<MetricsListener> {
  const { metricsHost: host, metricsPort: port } = settings
  const server = createMetricsServer(() => registry.metrics(), logger)
  try {
    server.listen({ host, port, exclusive: true, ...sharing(settings) })
    await once(server, 'listening')
  } catch (error) {
    const options = { hostOption: '--metrics-host', portOption: '--metrics-port' }
    throw explainListenError(error, { host, port, ...options })
  }
  return {
    url: urlOf(server) + metricsPath,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
