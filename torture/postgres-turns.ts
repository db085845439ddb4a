// Concurrent imports into PostgreSQL, in several processes: all complete, some are interrupted, or
// one ends while the others wait for the write lock or hold it.

import { setTimeout as sleep } from 'node:timers/promises'
import type { ImportCase } from './cases.ts'
import { type Campaign, faultOfVerify, firstFault, type Ground, type Outcome } from './outcome.ts'
import { type Cluster, onCluster } from './postgres-cluster.ts'
import { sessionsOf } from './postgres-steps.ts'
import { createPostgresStores, makePostgresCase } from './postgres-stores.ts'
import {
  describeEnd,
  type Ended,
  faultOfRefusal,
  isDone,
  isUnknown,
  runDossier,
  type Running,
  startDossier,
} from './processes.ts'
import { argsOf, importAtOnce, interrupt, sources } from './turns.ts'

/** Runs imports concurrently; in `ground.kills / 3` trials per case, one of them is ended. */
export const takePostgresTurns: Campaign = (ground) =>
  onCluster('imports into PostgreSQL at once', (cluster) => takeTurnsOn(cluster, ground))

async function* takeTurnsOn(cluster: Cluster, ground: Ground): AsyncGenerator<Outcome> {
  const { isShort, kills } = ground
  const stores = createPostgresStores(cluster)
  for (const isFirst of isShort ? [] : [true, false]) {
    yield* importAtOnce(ground, isFirst, stores, Math.ceil(kills / 10))
  }
  const names = ['events, first load', 'companies, update', 'events, update'] as const
  const chosen = isShort ? names.slice(0, 1) : names
  for (const name of chosen) {
    const tried = await makePostgresCase(ground, name, stores)
    for (let n = 0; n < Math.ceil(kills / 4); n++) yield await interrupt(tried, ground)
    for (let n = 0; n < Math.ceil(kills / 3); n++) yield await loseOne(cluster, tried, ground)
  }
}

const ends = ['SIGKILL', 'SIGINT', 'its session terminated'] as const
type End = (typeof ends)[number]

/** Ends one of several imports: the others must succeed, and it must be repeatable. */
async function loseOne(cluster: Cluster, tried: ImportCase, { random }: Ground): Promise<Outcome> {
  await tried.reset()
  const running = sources.map((source) => startDossier(argsOf(tried, source)))
  // Twice the time of one import, since they share the machine and wait for each other.
  const delayMs = random.integer(0, Math.ceil(tried.course.durationMs * 2))
  const end = random.pick(ends)
  const chosen = random.integer(0, sources.length - 1)
  await Promise.race([sleep(delayMs), Promise.all(running.map(({ ended }) => ended))])
  await endOne(cluster, tried, running, end, chosen)
  const ended = await Promise.all(running.map((each) => each.ended))
  const done = ended.filter(isDone).length
  const rest = await tried.stores.faultOfRest(tried.db)
  const state = await tried.stores.readState(tried.db, true)
  const isOpen = ended.some((each) => each.signal === 'SIGKILL' || isUnknown(each))
  const versions = [done, isOpen ? done + 1 : done]
  return {
    what: `${tried.name}: ${sources.length} imports at once, ${end} of one after ${delayMs} ms`,
    found: `${done} done, versions up to ${state.version}`,
    fault:
      firstFault(
        rest,
        done < sources.length - 1 ? 'more than one was lost' : undefined,
        ...ended.filter((each) => !isDone(each) && each.signal !== 'SIGKILL').map(faultOfRefusal),
        state.integrity === 'ok' ? undefined : state.integrity,
        versions.includes(state.version - tried.before.version)
          ? undefined
          : `${done} said that they were done`,
        await faultOfVerify(tried.db),
      ) ?? (await faultOfAgain(tried, ended)),
  }
}

async function endOne(
  cluster: Cluster,
  { db }: ImportCase,
  running: readonly Running[],
  end: End,
  chosen: number,
): Promise<void> {
  if (end !== 'its session terminated') {
    running[chosen]?.child.kill(end)
    return
  }
  const sessions = await sessionsOf(cluster, db)
  const session = sessions[chosen % Math.max(sessions.length, 1)]
  if (session !== undefined) {
    await cluster.query('select pg_terminate_backend($1)', [session.pid])
  }
}

/** Repeats lost imports one after the other, and checks the store with all of them. */
async function faultOfAgain(
  tried: ImportCase,
  ended: readonly Ended[],
): Promise<string | undefined> {
  for (const [index, source] of sources.entries()) {
    const end = ended[index]
    if (end === undefined || isDone(end)) continue
    const again = await runDossier(argsOf(tried, source))
    if (again.code !== 0) return `the next import ${describeEnd(again)}`
  }
  return firstFault(await faultOfVerify(tried.db), await tried.stores.faultOfRest(tried.db))
}
