// Nodes of Citus that are killed while readers page, or during an import, a revert or a prune.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../src/demo/random.ts'
import type { PostgresServer } from '../test/support/postgres-server.ts'
import { verifyStore } from '../test/support/verify-store.ts'
import type { Change, ChangeKind } from './course.ts'
import { after, beforeNodesCommit, type CommandMoment, whilePreparing } from './citus-moments.ts'
import { moveShards } from './citus-rebalancing.ts'
import { examine, repeat, untilEnded } from './citus-judge.ts'
import { readWhole, startCitusReaders } from './citus-readers.ts'
import {
  type CitusStore,
  everyNode,
  onCitusStore,
  undecidedOn,
  untilDecided,
} from './citus-store.ts'
import { type Campaign, firstFault, type Ground, type Outcome } from './outcome.ts'
import { describeEnd, type Ended, faultOfRefusal, isUnknown, startDossier } from './processes.ts'

/** Kills nodes `ground.kills` times. */
export const loseCitusNodes: Campaign = (ground) =>
  onCitusStore(ground, (store) => loseNodes(store, ground))

async function* loseNodes(store: CitusStore, ground: Ground): AsyncGenerator<Outcome> {
  const { random, kills, isShort } = ground
  for (let n = 0; n < Math.ceil(kills / 20); n++) yield await loseWhileReading(store, random)
  const trials = isShort ? shortTrials(store) : longTrials(store, random, kills)
  for (const trial of trials) {
    const outcome = await loseDuring(store, trial, ground)
    yield outcome
    // The trials that follow would start from another state than they assume.
    if (outcome.fault !== undefined) return
  }
  await recoverEvery(store, '1s')
  yield* moveShards(store, ground)
}

interface Trial {
  readonly kind: ChangeKind
  readonly moment: CommandMoment
  readonly victim: PostgresServer
  /** Whether what the victim has left undecided stays so until the next import. */
  readonly isLeft: boolean
}

function shortTrials({ nodes }: CitusStore): Trial[] {
  const [first = nodes.coordinator] = nodes.workers
  return [
    { kind: 'import', moment: after(900), victim: first, isLeft: false },
    { kind: 'revert', moment: beforeNodesCommit, victim: nodes.coordinator, isLeft: true },
  ]
}

function* longTrials(store: CitusStore, random: Random, kills: number): Generator<Trial> {
  const kinds: readonly ChangeKind[] = ['import', 'import', 'revert', 'prune']
  const spansMs = { import: 2_500, revert: 2_500, prune: 700 }
  for (let n = 0; n < kills; n++) {
    const { coordinator, workers } = store.nodes
    const wanted = random.pick(kinds)
    const kind = store.course.can(wanted) ? wanted : 'import'
    const moment = [after(random.integer(0, spansMs[kind])), whilePreparing, beforeNodesCommit]
    yield {
      kind,
      moment: random.pick(moment),
      victim: random.pick([coordinator, random.pick(workers)]),
      isLeft: random.oneIn(2),
    }
  }
}

const downMsMax = 700

function nameOf({ nodes }: CitusStore, victim: PostgresServer): string {
  return victim === nodes.coordinator
    ? 'the coordinator'
    : `worker ${nodes.workers.indexOf(victim) + 1}`
}

/** Kills a node, and starts it again after a while. */
async function killNode(
  { nodes, outages }: CitusStore,
  victim: PostgresServer,
  downMs: number,
): Promise<void> {
  const outage = outages.begin(victim === nodes.coordinator ? undefined : victim.port)
  await victim.stop('SIGKILL')
  await sleep(downMs)
  await startAgain(victim)
  outage.end()
}

/**
 * Starts a node after a crash. PostgreSQL 15 may find a file of an unlogged table whose creation
 * was being rolled back, and stop with `File exists`; started again, it removes the file.
 */
async function startAgain(node: PostgresServer): Promise<void> {
  try {
    await node.start()
  } catch (error) {
    if (!/File exists/.test(String(error))) throw error
    await node.start()
  }
}

