// A full disk: that of the store, and that of the temporary files. A file system in memory stands
// in for it; mounting one requires root.

import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { makeCase, writingCases } from './cases.ts'
import { companiesCsv } from './extracts.ts'
import { type FileCase, fileStores } from './file-stores.ts'
import { judge } from './judge.ts'
import { type Campaign, firstFault, type Ground, type Outcome, spread } from './outcome.ts'
import { type Ended, faultOfRefusal, runDossier, type StartOptions } from './processes.ts'
import { copyStore, removeStore, sizeOf } from './store-files.ts'

const mib = 1 << 20

/** A disk that can be resized. */
interface Disk {
  readonly folder: string
  resize(bytes: number): void
  remove(): void
}

/** Imports on disks with no space left, up to enough. */
export const fillDisk: Campaign = async function* (ground) {
  const disk = mountDisk(join(ground.folder, 'disk'))
  if (disk === undefined) {
    yield { what: 'a full disk', found: 'a tmpfs cannot be mounted here', isSkipped: true }
    return
  }
  try {
    yield* fillStore(ground, disk)
    yield* fillTemporary(ground, disk)
    yield await unpackOntoFull(ground, disk)
  } finally {
    disk.remove()
  }
}

/** Undefined where this is not possible. */
export function mountDisk(folder: string): Disk | undefined {
  mkdirSync(folder, { recursive: true })
  const mount = (...args: string[]) => spawnSync('mount', ['-t', 'tmpfs', ...args]).status === 0
  if (!mount('-o', 'size=1m', 'tmpfs', folder)) return undefined
  const remove = () => void spawnSync('umount', ['--lazy', folder])
  // An interrupted run removes the folder of all stores next.
  process.prependOnceListener('exit', remove)
  return {
    folder,
    resize(bytes) {
      const size = `remount,size=${Math.ceil(bytes / 1_024)}k`
      if (!mount('-o', size, 'tmpfs', folder)) throw new Error(`no disk of ${bytes} bytes`)
    },
    remove,
  }
}

/** Puts the store on a disk with some space left, from none to enough. */
async function* fillStore(ground: Ground, disk: Disk): AsyncGenerator<Outcome> {
  for (const name of ground.isShort ? writingCases.slice(1, 2) : writingCases) {
    const made = await makeCase(ground, name, fileStores)
    // Enough for the log and the store, each a second time.
    const enough = made.course.bytes * 2
    const tried = moveTo(disk, made)
    for (const left of spread(0, enough, ground.isShort ? 2 : 14)) {
      disk.resize(64 * mib)
      await tried.reset()
      disk.resize(Math.max(sizeOf(tried.db) + left, 16_384))
      const ended = await runDossier(tried.args(tried.db), { temporary: ground.folder })
      // Frees space, as the message tells the operator to do.
      disk.resize(64 * mib)
      yield await judge(tried, `a disk with ${Math.round(left / 1_024)} KiB left`, ended)
    }
    removeStore(tried.db)
  }
}

function moveTo(disk: Disk, tried: FileCase): FileCase {
  const db = join(disk.folder, 'registry.db')
  const reset = async () => {
    await tried.reset()
    copyStore(tried.db, db)
  }
  return { ...tried, db, reset }
}

/** Puts only the temporary files on the disk. */
async function* fillTemporary(ground: Ground, disk: Disk): AsyncGenerator<Outcome> {
  const tried = await makeCase(ground, 'events, update', fileStores)
  for (const size of spread(16_384, tried.course.bytes, ground.isShort ? 1 : 8)) {
    disk.resize(size)
    await tried.reset()
    const ended = await runDossier(tried.args(tried.db), { temporary: disk.folder })
    const outcome = await judge(
      tried,
      `a folder for temporary files with ${Math.round(size / 1_024)} KiB`,
      ended,
    )
    yield { ...outcome, fault: firstFault(outcome.fault, faultOfRest(disk.folder)) }
  }
}

/** Imports a compressed CSV, which is decompressed into the folder for temporary files. */
async function unpackOntoFull(ground: Ground, disk: Disk): Promise<Outcome> {
  const file = join(ground.folder, 'companies.csv.gz')
  const text = companiesCsv('first', ground.rows)
  writeFileSync(file, gzipSync(text))
  disk.resize(text.length / 2)
  const args = ['import', 'companies', file, '--db', join(ground.folder, 'unpacked.db')]
  const options: StartOptions = { temporary: disk.folder }
  const ended: Ended = await runDossier(args, options)
  return {
    what: 'companies.csv.gz: a folder for temporary files that takes half of it',
    found: `exit code ${String(ended.code)}; ${ended.err.trimEnd()}`,
    fault: firstFault(faultOfRefusal(ended), faultOfRest(disk.folder)),
  }
}

function faultOfRest(folder: string): string | undefined {
  const names = readdirSync(folder)
  return names.length === 0 ? undefined : `left behind: ${names.join(', ')}`
}
