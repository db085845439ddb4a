// A folder in memory: tests make and remove thousands of small files, which a disk is slow at.

import { existsSync, statfsSync } from 'node:fs'

const path = '/dev/shm'
const bytesMin = 4 * 1_024 ** 3

/** The folder, or why there is none with enough room. */
export function findMemoryFolder(): { readonly path?: string; readonly why?: string } {
  if (process.platform !== 'linux' || !existsSync(path)) return { why: `there is no ${path}` }
  const { bavail, bsize } = statfsSync(path)
  const bytes = Math.min(bavail * bsize, process.availableMemory())
  if (bytes < bytesMin) return { why: `${path} has room for ${Math.floor(bytes / 1_024 ** 2)} MiB` }
  return { path }
}
