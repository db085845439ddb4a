// The metrics of the store and of the registry in it, which are read only at a scrape.

import prometheus, { type Registry } from 'prom-client'
import type { LastImport } from '../store/reading.ts'
import type { ViewCounts } from '../store/serving/views.ts'

/** The sources of these metrics. */
export interface StoreSource {
  /** Rejects if the store does not answer. */
  lastImports(): Promise<readonly LastImport[]>
  /** What is kept for filtered, ordered and past listings. */
  readonly viewCounts: () => ViewCounts
}

/** Registers metrics of views: the ordered lists of filtered and past listings. */
export function registerViews(registry: Registry, { viewCounts }: StoreSource): void {
  const gauge = (
    name: string,
    help: string,
    value: () => number,
    aggregator: 'sum' | 'max' = 'sum',
  ) =>
    new prometheus.Gauge({
      name,
      help,
      aggregator,
      registers: [registry],
      collect() {
        this.set(value())
      },
    })
  gauge('dossier_views', 'Views kept for filtered and past listings', () => viewCounts().kept)
  gauge('dossier_view_bytes', 'Memory of the views kept, in bytes', () => viewCounts().bytes)
  const ageSeconds = () => viewCounts().oldestMs / 1_000
  gauge('dossier_view_age_seconds', 'Age of the oldest view kept, in seconds', ageSeconds, 'max')
  gauge('dossier_views_under_way', 'Views being made', () => viewCounts().underWay)
  new prometheus.Counter({
    name: 'dossier_views_made_total',
    help: 'Views made for filtered and past listings',
    registers: [registry],
    collect() {
      this.reset()
      this.inc(viewCounts().made)
    },
  })
}

/** Registers metrics of the registry itself; the store is read once for each scrape. */
export function registerRegistry(registry: Registry, source: StoreSource): void {
  let looking: Promise<readonly LastImport[]> | undefined
  /** The last imports; undefined if the store does not answer. */
  async function look(): Promise<readonly LastImport[] | undefined> {
    looking ??= source.lastImports().finally(() => (looking = undefined))
    return looking.catch(() => undefined)
  }
  const registers = [registry]
  new prometheus.Gauge({
    name: 'dossier_last_import_timestamp_seconds',
    help: 'When the last import of a source was committed, in seconds since 1970',
    labelNames: ['source'],
    aggregator: 'max',
    registers,
    async collect() {
      this.reset()
      for (const last of (await look()) ?? []) {
        this.set({ source: last.source }, last.committedAt / 1_000)
      }
    },
  })
  new prometheus.Gauge({
    name: 'dossier_registry_version',
    help: 'Version of the registry: the number of the last import',
    aggregator: 'max',
    registers,
    async collect() {
      this.set(Math.max(0, ...((await look()) ?? []).map(({ version }) => version)))
    },
  })
  new prometheus.Gauge({
    name: 'dossier_store_up',
    help: 'Whether the store answers: 1 or 0',
    aggregator: 'min',
    registers,
    async collect() {
      this.set((await look()) === undefined ? 0 : 1)
    },
  })
}
