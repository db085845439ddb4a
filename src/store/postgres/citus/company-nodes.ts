// Reads about one company at the node of Citus that holds it, from its shard. Where shards are is
// read from the catalog from time to time. Companies of one that has moved since, or whose node
// cannot be reached, are read by way of Citus.

import { DatabaseError, type Pool, type PoolClient } from 'pg'
import { withConnection } from '../connect.ts'
import { rowsIn, rowsOn } from '../pool-rows.ts'
import type { Rows } from '../tables.ts'
import { preparingOf } from './nodes.ts'
import { readShards, type RowOfShard, rowsOfShard, type Shard, shardOf } from './shards.ts'

/** How often the catalog is read. */
const pauseMs = 30_000

/** A node that is reached by a pool of its own. */
interface Node {
  readonly pool: Pool
  /** Whether the last session with it has begun, and can read the store; else it is not used. */
  isReached: boolean
}

/** A shard, and its node; undefined stands for the node whose pool it is. */
type PlacedShard = Pick<Shard, 'lastHash' | 'sqlOf'> & { readonly node: Node | undefined }

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
  const throughCitus = rowsIn(pool, preparingOf(true))
  let nodes: ReadonlyMap<string, Node> = new Map()
  let shards: readonly PlacedShard[] = []
  let isClosed = false

  async function look(): Promise<void> {
    const read = await readShards(throughCitus)
    if (isClosed) return
    const found = new Map<string, Node>()
    shards = read.map(({ lastHash, host, port, isOwn, sqlOf }) => {
      if (isOwn) return { lastHash, sqlOf, node: undefined }
      const name = `${host}:${port}`
      const known = found.get(name) ?? nodes.get(name)
      const node = known ?? { pool: openNode(host, port), isReached: false }
      found.set(name, node)
      return { lastHash, sqlOf, node }
    })
    for (const [name, left] of nodes) if (!found.has(name)) void left.pool.end()
    nodes = found
    await Promise.all([...nodes.values()].map((node) => tryToReach(node, check)))
  }

  // What cannot be read now is read by Citus, and again after the pause.
  const lookOnce = () => void look().catch(() => undefined)
  const timer = setInterval(lookOnce, pauseMs).unref()
  lookOnce()

  const rowsAt = (companyId: number): Rows =>
    (async (...asked) => {
      const shard = shardOf(shards, companyId)
      const found = shard && (await readShard(pool, shard, ...asked))
      return found ?? throughCitus(...asked)
    }) as Rows

  return {
    /** Runs statements about a company. */
    rowsAt,
    /** Runs a statement about the company that is its first value. */
    rowsOfCompany: ((sql, ...values) => rowsAt(values[0] as number)(sql, ...values)) as Rows,
    async close(): Promise<void> {
      isClosed = true
      clearInterval(timer)
      await Promise.all([...nodes.values()].map((node) => node.pool.end()))
    },
  }
}

/** Connects without a request that would wait for it. */
async function tryToReach(node: Node, check: (client: PoolClient) => Promise<void>): Promise<void> {
  if (node.isReached) return
  node.isReached = await withConnection(node.pool, check).then(
    () => true,
    () => false,
  )
}

/** The rows of a statement about a company; undefined if they cannot be read from its shard. */
async function readShard(
  own: Pool,
  { node, sqlOf }: PlacedShard,
  ...[sql, ...values]: Parameters<Rows>
): Promise<readonly unknown[][] | undefined> {
  if (node?.isReached === false) return undefined
  const session = { hasBegun: false }
  try {
    const rows = await withConnection(node?.pool ?? own, (client) => {
      session.hasBegun = true
      return rowsOn(client, 'once')<RowOfShard>(sqlOf(sql), ...values)
    })
    return rowsOfShard(rows)
  } catch (error) {
    if (isMissing(error)) return undefined
    // That all connections are busy does not show that no other one could be made.
    if (node !== undefined) node.isReached &&= session.hasBegun || isFull(node.pool)
    throw error
  }
}

const isFull = ({ totalCount, options }: Pool) => totalCount === options.max

/** Whether a table is not there. */
const isMissing = (error: unknown) => error instanceof DatabaseError && error.code === '42P01'
