// Imports into PostgreSQL that end on one side: a killed importer, or a terminated session.

import { setTimeout as sleep } from 'node:timers/promises'
import { onCluster, type Cluster } from './postgres-cluster.ts'
import { shareOut } from './moments.ts'
import { type Harm, harmImports, isRunning } from './postgres-harm.ts'
import { databaseOf } from './postgres-steps.ts'
import type { Campaign } from './outcome.ts'

/** Ends first loads and updates on either side, `ground.kills` times each. */
export const killPostgresImports: Campaign = (ground) =>
  onCluster('an import into PostgreSQL that is killed', (cluster) => {
    const shares = shareOut(ground.kills)
    const chosen = ground.isShort ? shares.slice(0, 2) : shares
    return harmImports(ground, cluster, chosen, [killImporter, terminateSession(cluster)])
  })

const killImporter: Harm = {
  what: 'kill -9',
  strike: ({ child }) => Promise.resolve(child.kill('SIGKILL')),
}

/** Terminates the sessions of an import, or its next session if it has none at the moment. */
function terminateSession(cluster: Cluster): Harm {
  return {
    what: 'its session terminated',
    async strike({ child }, { db }) {
      while (isRunning(child)) {
        const ended = await cluster.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = $1 and application_name = 'dossier'`,
          [databaseOf(db)],
        )
        if (ended.length > 0) return true
        await sleep(1)
      }
      return false
    },
  }
}
