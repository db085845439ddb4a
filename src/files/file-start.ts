// The first bytes of a file, which show what it is.

import { closeSync, openSync, readSync } from 'node:fs'

/** The first bytes of a file; zeros beyond its end. */
export function readStart(path: string, bytes: number): Buffer {
  const start = Buffer.alloc(bytes)
  const file = openSync(path, 'r')
  try {
    readSync(file, start, 0, bytes, 0)
    return start
  } finally {
    closeSync(file)
  }
}
