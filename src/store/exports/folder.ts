// The folder of complete copies: one folder for each version, with its manifest.

import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Manifest, manifestName, withdrawnName, withheldName } from './manifest.ts'

/** A copy in a folder. */
export interface StoredExport {
  readonly folder: string
  readonly manifest: Manifest
  /** What was withheld since is in it: it is not given out. */
  readonly isWithdrawn: boolean
}

const versionPattern = /^[1-9]\d{0,9}$/

/** The versions of which there are copies, the last one first. */
export function exportedVersions(folder: string): readonly number[] {
  return readdirSync(folder)
    .filter((name) => versionPattern.test(name))
    .map(Number)
    .sort((a, b) => b - a)
}

/**
 * The copy of a version; undefined if there is none.
 *
 * @param lastWithheld the lineage of the last version that has withheld something: version numbers
 *   repeat after a restored backup.
 */
export function readExport(
  folder: string,
  version: number,
  lastWithheld: string,
): StoredExport | undefined {
  const own = join(folder, String(version))
  const path = join(own, manifestName)
  if (!existsSync(path)) return undefined
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as Manifest
  const isOther = withheldIn(own) !== lastWithheld
  return { folder: own, manifest, isWithdrawn: isOther || existsSync(join(own, withdrawnName)) }
}

function withheldIn(folder: string): string {
  const path = join(folder, withheldName)
  return existsSync(path) ? readFileSync(path, 'utf8').trimEnd() : ''
}

/**
 * Deletes the files of those copies of a registry that have what was withheld since.
 *
 * @returns their versions.
 */
export function withdrawOutdated(
  folder: string,
  storeId: string,
  lastWithheld: string,
): readonly number[] {
  if (!existsSync(folder)) return []
  return exportedVersions(folder).filter((version) => {
    const found = readExport(folder, version, lastWithheld)
    if (found?.isWithdrawn !== true || found.manifest.registry !== storeId) return false
    const { resources } = found.manifest
    const names = resources.flatMap(({ files }) => files.map(({ name }) => name))
    const hasFiles = names.some((name) => existsSync(join(found.folder, name)))
    withdrawExport(found)
    return hasFiles
  })
}

/** Withdraws a copy: its files are deleted, and requests for them say so. */
export function withdrawExport({ folder, manifest }: StoredExport): void {
  writeFileSync(join(folder, withdrawnName), '')
  for (const { files } of manifest.resources) {
    for (const { name } of files) rmSync(join(folder, name), { force: true })
  }
}
