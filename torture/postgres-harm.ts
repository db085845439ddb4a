// Disturbs imports into PostgreSQL at random moments, and judges them.

import { setTimeout as sleep } from 'node:timers/promises'
import type { ImportCase } from './cases.ts'
import { judge } from './judge.ts'
import { harmOften, type Moment, type Phase, type Share, type Trial } from './moments.ts'
import { firstFault, type Ground, type Outcome } from './outcome.ts'
import type { Cluster } from './postgres-cluster.ts'
import { followImport, sessionsOf, type Step, steps } from './postgres-steps.ts'
import { createPostgresStores, makePostgresCase, type PostgresCourse } from './postgres-stores.ts'
import { type Ended, isRunning, reach, type Running, startDossier } from './processes.ts'

/** A disturbance of an import. */
export interface Harm {
  /** Such as `its session terminated`. */
  readonly what: string
  /** Disturbs the import; false if there was nothing to disturb. */
  strike(running: Running, tried: ImportCase): Promise<boolean>
}

type PostgresCase = ImportCase<PostgresCourse>

/** Disturbs imports, each as often as its share says. */
export async function* harmImports(
  ground: Ground,
  cluster: Cluster,
  shares: readonly Share[],
  harms: readonly Harm[],
): AsyncGenerator<Outcome> {
  const { random } = ground
  const stores = createPostgresStores(cluster)
  for (const { name, times } of shares) {
    if (times === 0) continue
    const tried = await makePostgresCase(ground, name, stores)
    yield { what: `${name}: undisturbed`, found: describeCourse(tried.course) }
    yield* harmOften(random, times, phasesOf(tried.course), (moment) =>
      harmOnce(cluster, tried, moment, random.pick(harms)),
    )
  }
}

function describeCourse({ durationMs, beginMs }: PostgresCourse): string {
  const begins = steps.slice(1).map((step) => `${step} from ${beginMs[step].toFixed(0)} ms on`)
  return `${durationMs.toFixed(0)} ms, ${begins.join(', ')}`
}

const begins = {
  'its start': 'starting',
  'it connected': 'connected',
  'it began to merge': 'merging',
  'it came to its commit': 'committing',
  'its commit was done and not yet reported': 'committing',
} as const satisfies Record<string, Step>

type Begin = keyof typeof begins

/** A quarter of the moments is anywhere; the others are when an import could do harm. */
function phasesOf({ durationMs, beginMs }: PostgresCourse): readonly Phase<Begin>[] {
  const { connected, merging, committing } = beginMs
  return [
    { name: 'its start', chance: 25, spanMs: durationMs },
    { name: 'it connected', chance: 15, spanMs: merging - connected },
    { name: 'it began to merge', chance: 25, spanMs: committing - merging },
    { name: 'it came to its commit', chance: 20, spanMs: durationMs - committing },
    { name: 'its commit was done and not yet reported', chance: 15, spanMs: 0 },
  ]
}

async function harmOnce(
  cluster: Cluster,
  tried: PostgresCase,
  { phase, delayMs }: Moment<Begin>,
  harm: Harm,
): Promise<Trial> {
  await tried.reset()
  const running = startDossier(tried.args(tried.db))
  const isHeld = phase === 'its commit was done and not yet reported'
  await untilStep(isHeld ? 'merging' : begins[phase], cluster, tried, running)
  if (isHeld) await holdCommit(cluster, tried, running)
  if (delayMs > 0) await Promise.race([sleep(delayMs), running.ended])
  const hasMet = isRunning(running) && (await harm.strike(running, tried))
  if (isHeld) await letCommit(cluster)
  const end = await running.ended
  const what = `${harm.what} ${delayMs.toFixed(1)} ms after ${phase}`
  const outcome = await judge(tried, what, end)
  return {
    outcome: { ...outcome, fault: firstFault(outcome.fault, faultOfSecrecy(tried, end)) },
    isLate: !hasMet,
  }
}

async function untilStep(
  wanted: Step,
  cluster: Cluster,
  { db }: ImportCase,
  running: Running,
): Promise<void> {
  if (wanted === 'starting') return
  const step = followImport(cluster, db)
  const least = steps.indexOf(wanted)
  await reach(running, async () => steps.indexOf(await step()) >= least)
}

// Holds the commit by making it wait for a standby that does not exist. It is already done then,
// but not reported: only the server's answer gets lost.
async function holdCommit(cluster: Cluster, { db }: ImportCase, running: Running) {
  await cluster.query(`alter system set synchronous_standby_names = 'nobody'`)
  await cluster.query('select pg_reload_conf()')
  const isHeld = async () => (await sessionsOf(cluster, db)).some(({ wait }) => wait === 'SyncRep')
  await reach(running, isHeld)
}

async function letCommit(cluster: Cluster): Promise<void> {
  await cluster.query('alter system reset synchronous_standby_names')
  await cluster.query('select pg_reload_conf()')
}

/** Messages and reports end up in logs, so they must not contain the password of the URL. */
function faultOfSecrecy({ db }: ImportCase, { out, err }: Ended): string | undefined {
  const { password } = new URL(db)
  const forms = [password, decodeURIComponent(password)]
  return forms.some((form) => (out + err).includes(form)) ? 'the password is shown' : undefined
}
