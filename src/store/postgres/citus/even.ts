// Reads of several nodes of Citus, in one state of the registry. A commit reaches the coordinator
// first, then the nodes one after another: a version that all of them have is complete.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { OperatorError } from '../../../config/operator-error.ts'
import type { RegistryState } from '../../reading.ts'
import { readRegistry } from '../../sql/versions.ts'
import { distributedDialect } from '../dialect.ts'
import { rowsIn } from '../pool-rows.ts'
import { preparingOf } from './nodes.ts'

/** How long a search waits until a commit has reached all nodes; usually it takes milliseconds. */
const unevenMsMax = 1_000
const pauseMs = 10

const uneven =
  `the nodes of Citus have shown different versions for ${unevenMsMax} ms, or one of them does ` +
  'not answer; start it, or wait a minute until Citus has ended a commit, and try again'

const versionsSql = `
  select coalesce(bool_and(success and result = $1), false)
  from run_command_on_all_nodes(
    format('select coalesce(max(version), 0) from %I.imports', current_schema())
  )`

// An id for each node, of a company that is or would be there: with so many, every shard has one.
const placesSql = `
  with shards as (select shardid from pg_dist_shard where logicalrelid = 'company_states'::regclass)
  select min(id) from (
    select id, get_shard_id_for_distribution_column('company_states', id) as shardid
    from generate_series(1, 20 * (select count(*) from shards)) id
  ) ids join pg_dist_placement p using (shardid) group by p.groupid`

export type EvenState = ReturnType<typeof createEvenState>

/**
 * Finds out what all nodes show.
 *
 * @param isWorker whether the pool's sessions are on a worker.
 */
export function createEvenState(pool: Pool, isWorker: boolean) {
  const rows = rowsIn(pool, preparingOf(true))
  /** The last state that all nodes have been seen to show. */
  let known: RegistryState | undefined
  let looking: Promise<void> | undefined

  const readState = (company?: number) =>
    readRegistry({ rows, dialect: distributedDialect }, company)

  async function look(): Promise<void> {
    const state = await readState()
    const [found] = await rows<[boolean]>(versionsSql, String(state.version))
    if (found?.[0] === true) known = state
  }

  const lookOnce = () => (looking ??= look().finally(() => (looking = undefined)))

  /**
   * Whether reads up to now have seen nothing of a later version. A commit is visible on the
   * coordinator first; a worker has to ask each node.
   */
  async function isStill(state: RegistryState): Promise<boolean> {
    if (!isSame(await readState(), state)) return false
    if (!isWorker) return true
    const places = await rows<[company: number]>(placesSql)
    const found = await Promise.all(places.map(([company]) => readState(company)))
    return found.every((one) => isSame(one, state))
  }

  return {
    /**
     * Does work that reads several nodes, in one state of all of them.
     *
     * @throws OperatorError if they have shown several versions for a second, or one is lost.
     */
    async during<T>(work: () => Promise<T>): Promise<T> {
      for (const end = performance.now() + unevenMsMax; ; await sleep(pauseMs)) {
        const before = await readState()
        if (known === undefined || !isSame(known, before)) await lookOnce()
        if (known !== undefined && isSame(known, before)) {
          const result = await work()
          if (await isStill(before)) return result
        }
        if (performance.now() > end) throw new OperatorError(uneven)
      }
    },
  }
}

/** Whether a state of the registry is the same as another one. */
function isSame(one: RegistryState, other: RegistryState): boolean {
  return (
    one.version === other.version &&
    one.lineage === other.lineage &&
    one.earliestVersion === other.earliestVersion
  )
}
