// Writes rows to files for DuckDB. It reads 2,048 rows of a file at once, so if these would take
// too much memory, the rows are spread over several files.

import { closeSync } from 'node:fs'
import { join } from 'node:path'
import { createTemporaryFile, writeTemporary } from '../temporary-folder.ts'

/** The number of rows that DuckDB reads at once. */
export const vectorRows = 2_048

/** Rows are wide if 2,048 of them take more bytes; a row of other files is never longer. */
export const wideBytes = 8 << 20

/** The files that have been written. */
export interface Pieces {
  readonly paths: readonly string[]
  /** Whether 2,048 rows, which DuckDB reads at once, may take too much memory. */
  readonly isWide: boolean
  readonly bytes: number
}

/** Makes files in a folder, as many as are needed. */
export function createPieces(folder: string) {
  const paths: string[] = []
  const written = { bytes: 0, isWide: false }
  let file: number | undefined
  /** What has been written since the last full 2,048 rows, or since the piece began. */
  let window = { rows: 0, bytes: 0 }

  function begin(): number {
    const path = join(folder, `${crypto.randomUUID()}.csv`)
    paths.push(path)
    return createTemporaryFile(path)
  }

  function close(): void {
    if (file === undefined) return
    closeSync(file)
    file = undefined
    window = { rows: 0, bytes: 0 }
  }

  return {
    add(bytes: Buffer, rows: number): void {
      file ??= begin()
      writeTemporary(file, bytes)
      written.bytes += bytes.length
      window.rows += rows
      window.bytes += bytes.length
      if (window.bytes > wideBytes) {
        written.isWide = true
        close()
      } else if (window.rows >= vectorRows) window = { rows: 0, bytes: 0 }
    },
    /** Ends the last file; makes one if there is none. */
    end(): Pieces {
      if (paths.length === 0) file = begin()
      close()
      return { paths, ...written }
    },
    [Symbol.dispose]: close,
  }
}
