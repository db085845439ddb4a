// PostgreSQL stores, for cases: each has its own database, which is copied from another.

import { basename } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { withSession } from '../src/store/postgres/connect.ts'
import {
  type CaseName,
  type Course,
  type ImportCase,
  makeCase,
  type WatchedStores,
} from './cases.ts'
import type { Ground } from './outcome.ts'
import type { Cluster } from './postgres-cluster.ts'
import { readPostgresState } from './postgres-state.ts'
import { databaseOf, followImport, type Step, steps } from './postgres-steps.ts'
import { startDossier } from './processes.ts'

/** The timing of an import into PostgreSQL. */
export interface PostgresCourse extends Course {
  /** When each step starts, in milliseconds after the start of the import. */
  readonly beginMs: Readonly<Record<Step, number>>
}

/** How long remains of an import may stay: PostgreSQL looks for them about once a second. */
const timeoutMs = 15_000

/**
 * Makes a case, with a quarter of the rows for companies: reading the heads of each company would
 * take most of a trial.
 */
export function makePostgresCase(
  ground: Ground,
  name: CaseName,
  stores: WatchedStores<PostgresCourse>,
): Promise<ImportCase<PostgresCourse>> {
  const rows = name.startsWith('companies') ? Math.ceil(ground.rows / 4) : ground.rows
  return makeCase({ ...ground, rows }, name, stores)
}

export function createPostgresStores(cluster: Cluster): WatchedStores<PostgresCourse> {
  const drop = (db: string) =>
    cluster.query(`drop database if exists ${databaseOf(db)} with (force)`)
  return {
    at: (folder, name) => cluster.urlOf(`${basename(folder).replace(/\W/g, '_')}_${name}`),
    async clear(db) {
      await drop(db)
      await cluster.query(`create database ${databaseOf(db)}`)
    },
    async copy(from, to) {
      await drop(to)
      await cluster.query(`create database ${databaseOf(to)} template ${databaseOf(from)}`)
    },
    readState: readPostgresState,
    faultOfRest: (db) => faultOfRest(cluster, db),
    measure: (db, args) => measure(cluster, db, args),
    cases: new Map(),
  }
}

async function measure(
  cluster: Cluster,
  db: string,
  args: readonly string[],
): Promise<PostgresCourse> {
  const step = followImport(cluster, db)
  const startedAt = performance.now()
  const begins = new Map<Step, number>()
  const { child, ended } = startDossier(args)
  while (child.exitCode === null) {
    const last = steps.indexOf(await step())
    // A step that was never observed starts together with the next one.
    for (const passed of steps.slice(0, last + 1)) {
      if (!begins.has(passed)) begins.set(passed, performance.now() - startedAt)
    }
    await sleep(1)
  }
  const { code, ms, err } = await ended
  if (code !== 0) throw new Error(`the undisturbed import ended with ${String(code)}: ${err}`)
  const beginOf = (name: Step) => begins.get(name) ?? ms
  const beginMs = {
    starting: 0,
    connected: beginOf('connected'),
    merging: beginOf('merging'),
    committing: beginOf('committing'),
  }
  return { durationMs: ms, beginMs }
}

/** Describes leftover sessions, transactions, locks and temporary tables. */
async function faultOfRest(cluster: Cluster, db: string): Promise<string | undefined> {
  for (const end = performance.now() + timeoutMs; ; await sleep(20)) {
    const left = [...(await listSessions(cluster, db)), ...(await listTemporary(db))]
    if (left.length === 0) return undefined
    if (performance.now() > end) return `left in PostgreSQL: ${left.join(', ')}`
  }
}

async function listSessions(cluster: Cluster, db: string): Promise<string[]> {
  const left = await cluster.query<{ what: string }>(
    `select format('session %s, %s, %s', pid, state, query) as what from pg_stat_activity
     where datname = $1 and backend_type = 'client backend'
     union all
     select format('lock %s of %s', mode, pid) from pg_locks l
     join pg_database d on d.oid = l.database
     where datname = $1 and locktype = 'advisory'
     union all
     select format('prepared transaction %s', gid) from pg_prepared_xacts where database = $1`,
    [databaseOf(db)],
  )
  return left.map(({ what }) => what)
}

/** Lists temporary tables of all sessions; only our own session should exist. */
async function listTemporary(db: string): Promise<string[]> {
  const sql = `
    select format('temporary table %s', relname) as what from pg_class
    where relpersistence = 't' and relkind = 'r'`
  const { rows } = await withSession(db, (client) => client.query<{ what: string }>(sql))
  return rows.map(({ what }) => what)
}
