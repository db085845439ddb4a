// Concurrent imports, interrupted imports, and truncated archives.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { type Course, type ImportCase, makeCase, type WatchedStores } from './cases.ts'
import { companiesCsv } from './extracts.ts'
import { fileStores } from './file-stores.ts'
import { judge } from './judge.ts'
import { type Campaign, faultOfVerify, firstFault, type Ground, type Outcome } from './outcome.ts'
import { describeEnd, runDossier, runHere, startDossier } from './processes.ts'
import { removeStore } from './store-files.ts'

/** Runs imports concurrently, interrupts imports, and imports truncated archives. */
export const takeTurns: Campaign = async function* (ground) {
  for (const isFirst of ground.isShort ? [true] : [true, false]) {
    yield* importAtOnce(ground, isFirst, fileStores, ground.isShort ? 1 : 5)
  }
  const names = ['events, update', 'events, first load', 'companies, update'] as const
  for (const name of ground.isShort ? names.slice(0, 1) : names) {
    const tried = await makeCase(ground, name, fileStores)
    for (let n = 0; n < (ground.isShort ? 1 : 12); n++) yield await interrupt(tried, ground)
  }
  yield* cutArchives(ground)
}

/** The sources of concurrent imports. */
export const sources = ['one', 'two', 'three'] as const

/** The arguments of a case's import for another source. */
export function argsOf(tried: ImportCase, source: string): string[] {
  return tried.args(tried.db).map((word) => (word === 'register' ? source : word))
}

/** Imports several sources into one store concurrently: all must succeed, as if run in sequence. */
export async function* importAtOnce(
  ground: Ground,
  isFirst: boolean,
  stores: WatchedStores<Course>,
  rounds: number,
): AsyncGenerator<Outcome> {
  const tried = await makeCase(ground, isFirst ? 'events, first load' : 'events, update', stores)
  const importAll = () => Promise.all(sources.map((source) => runDossier(argsOf(tried, source))))
  for (let round = 0; round < rounds; round++) {
    await tried.reset()
    const ends = await importAll()
    const waited = ends.filter(({ err }) => err.includes('waiting for it to finish')).length
    const failed = ends.find(({ code }) => code !== 0)
    const state = await stores.readState(tried.db, true)
    const again = ground.isShort ? [] : await importAll()
    const changed = again.find(({ out }) => !/inserted +0\n +updated +0\n/.test(out))
    const versions = tried.before.version + sources.length
    yield {
      what: `${tried.name}: ${sources.length} imports at once`,
      found: `versions up to ${state.version}; ${waited} had to wait`,
      fault: firstFault(
        failed && describeEnd(failed),
        state.integrity === 'ok' ? undefined : state.integrity,
        state.version === versions ? undefined : `the last version is not ${versions}`,
        changed && `the same again ${describeEnd(changed)}: ${changed.out}`,
        await faultOfVerify(tried.db),
        await stores.faultOfRest(tried.db),
      ),
    }
  }
}

/** Sends SIGTERM or SIGINT at a random moment. */
export async function interrupt(tried: ImportCase, { random }: Ground): Promise<Outcome> {
  await tried.reset()
  const signal = random.pick(['SIGTERM', 'SIGINT'] as const)
  const delayMs = random.integer(0, Math.ceil(tried.course.durationMs))
  const { child, ended } = startDossier(tried.args(tried.db))
  await Promise.race([sleep(delayMs), ended])
  child.kill(signal)
  return judge(tried, `${signal} after ${delayMs} ms`, await ended)
}

/** Truncates compressed files at random: the import must refuse them. */
async function* cutArchives(ground: Ground): AsyncGenerator<Outcome> {
  mkdirSync(ground.folder, { recursive: true })
  const tried = await makeCase(ground, 'companies, update', fileStores)
  const [, , rows = ''] = tried.args(tried.db)
  const archives = {
    'cut.ndjson.gz': gzipSync(readFileSync(rows)),
    'cut.csv.gz': gzipSync(companiesCsv('second', ground.rows)),
  }
  for (const [name, bytes] of Object.entries(archives)) {
    const file = join(ground.folder, name)
    for (let n = 0; n < (ground.isShort ? 1 : 5); n++) {
      const kept = ground.random.integer(1, bytes.length - 1)
      writeFileSync(file, bytes.subarray(0, kept))
      await tried.reset()
      const ended = await runHere(tried.args(tried.db).map((word) => (word === rows ? file : word)))
      const outcome = await judge(tried, `${name}, ${kept} of ${bytes.length} bytes`, ended)
      const isTaken = ended.code === 0 ? 'it was imported' : undefined
      yield { ...outcome, fault: firstFault(outcome.fault, isTaken) }
    }
  }
  removeStore(tried.db)
}
