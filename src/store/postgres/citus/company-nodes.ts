// Reads about one company at the node of Citus that holds it. Any other node would have to ask that
// one, which costs more than the read itself. Where companies are is read from the catalog from
// time to time; one that has moved since is found all the same, by the node that is asked for it.

import type { Pool, PoolClient } from 'pg'
import { withConnection } from '../connect.ts'
import { rowsIn, rowsOn } from '../pool-rows.ts'
import type { Rows } from '../tables.ts'
import { hashOfId } from './hash-id.ts'

/** How often the catalog is read. */
const pauseMs = 30_000

// Each shard holds the companies whose hashes are up to its last one. On a standby, which other
// nodes would be standbys is not known.
const shardsSql = `
  select s.shardmaxvalue::integer, n.nodename, n.nodeport,
    n.groupid = (select groupid from pg_dist_local_group)
  from pg_dist_shard s
  join pg_dist_placement p using (shardid)
  join pg_dist_node n on n.groupid = p.groupid and n.noderole = 'primary'
  where s.logicalrelid = 'company_states'::regclass and not pg_is_in_recovery()
    and n.isactive and n.hasmetadata and n.metadatasynced
  order by 1`

type ShardRow = [lastHash: number, host: string, port: number, isOwn: boolean]

/** A node that is reached by a pool of its own. */
interface Node {
  readonly pool: Pool
  /** Whether the last session with it has begun, and can read the store; else it is not used. */
  isReached: boolean
}

/** Which companies are where; undefined stands for the node whose pool it is. */
interface Shard {
  readonly lastHash: number
  readonly node: Node | undefined
}

/**
 * Begins to find out where companies are.
 *
 * @param pool of the node that is asked for everything else.
 * @param openNode makes the pool of another node.
 * @param check throws if a session with another node cannot read the same store.
 */
export function createCompanyNodes(
  pool: Pool,
  openNode: (host: string, port: number) => Pool,
  check: (client: PoolClient) => Promise<void>,
) {
  let nodes: ReadonlyMap<string, Node> = new Map()
  let shards: readonly Shard[] = []
  let isClosed = false

  async function look(): Promise<void> {
    const rows = await rowsIn(pool)<ShardRow>(shardsSql)
    if (isClosed) return
    const found = new Map<string, Node>()
    shards = rows.map(([lastHash, host, port, isOwn]) => {
      if (isOwn) return { lastHash, node: undefined }
      const name = `${host}:${port}`
      const known = found.get(name) ?? nodes.get(name)
      const node = known ?? { pool: openNode(host, port), isReached: false }
      found.set(name, node)
      return { lastHash, node }
    })
    for (const [name, left] of nodes) if (!found.has(name)) void left.pool.end()
    nodes = found
    await Promise.all([...nodes.values()].map(tryToReach))
  }

  /** Connects without a request that would wait for it. */
  async function tryToReach(node: Node): Promise<void> {
    if (node.isReached) return
    node.isReached = await withConnection(node.pool, check).then(
      () => true,
      () => false,
    )
  }

  // What cannot be read now is read by Citus, and again after the pause.
  const lookOnce = () => void look().catch(() => undefined)
  const timer = setInterval(lookOnce, pauseMs).unref()
  lookOnce()

  return {
    /** Runs a statement about the company that is its first value. */
    rows: (async (sql, ...values) => {
      const node = nodeOf(shards, values[0] as number)
      if (node?.isReached !== true) return rowsIn(pool)(sql, ...values)
      const session = { hasBegun: false }
      try {
        return await withConnection(node.pool, (client) => {
          session.hasBegun = true
          return rowsOn(client)(sql, ...values)
        })
      } catch (error) {
        // That all connections are busy does not show that no other one could be made.
        node.isReached &&= session.hasBegun || isFull(node.pool)
        throw error
      }
    }) as Rows,
    async close(): Promise<void> {
      isClosed = true
      clearInterval(timer)
      await Promise.all([...nodes.values()].map((node) => node.pool.end()))
    },
  }
}

const isFull = ({ totalCount, options }: Pool) => totalCount === options.max

/** The node of a company's shard: the first whose last hash is not before that of the company. */
function nodeOf(shards: readonly Shard[], companyId: number): Node | undefined {
  const hash = hashOfId(companyId)
  let [first, end] = [0, shards.length]
  while (first < end) {
    const middle = (first + end) >> 1
    if ((shards[middle]?.lastHash ?? 0) < hash) first = middle + 1
    else end = middle
  }
  return shards[first]?.node
}
