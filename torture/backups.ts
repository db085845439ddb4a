// Backups taken while a server reads and imports commit: each has the state after one of the
// imports, and passes `dossier verify`.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { createCourse, planImports } from './course.ts'
import { companiesOf } from './generations.ts'
import { type Campaign, firstFault } from './outcome.ts'
import { describeEnd, mustRun, runDossier, runHere } from './processes.ts'
import { removeStore } from './store-files.ts'
import { readFileState } from './sqlite-state.ts'

/** Takes backups at random moments while imports run. */
export const backUpMeanwhile: Campaign = async function* (ground) {
  mkdirSync(ground.folder, { recursive: true })
  const db = join(ground.folder, 'served.db')
  const copy = join(ground.folder, 'copy.db')
  const changes = planImports(
    createCourse(ground.folder, companiesOf(ground)),
    ground.isShort ? 3 : 13,
  )
  // The state of each version, from a store that is not copied.
  const states = new Map<number, string>()
  for (const { version, args } of changes) {
    await mustRun(args(db))
    const { tables, served } = await readFileState(db, true)
    states.set(version, tables + served)
  }
  removeStore(db)
  const [first, ...others] = changes
  if (first !== undefined) await mustRun(first.args(db))
  const server = new DatabaseSync(db, { readOnly: true })
  server.prepare('select count(*) from heads').get()
  try {
    for (const { version, args } of others) {
      const loading = runDossier(args(db))
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
