// A failing disk: writes, syncs and truncations that return an error, once or from some call on.

import { DatabaseSync } from 'node:sqlite'
import { type CaseName, type ImportCase, makeCase } from './cases.ts'
import { fileStores } from './file-stores.ts'
import { judge } from './judge.ts'
import { type Campaign, type Ground, type Outcome, spread } from './outcome.ts'
import { runDossier } from './processes.ts'
import { copyStore, removeStore } from './store-files.ts'
import { canTrace, countCalls, interfere, whyNoTrace } from './traced-calls.ts'

/** The system calls that fail, and their errors. */
const failures = [
  { call: 'pwrite64', error: 'EIO' },
  { call: 'pwrite64', error: 'ENOSPC' },
  { call: 'fsync', error: 'EIO' },
  { call: 'ftruncate', error: 'EIO' },
] as const

/** Makes system calls of a first load and of updates fail. */
export const failCalls: Campaign = async function* (ground) {
  if (!canTrace) {
    yield { what: 'a write that fails', found: whyNoTrace, isSkipped: true }
    return
  }
  const names: readonly CaseName[] = ground.isShort
    ? ['events, update']
    : ['events, first load', 'events, update', 'companies, update', 'events, revert']
  for (const name of names) {
    const tried = await makeCase(ground, name, fileStores)
    const counts = await countCalls(
      tried,
      failures.map(({ call }) => call),
    )
    for (const { call, error } of failures) {
      const calls = counts.get(call) ?? 0
      for (const when of chooseEffects(ground, calls)) {
        const effect = `error=${error}:when=${when}`
        yield await failAt(tried, call, effect, calls)
        if (call === 'fsync' && !tried.isFirstLoad) yield await failServed(tried, call, effect)
      }
    }
  }
}

/** In strace, `7` means only the seventh call, `7+` every call from the seventh on. */
function chooseEffects({ random, isShort }: Ground, calls: number): string[] {
  if (calls === 0) return []
  if (isShort) return [`${random.integer(1, calls)}${random.pick(['', '+'])}`]
  const chosen = calls <= 12 ? spread(1, calls, calls) : chooseOf(calls, random)
  return chosen.flatMap((n) => [`${n}`, `${n}+`])
}

/** Chooses the first and last two calls, and a random one from each of eight parts. */
function chooseOf(calls: number, random: Ground['random']): number[] {
  const part = Math.floor(calls / 8)
  const between = Array.from({ length: 8 }, (_, n) => n * part + random.integer(1, part))
  return [1, 2, ...between, calls - 1, calls]
}

async function failAt(
  tried: ImportCase,
  call: string,
  effect: string,
  calls: number,
): Promise<Outcome> {
  await tried.reset()
  const ended = await runDossier(tried.args(tried.db), { wrapper: interfere(call, effect) })
  return judge(tried, `${call} with ${effect} of ${calls}`, ended)
}

/**
 * Makes a call fail while a server has the store open, followed by a reboot: what the import has
 * rolled back must not reappear from the log.
 */
async function failServed(tried: ImportCase, call: string, effect: string): Promise<Outcome> {
  await tried.reset()
  const server = new DatabaseSync(tried.db, { readOnly: true })
  server.prepare('select count(*) from heads').get()
  const ended = await runDossier(tried.args(tried.db), { wrapper: interfere(call, effect) })
  const rebooted = `${tried.db}.rebooted`
  copyStore(tried.db, rebooted)
  server.close()
  copyStore(rebooted, tried.db)
  removeStore(rebooted)
  return judge(tried, `${call} with ${effect}, served meanwhile, then a reboot`, ended)
}