async function loseWhileReading(store: CitusStore, random: Random): Promise<Outcome> {
  const victim = random.pick(store.nodes.workers)
  const readers = startCitusReaders(store, random)
  await sleep(random.integer(200, 500))
  await killNode(store, victim, random.integer(500, 1_500))
  await sleep(2_500)
  const sight = await readers.stop()
  const whole = await readWhole(store)
  return {
    what: `${nameOf(store, victim)} killed under readers`,
    found: sight.found,
    fault: firstFault(
      sight.fault,
      sight.refusals === 0 ? 'no page was refused' : undefined,
      sight.meanwhile === 0 ? 'no page of other companies was answered' : undefined,
      whole.fault,
      whole.versions.size === 1 ? undefined : 'the companies are of several versions',
    ),
  }
}

async function loseDuring(
  store: CitusStore,
  trial: Trial,
  { random, isShort }: Ground,
): Promise<Outcome> {
  const { kind, moment, victim, isLeft } = trial
  const change = store.course.plan(kind)
  await recoverEvery(store, isLeft ? '-1' : '1s')
  const readers = startCitusReaders(store, random)
  const running = startDossier(change.args(store.db))
  const hasMet = await moment.reach(store, running)
  if (hasMet) await killNode(store, victim, random.integer(0, downMsMax))
  const undecided = await countUndecided(store)
  await moment.release(store)
  const ended = await untilEnded(running)
  // Each company is of the version before or after, also while nodes are undecided.
  const meanwhile = await readWhole(store)
  const left = isLeft ? await countUndecided(store) : 0
  const report = left > 0 && random.oneIn(3) && !isShort ? await faultOfReport(store) : undefined
  const settled = isLeft ? await goOn(store, change, ended) : await untilDecided(store)
  const sight = await readers.stop()
  const fault = firstFault(sight.fault, meanwhile.fault, report, settled)
  return {
    what: `${kind}: ${nameOf(store, victim)} killed ${moment.what}`,
    found:
      `${hasMet ? '' : 'too late; '}${undecided} undecided` +
      `${isLeft ? ' until the next command' : ''}; ${sight.found}; ${describeEnd(ended)}`,
    fault: fault ?? (isLeft ? undefined : await judge(store, change, ended)),
  }
}

async function countUndecided(store: CitusStore): Promise<number> {
  return (await Promise.all(everyNode(store).map(undecidedOn))).flat().length
}

/** Sets how often Citus decides what is undecided. */
async function recoverEvery({ coordinator }: CitusStore, interval: string): Promise<void> {
  await coordinator.query(`alter system set citus.recover_2pc_interval = '${interval}'`)
  await coordinator.query('select pg_reload_conf()')
}

/** How old an undecided transaction has to be before `verify` reports it, and some more. */
const reportedMs = 11_000

/** Whether `verify` reports undecided transactions. */
async function faultOfReport(store: CitusStore): Promise<string | undefined> {
  await sleep(reportedMs)
  const { faults } = await verifyStore(store.db)
  const isReported = faults.some((fault) => fault.includes('neither committed nor rolled back'))
  return isReported ? undefined : `verify does not report them: ${faults.join('; ')}`
}

/** The next command does not wait for Citus to decide. */
async function goOn(store: CitusStore, change: Change, ended: Ended): Promise<string | undefined> {
  if (isUnknown(ended)) {
    // An operator looks first, too: done twice, it would be two versions.
    await recoverEvery(store, '1s')
    return (await untilDecided(store)) ?? judge(store, change, ended)
  }
  if (ended.code !== 0) return faultOfRefusal(ended) ?? repeat(store, change)
  store.course.done(change)
  return repeat(store, store.course.plan('import'))
}

/** The command has been done or not, as it said; if not, it can be repeated. */
async function judge(store: CitusStore, change: Change, ended: Ended): Promise<string | undefined> {
  const { which, fault } = await examine(store, change)
  const found = firstFault(fault, faultOfEnd(ended, which))
  if (found !== undefined || which === 'before') return found ?? repeat(store, change)
  store.course.done(change)
  return undefined
}

function faultOfEnd(ended: Ended, which: string): string | undefined {
  if (ended.signal !== null) return 'the command did not end'
  if (ended.code === 0) return which === 'after' ? undefined : 'it ended as if it were committed'
  if (isUnknown(ended)) return faultOfRefusal(ended)
  return firstFault(
    which === 'before' ? undefined : 'it ended as if nothing were changed',
    faultOfRefusal(ended),
  )
}
