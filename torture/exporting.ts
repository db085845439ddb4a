// Disturbed exports: a kill, a signal, a call that fails, a limit, a full disk, another export at
// once. What is left is a whole copy, or none; the next export continues from there.

import { hash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { zstdDecompressSync } from 'node:zlib'
import { exportedVersions, readExport } from '../src/store/exports/folder.ts'
import { exportFormats, manifestName, withheldName } from '../src/store/exports/manifest.ts'
import { writeExtract } from './extracts.ts'
import { mountDisk } from './full-disk.ts'
import {
  type Campaign,
  faultOfVerify,
  firstFault,
  type Ground,
  type Outcome,
  spread,
} from './outcome.ts'
import {
  describeEnd,
  type Ended,
  faultOfRefusal,
  mustRun,
  runDossier,
  runHere,
  startDossier,
  type StartOptions,
} from './processes.ts'
import { limitTo } from './size-limit.ts'
import { type Effects, metAtCalls } from './traced-calls.ts'

/** A store, and where it is exported to. */
interface Exported {
  readonly db: string
  readonly copies: string
  readonly args: () => string[]
  /** The whole copy's bytes, and how long it takes undisturbed. */
  readonly bytes: number
  readonly durationMs: number
}

/** The version that is exported: companies come first, then events. */
const version = 2

/** Disturbs `dossier export` in every way. */
export const disturbExports: Campaign = async function* (ground) {
  const tried = await makeExported(ground)
  yield* disturbCalls(ground, tried)
  // In other threads, files in one format make other calls than those in several.
  if (!ground.isShort)
    yield* disturbCalls(ground, { ...tried, args: () => argsOf(tried, 'ndjson.zst') })
  for (const blocks of spread(0, (tried.bytes * 1.2) / 512, ground.isShort ? 1 : 16)) {
    const what = `files of at most ${blocks} blocks`
    yield await disturb(tried, what, { wrapper: limitTo(blocks) })
  }
  yield* fillDisk(ground, tried)
  if (ground.isShort) return
  for (let n = 0; n < ground.kills / 5; n += 1) {
    yield await signalAt(tried, ground, n % 2 === 0 ? 'SIGKILL' : 'SIGTERM')
  }
  for (let n = 0; n < 5; n += 1) yield await exportTwice(tried)
}

async function makeExported({ folder, rows, isShort }: Ground): Promise<Exported> {
  const own = join(folder, 'exporting')
  const db = join(own, 'store.db')
  const copies = join(own, 'copies')
  mkdirSync(own)
  for (const target of ['companies', 'events'] as const) {
    const path = join(own, `${target}.ndjson`)
    writeExtract(path, target, 'first', target === 'events' ? rows : rows / 10)
    await mustRun(['import', target, path, '--source', 'register', '--db', db])
  }
  const formats = isShort ? 'ndjson.zst' : exportFormats.join()
  const args = () => argsOf({ db, copies }, formats)
  const { ms } = await (isShort ? mustRun(args()) : runDossier(args()))
  const made = join(copies, String(version))
  const bytes = readdirSync(made).reduce((sum, name) => sum + statSync(join(made, name)).size, 0)
  return { db, copies, args, bytes, durationMs: ms }
}

function argsOf({ db, copies }: Pick<Exported, 'db' | 'copies'>, formats: string): string[] {
  return ['export', copies, '--format', formats, '--db', db]
}

/** Kills an export at calls that change files, and makes those fail that only exports make. */
function disturbCalls(ground: Ground, tried: Exported): AsyncGenerator<Outcome> {
  const { db, args } = tried
  const reset = () => Promise.resolve(clear(tried))
  // A copy is whole only once it has its name.
  const short: Effects = { rename: ['kill', 'EIO'], fsync: ['EIO'] }
  // Writes of a process go to its pipes, too: a full disk and a limit are those that fail.
  const long: Effects = {
    ...short,
    write: ['kill'],
    fsync: ['kill', 'EIO'],
    mkdir: ['kill', 'EIO'],
  }
  const command = { args, db, folder: ground.folder, reset }
  return metAtCalls(ground, command, ground.isShort ? short : long, ({ what, wrapper }) =>
    disturb(tried, what, { wrapper }),
  )
}

/** Puts the copies on a disk with some space, and then the temporary files. */
async function* fillDisk(ground: Ground, made: Exported): AsyncGenerator<Outcome> {
  const disk = mountDisk(join(ground.folder, 'export-disk'))
  if (disk === undefined) {
    yield { what: 'a full disk', found: 'a tmpfs cannot be mounted here', isSkipped: true }
    return
  }
  const copies = join(disk.folder, 'copies')
  const tried = { ...made, copies, args: () => made.args().with(1, copies) }
  try {
    const sizes = spread(ground.isShort ? 8_192 : 0, made.bytes * 1.2, ground.isShort ? 1 : 16)
    for (const size of sizes) {
      clear(tried)
      disk.resize(Math.max(size, 4_096))
      const what = `a disk with ${Math.round(size / 1_024)} KiB`
      const enlarge = () => disk.resize(64 << 20)
      yield await disturb(tried, what, {}, enlarge)
    }
    clear(tried)
    disk.resize(4_096)
    if (!ground.isShort) {
      yield await disturb(made, 'a full folder of temporary files', { temporary: disk.folder })
    }
  } finally {
    disk.remove()
  }
}

async function signalAt(
  tried: Exported,
  { random }: Ground,
  signal: 'SIGKILL' | 'SIGTERM',
): Promise<Outcome> {
  clear(tried)
  const delayMs = random.integer(0, Math.ceil(tried.durationMs))
  const { child, ended } = startDossier(tried.args())
  await Promise.race([sleep(delayMs), ended])
  child.kill(signal)
  return judge(tried, `${signal} after ${delayMs} ms`, await ended)
}

/** One of two simultaneous exports of a version makes it; the other one reports that. */
async function exportTwice(tried: Exported): Promise<Outcome> {
  clear(tried)
  const ends = await Promise.all([runDossier(tried.args()), runDossier(tried.args())])
  const [one, other] = ends.toSorted((a, b) => Number(a.code) - Number(b.code))
  const outcome = await judge(tried, 'two at once', one ?? { ...ends[0], code: 1 })
  return {
    ...outcome,
    found: `${outcome.found}; the other one ${other && describeEnd(other)}`,
    fault: firstFault(outcome.fault, other && !isDone(other) ? faultOfRefusal(other) : undefined),
  }
}

/** @param mend frees space before what is left is judged. */
async function disturb(
  tried: Exported,
  what: string,
  options: StartOptions,
  mend: () => void = () => undefined,
): Promise<Outcome> {
  clear(tried)
  const ended = await runDossier(tried.args(), options)
  mend()
  return judge(tried, what, ended)
}

function clear({ copies }: Exported): void {
  rmSync(copies, { recursive: true, force: true })
}

/** Judges what an export has left, what the next one makes of it, and the store. */
async function judge(tried: Exported, what: string, ended: Ended): Promise<Outcome> {
  const { copies, db } = tried
  const names = existsSync(copies) ? readdirSync(copies) : []
  const leftovers = names.filter((name) => name.startsWith('.'))
  const isMade = names.includes(String(version))
  const first = isMade ? faultOfCopy(copies) : undefined
  const next = await runHere(tried.args())
  return {
    what: `export: ${what}`,
    found: `${describeEnd(ended)}; ${isMade ? 'a copy' : 'no copy'}, ${leftovers.length} leftovers`,
    fault: firstFault(
      first,
      faultOfEnd(ended, isMade),
      ended.signal === 'SIGKILL' || leftovers.length === 0
        ? undefined
        : `left: ${leftovers.join()}`,
      next.code === 0 && isDone(next) === isMade ? undefined : `the next one ${describeEnd(next)}`,
      faultOfCopy(copies),
      readdirSync(copies).join() === String(version) ? undefined : 'the next one has left files',
      await faultOfVerify(db),
    ),
  }
}

/** Whether an export found a whole copy of the version, and wrote nothing. */
function isDone({ code, err }: Ended): boolean {
  return code === 0 && err.includes('already has a copy of version')
}

function faultOfEnd(ended: Ended, isMade: boolean): string | undefined {
  if (ended.signal !== null) return undefined
  if (ended.code === 0) return isMade ? undefined : 'it said that it had made a copy'
  if (isMade) return 'it has made a copy, and failed'
  return faultOfRefusal(ended)
}

/** A copy has the files of its manifest, and no others, each with the bytes that this names. */
function faultOfCopy(copies: string): string | undefined {
  if (exportedVersions(copies).join() !== String(version)) return 'another copy, or none'
  const found = readExport(copies, version)
  if (found === undefined) return 'a copy without a manifest'
  const { folder, manifest } = found
  const files = manifest.resources.flatMap((one) => one.files)
  const expected = [...files.map(({ name }) => name), manifestName, withheldName].sort().join()
  if (readdirSync(folder).sort().join() !== expected) return 'a copy with other files'
  const bad = files.find(
    ({ name, sha256 }) => hash('sha256', readFileSync(join(folder, name))) !== sha256,
  )
  if (bad !== undefined) return `${bad.name} has other bytes than its manifest says`
  for (const { resource, sha256, files: own } of manifest.resources) {
    const lines = own
      .filter(({ format }) => format === 'ndjson.zst')
      .map(({ name }) => zstdDecompressSync(readFileSync(join(folder, name))))
    if (hash('sha256', Buffer.concat(lines)) !== sha256)
      return `${resource} has other records than its manifest says`
  }
  return undefined
}
