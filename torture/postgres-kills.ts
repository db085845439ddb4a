// Imports into PostgreSQL that end on one side, by a killed importer or a terminated session, and
// crashes of the server meanwhile: an immediate shutdown, a kill of all its processes, or a restart
// because one of them was killed.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../src/demo/random.ts'
import { shareOut } from './moments.ts'
import type { Campaign } from './outcome.ts'
import { type Cluster, onCluster } from './postgres-cluster.ts'
import { type Harm, harmImports } from './postgres-harm.ts'
import { databaseOf, sessionsOf } from './postgres-steps.ts'
import { reach } from './processes.ts'

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
    strike: (running, { db }) =>
      reach(running, async () => {
        const ended = await cluster.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = $1 and application_name = 'dossier'`,
          [databaseOf(db)],
        )
        return ended.length > 0
      }),
  }
}

/** Crashes the server during first loads and updates, `ground.kills` times each. */
export const crashPostgres: Campaign = (ground) =>
  onCluster('a PostgreSQL that crashes', (cluster) => {
    const shares = shareOut(ground.kills)
    return harmImports(ground, cluster, ground.isShort ? shares.slice(-1) : shares, [
      stopServer(cluster, ground.random, 'SIGQUIT', 'the server shut down (immediate)'),
      stopServer(cluster, ground.random, 'SIGKILL', 'kill -9 of all of the server'),
      killBackend(cluster),
    ])
  })

const downMsMax = 500

function stopServer(
  { server }: Cluster,
  random: Random,
  signal: 'SIGQUIT' | 'SIGKILL',
  what: string,
): Harm {
  return {
    what,
    async strike() {
      await server.stop(signal)
      await sleep(random.integer(0, downMsMax))
      await server.start()
      return true
    },
  }
}

/** When one of its processes dies, the server ends all sessions and recovers by itself. */
function killBackend(cluster: Cluster): Harm {
  return {
    what: 'kill -9 of its session’s process',
    async strike(running, { db }) {
      const hasMet = await reach(running, async () => {
        const [session] = await sessionsOf(cluster, db)
        return session !== undefined && kill(session.pid)
      })
      if (hasMet) await recovered(cluster)
      return hasMet
    },
  }
}

/** How soon the server ends the other sessions, at the latest, once a process has died. */
const noticedMs = 200

/** Waits until the server answers again; the trial's own questions do not wait. */
async function recovered(cluster: Cluster): Promise<void> {
  await sleep(noticedMs)
  await cluster.query('select 1')
}

/** Kills a process; false if it has ended already. */
function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL')
  } catch {
    return false
  }
}
