// The folder of complete copies: one folder for each version, with its manifest.

import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Manifest, manifestName, withdrawnName } from './manifest.ts'

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

/** The copy of a version; undefined if there is none. */
export function readExport(folder: string, version: number): StoredExport | undefined {
  const own = join(folder, String(version))
  const path = join(own, manifestName)
  if (!existsSync(path)) return undefined
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as Manifest
  return { folder: own, manifest, isWithdrawn: existsSync(join(own, withdrawnName)) }
}

/** Withdraws a copy: its files are deleted, and whoever asks for them is told. */
export function withdrawExport({ folder, manifest }: StoredExport): void {
  writeFileSync(join(folder, withdrawnName), '')
  for (const { files } of manifest.resources) {
    for (const { name } of files) rmSync(join(folder, name), { force: true })
  }
}
