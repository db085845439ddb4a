// `kill -9` of an import at moments by chance: spread over its whole course, and denser where it
// makes the store, where it commits, and where it moves the log into the store.

import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../src/demo/random.ts'
import { type CaseName, examine, type ImportCase, makeCase } from './cases.ts'
import type { Campaign, Ground, Outcome } from './outcome.ts'
import { type Ended, startDossier } from './processes.ts'
import { sizeOf } from './store-files.ts'

/** Kills first loads and updates, each as often as asked; companies and records in turn. */
export const killImports: Campaign = async function* (ground) {
  for (const kind of ['first load', 'update'] as const) {
    const names = [`companies, ${kind}`, `events, ${kind}`] satisfies CaseName[]
    for (const [index, name] of names.entries()) {
      const tried = await makeCase(ground, name)
      const kills = Math.floor((ground.kills + index) / names.length)
      yield* killOften(tried, kills, ground)
    }
  }
}

/** Kills one import over and over; a kill that comes when it has ended counts for nothing. */
async function* killOften(
  tried: ImportCase,
  kills: number,
  { random }: Ground,
): AsyncGenerator<Outcome> {
  const { durationMs, writingMs } = tried
  yield {
    what: `${tried.name}: undisturbed`,
    found: `${durationMs.toFixed(0)} ms, writes from ${writingMs.toFixed(0)} ms on`,
  }
  const spansMs = {
    'its start': durationMs,
    'the store appeared': 40,
    'it began to write': durationMs - writingMs,
  }
  for (let killed = 0, tries = 0; killed < kills && tries < 2 * kills; tries++) {
    const moment = chooseMoment(random, spansMs, tried.isFirstLoad)
    const { outcome, hasEnded } = await killOnce(tried, moment)
    yield outcome
    if (!hasEnded) killed += 1
    // It is quicker than when it was measured: the machine has less to do.
    else spansMs[moment.phase] = Math.max(moment.delayMs * 0.9, 5)
  }
}

type Phase = 'its start' | 'the store appeared' | 'it began to write'

interface Moment {
  readonly phase: Phase
  readonly delayMs: number
}

/** Two of five kills fall anywhere; the others where an import could do harm. */
function chooseMoment(
  random: Random,
  spansMs: Readonly<Record<Phase, number>>,
  isFirstLoad: boolean,
): Moment {
  const chance = random.integer(1, 100)
  const isMaking = isFirstLoad && chance <= 55
  const phase = chance <= 40 ? 'its start' : isMaking ? 'the store appeared' : 'it began to write'
  return { phase, delayMs: random.integer(0, Math.ceil(spansMs[phase] * 10)) / 10 }
}

interface Kill {
  readonly outcome: Outcome
  readonly hasEnded: boolean
}

async function killOnce(tried: ImportCase, { phase, delayMs }: Moment): Promise<Kill> {
  tried.reset()
  const { child, ended } = startDossier(tried.args(tried.db))
  while (child.exitCode === null && !hasBegun(phase, tried)) await sleep(1)
  if (delayMs > 0) await Promise.race([sleep(delayMs), ended])
  child.kill('SIGKILL')
  const end = await ended
  const { found, fault, which } = await examine(tried)
  const isCommitted = end.out.includes('Committed')
  const outcome = {
    what: `${tried.name}: killed ${delayMs.toFixed(1)} ms after ${phase}`,
    found: `${describe(end, isCommitted)}; ${found}`,
    fault: fault ?? (isCommitted && which === 'before' ? 'it had said Committed' : undefined),
  }
  return { outcome, hasEnded: end.signal !== 'SIGKILL' }
}

function hasBegun(phase: Phase, { db, writingBytes }: ImportCase): boolean {
  if (phase === 'its start') return true
  if (phase === 'the store appeared') return existsSync(db)
  return sizeOf(`${db}-wal`) > writingBytes
}

function describe({ signal, code, ms }: Ended, isCommitted: boolean): string {
  const end = signal === 'SIGKILL' ? 'killed' : `had ended with ${signal ?? String(code)}`
  return `${end} at ${ms.toFixed(0)} ms${isCommitted ? ', committed' : ''}`
}
