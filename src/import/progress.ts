// The progress of an import, as its operator sees it.

import type { ImportRequest } from './import-files.ts'

export interface Progress {
  /** `reading`, then the parts of the merge. */
  readonly step: string
  /** Rows so far. */
  readonly count: number
  /** The share of the import that is done, from 0 to 1; NaN while a size is unknown. */
  readonly done: number
}

/** The share of an import's time that reading takes, as in a first load of records. */
const readingShare = 0.45

/** Combines what is read with the parts of the merge. */
export function watchProgress({ files, onProgress }: Pick<ImportRequest, 'files' | 'onProgress'>) {
  const totalBytes = files.reduce((sum, { size }) => sum + (size ?? NaN), 0)
  let bytes = 0
  let count = 0
  return {
    onBytes: (read: number) => void (bytes += read),
    onRows: (rows: number) => {
      count = rows
      // A file may grow, and some file systems say that each has no bytes.
      const read = Math.min(bytes / totalBytes, 1)
      onProgress({ step: 'reading', count, done: readingShare * read })
    },
    onStep: (step: string, done: number) =>
      onProgress({ step, count, done: readingShare + (1 - readingShare) * done }),
  }
}
