// Sums the metrics of all workers.

import type { Worker } from 'node:cluster'
import prometheus from 'prom-client'
import { createMakers, registerLines } from '../http/metrics.ts'
import type { WorkerPool } from './worker-pool.ts'

type MetricValues = Awaited<ReturnType<prometheus.Registry['getMetricsAsJSON']>>

/**
 * @param droppedLines returns the number of lines that the primary has dropped from its own log.
 * @returns the metrics of all workers, summed, in the text format of Prometheus.
 */
export function sumMetrics(
  pool: WorkerPool,
  droppedLines: () => number,
): { metrics(): Promise<string> } {
  const lastOf = new Map<Worker, MetricValues>()
  let departed: MetricValues = []
  let departing = Promise.resolve()
  // A sum must not decrease when a worker ends: its last known counts stay part of it.
  pool.onGone((worker) => {
    const last = lastOf.get(worker)?.filter(isCount)
    lastOf.delete(worker)
    if (last === undefined) return
    departing = departing.then(async () => {
      departed = await sum([departed, last]).getMetricsAsJSON()
    })
  })
  const own = new prometheus.Registry()
  createMakers(own).gauge('workers', 'Workers that are running', () => pool.peers.size)
  new prometheus.Counter({
    name: 'dossier_worker_deaths_total',
    help: 'Workers that died unexpectedly',
    registers: [own],
    collect() {
      this.reset()
      this.inc(pool.deaths())
    },
  })

  registerLines(own, () => ({ backlog: droppedLines() }))

  return {
    async metrics() {
      const asked = [...pool.peers].map(async ([worker, peer]) => {
        // A worker that is starting or has just died does not answer.
        const values = (await peer
          .ask('metrics')
          .catch(() => lastOf.get(worker) ?? [])) as MetricValues
        if (pool.peers.has(worker)) lastOf.set(worker, values)
      })
      await Promise.all(asked)
      await departing
      return sum([...lastOf.values(), departed, await own.getMetricsAsJSON()]).metrics()
    },
  }
}

function sum(parts: readonly MetricValues[]): prometheus.Registry {
  return prometheus.AggregatorRegistry.aggregate([...parts])
}

/** Whether a metric only ever grows; the others end with their worker. */
function isCount({ type }: MetricValues[number]): boolean {
  return ['counter', 'histogram'].includes(String(type))
}
