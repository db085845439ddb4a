// `kill -9` of an import at random moments: at any time, and more often while it creates the store,
// commits, and moves the log into the store.

import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeCase } from './cases.ts'
import { type FileCase, fileStores } from './file-stores.ts'
import { judge } from './judge.ts'
import { harmOften, type Moment, type Phase, shareOut, type Trial } from './moments.ts'
import type { Campaign, Ground, Outcome } from './outcome.ts'
import { startDossier } from './processes.ts'
import { sizeWithLog } from '../src/store/sqlite/wal.ts'

/** Kills first loads and updates, `ground.kills` times each; half companies, half records. */
export const killImports: Campaign = async function* (ground) {
  for (const { name, times } of shareOut(ground.kills)) {
    if (times === 0) continue
    yield* killOften(await makeCase(ground, name, fileStores), times, ground)
  }
}

/** Kills one import repeatedly; a kill after its end does not count. */
async function* killOften(
  tried: FileCase,
  kills: number,
  { random }: Ground,
): AsyncGenerator<Outcome> {
  const { durationMs, writingMs } = tried.course
  yield {
    what: `${tried.name}: undisturbed`,
    found: `${durationMs.toFixed(0)} ms, writes from ${writingMs.toFixed(0)} ms on`,
  }
  yield* harmOften(random, kills, phasesOf(tried), (moment) => killOnce(tried, moment))
}

type Begin = 'its start' | 'the store appeared' | 'it began to write'

/** Two of five kills happen at any moment; the others when an import could do harm. */
function phasesOf({ isFirstLoad, course }: FileCase): readonly Phase<Begin>[] {
  const { durationMs, writingMs } = course
  return [
    { name: 'its start', chance: 40, spanMs: durationMs },
    { name: 'the store appeared', chance: isFirstLoad ? 15 : 0, spanMs: 40 },
    {
      name: 'it began to write',
      chance: isFirstLoad ? 45 : 60,
      spanMs: durationMs - writingMs,
    },
  ]
}

async function killOnce(tried: FileCase, { phase, delayMs }: Moment<Begin>): Promise<Trial> {
  await tried.reset()
  const { child, ended } = startDossier(tried.args(tried.db))
  while (child.exitCode === null && !hasBegun(phase, tried)) await sleep(1)
  if (delayMs > 0) await Promise.race([sleep(delayMs), ended])
  child.kill('SIGKILL')
  const end = await ended
  const outcome = await judge(tried, `killed ${delayMs.toFixed(1)} ms after ${phase}`, end)
  return { outcome, isLate: end.signal !== 'SIGKILL' }
}

function hasBegun(phase: Begin, { db, course }: FileCase): boolean {
  if (phase === 'its start') return true
  if (phase === 'the store appeared') return existsSync(db)
  return sizeWithLog(db) > course.writingBytes
}
