// Backups taken while a server reads and imports commit: each has the state after one of the
// imports, and passes `dossier verify`.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { companiesOf, targetOf, writeGeneration } from './generations.ts'
import { type Campaign, firstFault } from './outcome.ts'
import { describeEnd, type Ended, mustRun, runDossier, runHere } from './processes.ts'
import { removeStore } from './store-files.ts'
import { readFileState } from './sqlite-state.ts'

/** Takes backups at random moments while imports run. */
export const backUpMeanwhile: Campaign = async function* (ground) {
  mkdirSync(ground.folder, { recursive: true })
  const db = join(ground.folder, 'served.db')
  const copy = join(ground.folder, 'copy.db')
  const imports = ground.isShort ? 2 : 12
  const states = new Map<number, string>()
  const load = (version: number, run: (args: readonly string[]) => Promise<Ended> = mustRun) => {
    const file = join(ground.folder, 'generation.ndjson')
    writeGeneration(file, version, companiesOf(ground))
    return run(['import', targetOf(version), file, '--snapshot', '--accept', '--db', db])
  }
  // The state of each version, from a store that is not copied.
  for (let version = 1; version <= imports + 1; version++) {
    await load(version)
    const { tables, served } = await readFileState(db, true)
    states.set(version, tables + served)
  }
  removeStore(db)
  await load(1)
  const server = new DatabaseSync(db, { readOnly: true })
  server.prepare('select count(*) from heads').get()
  try {
    for (let version = 2; version <= imports + 1; version++) {
      const loading = load(version, runDossier)
      await sleep(ground.random.integer(0, ground.isShort ? 300 : 600))
      removeStore(copy)
      const ended = await runHere(['backup', copy, '--db', db])
      const state = await readFileState(copy, true)
      const verified = await runHere(['verify', '--db', copy])
      const loaded = await loading
      yield {
        what: `a copy taken while version ${version} is loaded`,
        found: `version ${state.version}`,
        fault: firstFault(
          ended.code === 0 ? undefined : describeEnd(ended),
          loaded.code === 0 ? undefined : describeEnd(loaded),
          verified.code === 0 ? undefined : describeEnd(verified),
          state.version >= version - 1 && state.version <= version ? undefined : 'another version',
          states.get(state.version) === state.tables + state.served ? undefined : 'another state',
        ),
      }
    }
  } finally {
    server.close()
  }
}
