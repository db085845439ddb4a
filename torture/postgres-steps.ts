// How far an import into a PostgreSQL has come, as its sessions tell.

import type { Cluster } from './postgres-cluster.ts'

/** The steps of an import, in their order. */
export const steps = ['starting', 'connected', 'copying', 'merging', 'committing'] as const
export type Step = (typeof steps)[number]

/** The name of the database of a store. */
export function databaseOf(db: string): string {
  return new URL(db).pathname.slice(1)
}

/** Gives a function that says how far the one import into a store has come. */
export function followImport(cluster: Cluster, db: string): () => Promise<Step> {
  let step: Step = 'starting'
  return async () => {
    for (const { query } of await sessionsOf(cluster, db)) step = nextStep(step, query)
    return step
  }
}

/** A session of an import. */
export interface ImportSession {
  readonly pid: number
  /** What it does, or has done last. */
  readonly query: string
  /** What it waits for. */
  readonly wait: string | null
}

/** The sessions of the imports into a store. */
export function sessionsOf(cluster: Cluster, db: string): Promise<ImportSession[]> {
  return cluster.query<ImportSession & Record<string, unknown>>(
    `select pid, query, wait_event as wait from pg_stat_activity
     where datname = $1 and application_name = 'dossier' and backend_type = 'client backend'
     order by pid`,
    [databaseOf(db)],
  )
}

const staging = /^\s*(copy stage|create index on stage|analyze stage)\b/i
const ending = /^\s*(insert into imports|select pg_current_xact_id_if_assigned|commit)\b/i

/** The making of tables has transactions of its own: an import's one comes after its rows. */
function nextStep(step: Step, query: string): Step {
  if (staging.test(query)) return 'copying'
  if (step === 'starting' || step === 'connected') return 'connected'
  return step === 'committing' || ending.test(query) ? 'committing' : 'merging'
}
