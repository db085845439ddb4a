// A separate database for one test file, on the server of the run: without the sessions and
// extensions of files that run at the same time.

import { after, before } from 'node:test'
import { nodesOf, runOn } from './citus-nodes.ts'
import { onCitus, schemaPrefix, testServerUrl } from './store-at.ts'

/** Puts the stores of the calling file into a database that is dropped at its end. */
export function useOwnDatabase(name: string): void {
  const server = testServerUrl()
  const database = `${schemaPrefix}${name}`
  let nodes: readonly string[] = []
  before(async () => {
    nodes = onCitus === false ? [server] : await nodesOf(server)
    for (const node of nodes) await runOn({ url: node }, `create database ${database}`)
    const own = inDatabase(server, database)
    if (onCitus !== false) await joinNodes(nodes, database)
    process.env['DOSSIER_TEST_POSTGRES_URL'] = own
    delete process.env['DOSSIER_TEST_POOLER_URL']
  })
  after(async () => {
    for (const node of nodes) await runOn({ url: node }, `drop database ${database} with (force)`)
  })
}

function inDatabase(server: string, database: string): string {
  const own = new URL(server)
  own.pathname = `/${database}`
  return own.href
}

/** Nodes are joined in each database of its own. */
async function joinNodes(nodes: readonly string[], database: string): Promise<void> {
  const urls = nodes.map((node) => inDatabase(node, database))
  for (const url of urls) await runOn({ url }, 'create extension citus')
  const [coordinator = '', ...workers] = urls
  const place = (url: string) => `'${new URL(url).hostname}', ${new URL(url).port}`
  const joins = workers.map((worker) => `select citus_add_node(${place(worker)})`)
  const first = `select citus_set_coordinator_host(${place(coordinator)})`
  for (const sql of [first, ...joins]) await runOn({ url: coordinator }, sql)
}
