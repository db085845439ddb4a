// The progress of an import into PostgreSQL, derived from its sessions.

import type { Cluster } from './postgres-cluster.ts'

/** The steps of an import, in order. */
export const steps = ['starting', 'connected', 'merging', 'committing'] as const
export type Step = (typeof steps)[number]

/** The name of the database of a store. */
export function databaseOf(db: string): string {
  return new URL(db).pathname.slice(1)
}

/** Returns a function that resolves to the current step of the only import into a store. */
export function followImport(cluster: Cluster, db: string): () => Promise<Step> {
  let step: Step = 'starting'
  return async () => {
    for (const { query } of await sessionsOf(cluster, db)) step = nextStep(step, query)
    return step
  }
}

export interface ImportSession {
  readonly pid: number
  /** Its current or last query. */
  readonly query: string
  /** The event that it waits for. */
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

// Rows are staged outside the store, before the process looks at what that has.
const merging = /\b(from|into|copy|update) (company_\w+|heads|names|record_\w+|segments|sources)\b/i
const ending = /^\s*(insert into imports|select pg_current_xact_id_if_assigned|commit)\b/i

/** The creation of tables and views has its own transaction, before that of the import. */
function nextStep(step: Step, query: string): Step {
  if (step === 'committing' || (step === 'merging' && ending.test(query))) return 'committing'
  const isMerging = merging.test(query) && !/^\s*(create|--)/i.test(query)
  return step === 'merging' || isMerging ? 'merging' : 'connected'
}
