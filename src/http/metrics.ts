// The metrics for Prometheus. No key, company or address is in a label, so the declarations bound
// the number of series.

import prometheus, { type Registry } from 'prom-client'
import type { Resource } from '../resources/resource.ts'
import { companiesScope, namedScopes } from '../store/keys.ts'
import type { LastImports } from '../store/reading.ts'
import type { ViewCounts } from '../store/serving/views.ts'
import type { Answer } from './request-log.ts'

/** The reads from the store that are timed, as labels. */
const storeOperations = ['page', 'head', 'selection', 'company', 'changes', 'key'] as const
export type StoreOperation = (typeof storeOperations)[number]

export type Metrics = ReturnType<typeof createMetrics>

/** The sources of the metrics that are read only at a scrape. */
interface MetricsSource {
  readonly resources: readonly Resource[]
  readonly version: string
  /** The number of log lines dropped because they could not be written. */
  droppedLines(): number
  /** Rejects if the store does not answer. */
  lastImports(): Promise<LastImports>
  /** What is kept for filtered, ordered and past listings. */
  viewCounts(): ViewCounts
}

const buckets = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10,
]
/** The label of everything else: health checks, documents, unknown paths. */
const noResource = 'none'

/** Creates the metrics, all at zero. They cost a request one or two microseconds. */
export function createMetrics(source: MetricsSource) {
  const registry = new prometheus.Registry()
  const { counter, histogram, gauge } = createMakers(registry)
  const requests = counter(
    'requests_total',
    'Requests, by listing and status; none for other paths',
    ['resource', 'status'],
  )
  const bytes = counter('response_bytes_total', 'Bytes of response bodies sent, by listing', [
    'resource',
  ])
  const durations = histogram(
    'request_duration_seconds',
    'Time from a request to the end of its answer, by listing',
    'resource',
  )
  const store = histogram(
    'store_duration_seconds',
    'Time that the store took to answer, by operation',
    'operation',
  )
  const hits = counter('page_cache_hits_total', 'Pages answered from the cache')
  const misses = counter('page_cache_misses_total', 'Pages read from the store')
  const broken = counter('broken_requests_total', 'Requests that could not be parsed')
  const refused = counter('keys_refused_total', 'Requests refused with 403 because of their key')
  const waiting = gauge('changes_waiting', 'Clients that wait for changes')
  let omitted = 0
  registerLines(registry, () => ({ backlog: source.droppedLines(), rate: omitted }))
  const listings = source.resources.map(({ name }) => name)
  for (const resource of [companiesScope, ...namedScopes, ...listings, noResource]) {
    bytes.inc({ resource }, 0)
    durations.zero({ resource })
  }
  for (const operation of storeOperations) store.zero({ operation })
  registerState(registry, source)
  prometheus.collectDefaultMetrics({ register: registry })
  return {
    /** All metrics, including those of the process. */
    registry,
    /** @param resource is the listing's name; undefined for any other path. */
    countRequest(resource: string = noResource, answer: Answer): void {
      requests.inc({ resource, status: answer.status })
      bytes.inc({ resource }, answer.bytes)
      durations.observe({ resource }, answer.ms / 1_000)
      if (answer.status === 403) refused.inc()
    },
    /** Counts a request that could not be parsed: malformed, oversized or too slow. */
    countBroken: () => broken.inc(),
    /** Counts a log line that was omitted because there were too many in its second. */
    countOmitted: () => void (omitted += 1),
    countPage: (isFromCache: boolean) => (isFromCache ? hits : misses).inc(),
    /** Counts clients that begin to wait for changes, or, below zero, have waited. */
    countWaiting: (clients: number) => waiting.inc(clients),
    countStore: (operation: StoreOperation, ms: number) => store.observe({ operation }, ms / 1_000),
  }
}

/** Makes metrics of a registry, whose names begin with ours. */
export function createMakers(registry: Registry) {
  const shared = (name: string, help: string) => ({
    name: `dossier_${name}`,
    help,
    registers: [registry],
  })
  return {
    counter: <Label extends string>(
      name: string,
      help: string,
      labelNames: readonly Label[] = [],
    ) => new prometheus.Counter({ ...shared(name, help), labelNames }),
    histogram: <Label extends string>(name: string, help: string, label: Label) =>
      new prometheus.Histogram({ ...shared(name, help), labelNames: [label], buckets }),
    /** @param value is read at each scrape; undefined for a gauge that is set. */
    gauge: (
      name: string,
      help: string,
      value?: () => number | Promise<number>,
      aggregator: 'sum' | 'min' | 'max' = 'sum',
    ) =>
      new prometheus.Gauge({
        ...shared(name, help),
        aggregator,
        ...(value && {
          async collect() {
            this.set(await value())
          },
        }),
      }),
  }
}

/** Registers what is read only at a scrape; the store is asked once for each. */
function registerState(registry: Registry, source: MetricsSource): void {
  const { gauge } = createMakers(registry)
  gauge('view_bytes', 'Memory of the views kept, in bytes', () => source.viewCounts().bytes)
  gauge('views_under_way', 'Views being made', () => source.viewCounts().underWay)
  let looking: Promise<LastImports | undefined> | undefined
  /** The last imports; undefined if the store does not answer. */
  const look = () =>
    (looking ??= source
      .lastImports()
      .catch(() => undefined)
      .finally(() => (looking = undefined)))
  const registryVersion = async () => (await look())?.version ?? 0
  const storeUp = async () => ((await look()) === undefined ? 0 : 1)
  gauge('registry_version', 'The last version of the registry', registryVersion, 'max')
  gauge('store_up', 'Whether the store answers: 1 or 0', storeUp, 'min')
  new prometheus.Gauge({
    name: 'dossier_last_import_timestamp_seconds',
    help: 'When the last import of a source was committed, in seconds since 1970',
    labelNames: ['source'],
    aggregator: 'max',
    registers: [registry],
    async collect() {
      this.reset()
      for (const last of (await look())?.imports ?? []) {
        this.set({ source: last.source }, last.committedAt / 1_000)
      }
    },
  })
  new prometheus.Gauge({
    name: 'dossier_build_info',
    help: 'Version of Dossier, as a label',
    labelNames: ['version'],
    aggregator: 'first',
    registers: [registry],
  }).set({ version: source.version }, 1)
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
