// The metrics for Prometheus. Counting happens in every request, so it uses plain numbers in arrays
// (0.1 us); prom-client reads them when it is scraped. No key, company or address is in a label, so
// the declarations bound the number of series.

import prometheus, { type Metric, type Registry } from 'prom-client'
import type { Resource } from '../resources/resource.ts'
import { companiesScope, namedScopes } from '../store/keys.ts'
import type { Answer } from './request-log.ts'
import { registerRegistry, registerViews, type StoreSource } from './store-metrics.ts'

/** A read from the store, as a label. */
export type StoreOperation = 'page' | 'head' | 'selection' | 'company' | 'changes' | 'key'

/** Counts requests and what they cause; each call takes less than a microsecond. */
export interface Metrics {
  /** @param resource is the listing's name; undefined for any other path. */
  countRequest(resource: string | undefined, answer: Answer): void
  /** Counts a request that could not be parsed: malformed, oversized or too slow. */
  countBroken(): void
  /** Counts a log line that was omitted because there were too many in its second. */
  countOmitted(): void
  countPage(isFromCache: boolean): void
  /** Counts clients that begin to wait for changes, or, below zero, have waited. */
  readonly countWaiting: (clients: number) => void
  countStore(operation: StoreOperation, ms: number): void
  /** All metrics, including those of the process. */
  readonly registry: Registry
}

/** The sources of the metrics that are read only at a scrape. */
interface MetricsSource extends StoreSource {
  readonly resources: readonly Resource[]
  readonly version: string
  /** The number of log lines dropped because they could not be written. */
  droppedLines(): number
}

const upperBoundsSeconds = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10,
] as const
const statusMax = 599
/** The label of everything else: health checks, documents, unknown paths. */
const noResource = 'none'

/** A histogram of durations: a count for each upper bound, and one for anything longer. */
interface Times {
  readonly counts: Float64Array
  sumSeconds: number
}

interface RequestCounts {
  readonly byStatus: Float64Array
  readonly times: Times
  bytes: number
}

/** Creates the counters, all at zero. */
export function createMetrics(source: MetricsSource): Metrics {
  const listings = source.resources.map(({ name }) => name)
  const names = [companiesScope, ...namedScopes, ...listings, noResource]
  const requests = new Map(names.map((name) => [name, emptyCounts()]))
  const others = requests.get(noResource) ?? emptyCounts()
  const store: Readonly<Record<StoreOperation, Times>> = {
    page: emptyTimes(),
    head: emptyTimes(),
    selection: emptyTimes(),
    company: emptyTimes(),
    changes: emptyTimes(),
    key: emptyTimes(),
  }
  const events = { broken: 0, omitted: 0, fromCache: 0, fromStore: 0, waiting: 0 }
  const registry = new prometheus.Registry()
  registerRequests(registry, requests)
  registerEvents(registry, events, requests)
  registerLines(registry, () => ({ backlog: source.droppedLines(), rate: events.omitted }))
  new prometheus.Gauge({
    name: 'dossier_changes_waiting',
    help: 'Clients that wait for changes',
    registers: [registry],
    collect() {
      this.set(events.waiting)
    },
  })
  registerTimes(registry, 'dossier_store_duration_seconds', 'operation', {
    help: 'Time that the store took to answer, by operation',
    entries: () => Object.entries(store),
  })
  registerViews(registry, source)
  registerRegistry(registry, source)
  new prometheus.Gauge({
    name: 'dossier_build_info',
    help: 'Version of Dossier, as a label',
    labelNames: ['version'],
    aggregator: 'first',
    registers: [registry],
  }).set({ version: source.version }, 1)
  prometheus.collectDefaultMetrics({ register: registry })
  return {
    registry,
    countRequest(resource, { status, ms, bytes }) {
      const counts = (resource === undefined ? undefined : requests.get(resource)) ?? others
      const at = Math.min(status, statusMax)
      counts.byStatus[at] = (counts.byStatus[at] ?? 0) + 1
      counts.bytes += bytes
      observe(counts.times, ms)
    },
    countBroken: () => void (events.broken += 1),
    countOmitted: () => void (events.omitted += 1),
    countPage(isFromCache) {
      if (isFromCache) events.fromCache += 1
      else events.fromStore += 1
    },
    countWaiting: (clients) => void (events.waiting += clients),
    countStore: (operation, ms) => observe(store[operation], ms),
  }
}

