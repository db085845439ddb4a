// Imports that meet a fault at a system call that changes a file: `kill -9`, or an error, once or
// from then on.

import { DatabaseSync } from 'node:sqlite'
import { type CaseName, type ImportCase, makeCase, writingCases } from './cases.ts'
import { fileStores } from './file-stores.ts'
import { judge } from './judge.ts'
import { type Campaign, firstFault, type Ground, type Outcome } from './outcome.ts'
import { runDossier } from './processes.ts'
import { copyStore, removeStore } from './store-files.ts'
import { type Effects, type Met, metAtCalls } from './traced-calls.ts'

/** What SQLite changes files with. */
const killing: Effects = {
  pwrite64: ['kill'],
  fsync: ['kill'],
  ftruncate: ['kill'],
  unlink: ['kill'],
}

/** Kills first loads, updates, reverts, a prune and a compaction at their writes. */
export const killAtCalls: Campaign = (ground) =>
  killAtEach(
    ground,
    ground.isShort
      ? ['events, first load']
      : [...writingCases, 'companies, revert', 'events, prune', 'events, compact'],
    killing,
  )

/** Kills the restore of a backup at its writes; it renames a file, too. */
export const killRestores: Campaign = (ground) =>
  killAtEach(ground, ['events, restore'], { ...killing, rename: ['kill'] })

async function* killAtEach(
  ground: Ground,
  names: readonly CaseName[],
  effects: Effects,
): AsyncGenerator<Outcome> {
  for (const name of names) {
    const tried = await makeCase(ground, name, fileStores)
    yield* metAtCalls(ground, tried, effects, (met) => killAt(tried, met))
  }
}

async function killAt(tried: ImportCase, { what, wrapper, isSure }: Met): Promise<Outcome> {
  const ended = await runDossier(tried.args(tried.db), { wrapper })
  const outcome = await judge(tried, what, ended)
  // What strace is killed by, it ends by, too.
  const isMissed = isSure && ended.signal !== 'SIGKILL'
  return {
    ...outcome,
    fault: firstFault(outcome.fault, isMissed ? 'it was not killed' : undefined),
  }
}

/** Makes system calls of a first load and of updates fail. */
export const failCalls: Campaign = async function* (ground) {
  const names: readonly CaseName[] = ground.isShort
    ? ['events, update']
    : ['events, first load', 'events, update', 'companies, update', 'events, revert']
  for (const name of names) {
    const tried = await makeCase(ground, name, fileStores)
    const failing: Effects = { pwrite64: ['EIO', 'ENOSPC'], fsync: ['EIO'], ftruncate: ['EIO'] }
    yield* metAtCalls(ground, tried, failing, async ({ what, wrapper }) =>
      judge(tried, what, await runDossier(tried.args(tried.db), { wrapper })),
    )
    if (tried.isFirstLoad) continue
    yield* metAtCalls(ground, tried, { fsync: ['EIO'] }, (met) => failServed(tried, met))
  }
}

/**
 * Makes a call fail while a server has the store open, followed by a reboot: what the import has
 * rolled back must not reappear from the log.
 */
async function failServed(tried: ImportCase, { what, wrapper }: Met): Promise<Outcome> {
  const server = new DatabaseSync(tried.db, { readOnly: true })
  server.prepare('select count(*) from heads').get()
  const ended = await runDossier(tried.args(tried.db), { wrapper })
  const rebooted = `${tried.db}.rebooted`
  copyStore(tried.db, rebooted)
  server.close()
  copyStore(rebooted, tried.db)
  removeStore(rebooted)
  return judge(tried, `${what}, served meanwhile, then a reboot`, ended)
}
