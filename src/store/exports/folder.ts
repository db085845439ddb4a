// The folder of complete copies: one folder for each version, with its manifest.

import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { OperatorError, systemCode } from '../../config/operator-error.ts'
import { isAbsent } from '../../files/absent.ts'
import { isRunning } from '../../files/unfinished.ts'
import type { NamedPoint } from '../changes.ts'
import type { StoreReader } from '../serving/store-reader.ts'
import { type Manifest, manifestName, parseManifest, withheldName } from './manifest.ts'

/** A copy in a folder. */
export interface StoredExport {
  readonly folder: string
  readonly manifest: Manifest
  /**
   * The state of the list of what is withheld when the copy was begun. If it is another one now,
   * the copy is withdrawn: an order may touch nothing in a restored backup, and so not be in its
   * log, but a copy may have what it withholds.
   */
  readonly withheldState: string
}

/** The name of a copy's folder. */
export const versionPattern = /^[1-9]\d{0,9}$/

/** The versions of which there are copies, the last one first. */
export function exportedVersions(folder: string): readonly number[] {
  return readdirSync(folder)
    .filter((name) => versionPattern.test(name))
    .map(Number)
    .sort((a, b) => b - a)
}

/** What a killed export has left, with the number of its process. */
export const partialPattern = /^\.\d+\.(\d+)\.[\w-]+\.partial$/

/** Removes what killed exports have left in a folder of copies. */
export function removeKilled(folder: string): void {
  for (const name of readdirSync(folder)) {
    const pid = partialPattern.exec(name)?.[1]
    if (pid === undefined || isRunning(Number(pid))) continue
    rmSync(join(folder, name), { recursive: true, force: true })
  }
}

/** The copy of a version; undefined if there is none. @throws if this user may not read it. */
export function readExport(folder: string, version: number): StoredExport | undefined {
  const own = join(folder, String(version))
  const manifest = parseManifest(readIfThere(join(own, manifestName)))
  if (manifest === undefined) return undefined
  const withheldState = readIfThere(join(own, withheldName)).trimEnd()
  return { folder: own, manifest, withheldState }
}

/** The text of a file of a copy, which may be removed at any moment; empty if there is none. */
function readIfThere(path: string): string {
  try {
    return isAbsent(path) ? '' : readFileSync(path, 'utf8')
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return ''
    throw error
  }
}

/** Whether a registry's history, from its earliest version on, has a state. */
export async function isInHistory(store: StoreReader, since: NamedPoint): Promise<boolean> {
  const asked = { since, until: undefined, after: undefined, companyId: undefined, limit: 1 }
  return !('none' in (await store.readChanges({ ...asked, hasCompanies: false, resources: [] })))
}

/**
 * Deletes the files of a registry's copies that contain what has been withheld since, and what
 * killed exports have left.
 *
 * @returns their versions.
 * @throws what is wrong with a copy, once all others are withdrawn; an OperatorError if nobody can
 *   tell what is in it.
 */
export function withdrawOutdated(
  folder: string,
  storeId: string,
  withheldState: string,
): readonly number[] {
  removeKilled(folder)
  const faults: unknown[] = []
  const withdrawn = exportedVersions(folder).filter((version) => {
    try {
      return withdrawIfOutdated(folder, version, storeId, withheldState)
    } catch (error) {
      faults.push(error)
      return false
    }
  })
  if (faults.length > 0) throw faults[0]
  return withdrawn
}

/** @returns whether the copy of a version had files, which are deleted. */
function withdrawIfOutdated(
  folder: string,
  version: number,
  storeId: string,
  withheldState: string,
): boolean {
  const found = readExport(folder, version)
  const path = join(folder, String(version), manifestName)
  // A folder that cannot be entered may have a copy.
  if (found === undefined && !isAbsent(path)) {
    throw new OperatorError(
      `${path} is damaged or from another program, so its copy may have withheld data; ` +
        'remove its folder, or name another one with --exports',
    )
  }
  if (found?.manifest.registry !== storeId || found.withheldState === withheldState) return false
  const paths = found.manifest.resources
    .flatMap(({ files }) => files.map(({ name }) => join(found.folder, name)))
    .filter((file) => existsSync(file))
  for (const file of paths) rmSync(file)
  return paths.length > 0
}