function emptyCounts(): RequestCounts {
  return { byStatus: new Float64Array(statusMax + 1), times: emptyTimes(), bytes: 0 }
}

function emptyTimes(): Times {
  return { counts: new Float64Array(upperBoundsSeconds.length + 1), sumSeconds: 0 }
}

function observe(times: Times, ms: number): void {
  const seconds = ms / 1_000
  let at = 0
  while (seconds > (upperBoundsSeconds[at] ?? Infinity)) at += 1
  times.counts[at] = (times.counts[at] ?? 0) + 1
  times.sumSeconds += seconds
}

function registerRequests(registry: Registry, requests: ReadonlyMap<string, RequestCounts>): void {
  const registers = [registry]
  new prometheus.Counter({
    name: 'dossier_requests_total',
    help: 'Answered requests, by listing and status; none for other paths',
    labelNames: ['resource', 'status'],
    registers,
    collect() {
      this.reset()
      for (const [resource, { byStatus }] of requests) {
        byStatus.forEach((count, status) => {
          if (count > 0) this.inc({ resource, status }, count)
        })
      }
    },
  })
  new prometheus.Counter({
    name: 'dossier_response_bytes_total',
    help: 'Bytes of response bodies sent, by listing',
    labelNames: ['resource'],
    registers,
    collect() {
      this.reset()
      for (const [resource, { bytes }] of requests) this.inc({ resource }, bytes)
    },
  })
  registerTimes(registry, 'dossier_request_duration_seconds', 'resource', {
    help: 'Time from a request to the end of its answer, by listing',
    entries: () => [...requests].map(([name, { times }]) => [name, times]),
  })
}

function registerEvents(
  registry: Registry,
  events: { readonly broken: number; readonly fromCache: number; readonly fromStore: number },
  requests: ReadonlyMap<string, RequestCounts>,
): void {
  const count = (name: string, help: string, value: () => number) =>
    new prometheus.Counter({
      name,
      help,
      registers: [registry],
      collect() {
        this.reset()
        this.inc(value())
      },
    })
  count('dossier_page_cache_hits_total', 'Pages answered from the cache', () => events.fromCache)
  count('dossier_page_cache_misses_total', 'Pages read from the store', () => events.fromStore)
  count('dossier_broken_requests_total', 'Requests that could not be parsed', () => events.broken)
  count('dossier_keys_refused_total', 'Requests refused with 403 because of their key', () =>
    requests.values().reduce((sum, { byStatus }) => sum + (byStatus[403] ?? 0), 0),
  )
}

/**
 * Registers the counter of dropped log lines.
 *
 * @param count returns the number for each reason: `backlog` could not be written, `rate` were too
 *   many.
 */
export function registerLines(
  registry: Registry,
  count: () => Readonly<Record<string, number>>,
): void {
  new prometheus.Counter({
    name: 'dossier_log_lines_dropped_total',
    help: 'Dropped log lines: backlog could not be written, rate exceeded the limit per second',
    labelNames: ['reason'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [reason, lines] of Object.entries(count())) this.inc({ reason }, lines)
    },
  })
}

/** Registers a histogram over our own counts; prom-client's histogram would count by itself. */
function registerTimes(
  registry: Registry,
  name: string,
  label: string,
  { help, entries }: { help: string; entries: () => (readonly [string, Times])[] },
): void {
  const get = () =>
    Promise.resolve({
      ...{ name, help, type: 'histogram', aggregator: 'sum' },
      values: entries().flatMap(([value, times]) => valuesOf(name, { [label]: value }, times)),
    })
  registry.registerMetric({ name, get } as unknown as Metric)
}

function valuesOf(name: string, labels: Readonly<Record<string, string>>, times: Times) {
  let count = 0
  const buckets = [...upperBoundsSeconds, '+Inf'].map((le, index) => {
    count += times.counts[index] ?? 0
    return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count }
  })
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: times.sumSeconds },
    { metricName: `${name}_count`, labels, value: count },
  ]
}
