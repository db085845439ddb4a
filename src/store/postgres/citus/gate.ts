// Keeps a silent node of Citus from exhausting the pool: statements for it would hold every
// connection until they time out, and those for other nodes would wait for one.

import type { Pool } from 'pg'
import { rowsIn } from '../pool-rows.ts'
import { preparingOf } from './nodes.ts'

/** A value of a table's distribution column: it determines on which node the row is. */
export interface Place {
  readonly table: 'company_states' | 'company_names'
  readonly value: string | number
}

export const companyPlace = (id: number): Place => ({ table: 'company_states', value: id })

/**
 * Runs statements that read one place, or several nodes if that is undefined.
 *
 * @throws Error if a node does not answer, and another statement tries it or has just done so.
 */
export type Gate = <T>(place: Place | undefined, work: () => Promise<T>) => Promise<T>

/** The gate of a store that is not distributed. */
export const openGate: Gate = (_, work) => work()

/** How long a node rests after a timeout, until one statement tries it again. */
const restMs = 1_000

// All of it is in the catalog of the node that is asked.
const nodeSql = `
  select n.nodename || ':' || n.nodeport
  from pg_dist_placement p join pg_dist_node n on n.groupid = p.groupid and n.noderole = 'primary'
  where p.shardid = get_shard_id_for_distribution_column($1::text::regclass, $2::text)`

export function createGate(pool: Pool): Gate {
  const rows = rowsIn(pool, preparingOf(true))
  /**
   * The nodes for which a statement has timed out, and none has succeeded since; each with the
   * moment from which a statement tries it again, or Infinity while one is trying.
   */
  const suspects = new Map<string, number>()

  async function nodesOf(place: Place | undefined): Promise<string[]> {
    if (place === undefined) return [...suspects.keys()]
    const found = await rows<[string]>(nodeSql, place.table, String(place.value))
    return found.map(([node]) => node)
  }

  /** Begins to try the suspect ones of some nodes. */
  function enter(nodes: readonly string[]): string[] {
    const tried = nodes.filter((node) => suspects.has(node))
    for (const node of tried) {
      if (performance.now() >= (suspects.get(node) ?? 0)) continue
      throw new Error(`the node ${node} of Citus does not answer`)
    }
    suspect(tried, Infinity)
    return tried
  }

  function suspect(nodes: readonly string[], tryAgainAt: number): void {
    for (const node of nodes) suspects.set(node, tryAgainAt)
  }

  return async (place, work) => {
    const tried = suspects.size === 0 ? [] : enter(await nodesOf(place))
    try {
      const result = await work()
      for (const node of tried) suspects.delete(node)
      return result
    } catch (error) {
      if (!isTimeout(error)) suspect(tried, 0)
      else {
        // The look-up may fail, too; the nodes that were tried must not stay marked.
        const silent = place === undefined ? tried : await nodesOf(place).catch(() => tried)
        suspect(silent, performance.now() + restMs)
      }
      throw error
    }
  }
}

/** statement_timeout has expired, or the driver's own limit. */
function isTimeout(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return ('code' in error && error.code === '57014') || error.message === 'Query read timeout'
}
