// `kill -9` of an import at a system call that changes a file: at every call of the rare ones; of
// the writes, at those that create the store, and at a selection of all.

import { type CaseName, type ImportCase, makeCase, writingCases } from './cases.ts'
import { fileStores } from './file-stores.ts'
import { examine } from './judge.ts'
import { type Campaign, firstFault, type Ground, type Outcome, spread } from './outcome.ts'
import { describeEnd, runDossier } from './processes.ts'
import {
  canTrace,
  countCalls,
  interfere,
  restoringCalls,
  whyNoTrace,
  writingCalls,
} from './traced-calls.ts'

/** Kills a first load and an update at their writes. */
export const killAtCalls: Campaign = (ground) =>
  killAtEach(
    ground,
    ground.isShort ? ['events, first load'] : [...writingCases, 'companies, revert'],
    writingCalls,
  )

/** Kills the restore of a backup at its writes. */
export const killRestores: Campaign = (ground) =>
  killAtEach(ground, ['events, restore'], restoringCalls)

async function* killAtEach(
  ground: Ground,
  names: readonly CaseName[],
  calls: readonly string[],
): AsyncGenerator<Outcome> {
  if (!canTrace) {
    yield { what: 'a kill at a write', found: whyNoTrace, isSkipped: true }
    return
  }
  for (const name of names) {
    const tried = await makeCase(ground, name, fileStores)
    const counts = await countCalls(tried, calls)
    for (const call of calls) {
      const count = counts.get(call) ?? 0
      for (const n of chooseCalls(ground, call, count)) {
        yield await killAt(tried, call, n, count)
      }
    }
  }
}

function chooseCalls({ isShort, random }: Ground, call: string, calls: number): number[] {
  if (calls === 0) return []
  if (isShort && call === 'pwrite64') return [...new Set([1, random.integer(1, calls)])]
  if (isShort) return [random.integer(1, calls)]
  if (call !== 'pwrite64') return spread(1, calls, calls)
  return [...new Set([...spread(1, 20, 20), ...spread(1, calls, 30)])].sort((a, b) => a - b)
}

async function killAt(tried: ImportCase, call: string, n: number, calls: number): Promise<Outcome> {
  await tried.reset()
  const wrapper = interfere(call, `signal=KILL:when=${n}`)
  const ended = await runDossier(tried.args(tried.db), { wrapper })
  const { found, fault } = await examine(tried)
  // What strace is killed by, it ends by, too. The last calls are not always made.
  const isMissed = ended.signal !== 'SIGKILL' && n <= calls / 2
  return {
    what: `${tried.name}: killed at ${call} ${n} of ${calls}`,
    found: `${describeEnd(ended)}; ${found}`,
    fault: firstFault(fault, isMissed ? 'it was not killed' : undefined),
  }
}
