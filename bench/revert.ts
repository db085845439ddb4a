// The cost of taking imports back: all records of a first load, and a few of many.

import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { figure, type Measure } from './figures.ts'
import { dossier, folder, makeFew, makeFile, makeStore, removeStore, rightsOf } from './files.ts'
import { importFile, run } from './processes.ts'

const rounds = 3

/** Runs `dossier revert`; returns the time of the whole process, in seconds. */
async function revert(db: string, version: number): Promise<number> {
  return (await run([dossier, 'revert', String(version), '--db', db])).seconds
}

/** Imports records into a new store, and takes that back. */
export const revertAll: Measure = async (scale) => {
  const file = makeFile(rightsOf(1e6 * scale, 100))
  const db = join(folder, 'revert.db')
  const speeds: number[] = []
  for (let round = 0; round < rounds; round++) {
    removeStore(db)
    const { seconds } = await importFile('rights', file, db)
    speeds.push(seconds / (await revert(db, 1)))
  }
  removeStore(db)
  return [figure('revert of an import of 1,000,000', '÷ import (speed)', speeds, { least: 5 })]
}

/** Changes 1,000 records of ten million, and takes that back. */
export const revertFew: Measure = async (scale) => {
  const shape = rightsOf(1e7 * scale, 100)
  const made = makeStore(shape)
  const changed = makeFew(shape, 1_000)
  const db = join(folder, 'revert-few.db')
  removeStore(db)
  cpSync(made.db, db)
  const seconds: number[] = []
  for (let round = 0; round < rounds; round++) {
    await importFile('rights', changed, db, ['--accept'])
    // Each round makes an import and its revert.
    seconds.push(await revert(db, 2 * round + 2))
  }
  removeStore(db)
  return [figure('revert of 1,000 changed among 10,000,000', 's', seconds, { most: 2 })]
}
